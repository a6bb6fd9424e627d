import { type Clock, formatMicroTime, isObject, type Random, randomUuid, type UserInfo } from "@capstan/apimachinery";
import { impersonatorOf } from "../auth/impersonation.ts";
import { at, text } from "../builtin/read.ts";
import type { ApiCall } from "../server/api-call.ts";
import type { RequestObserver } from "../server/pipeline.ts";
import type { Reply } from "../server/reply.ts";
import type { AdmissionPlugin, RequestAttributes } from "../types.ts";
import { type AuditPolicy, auditLevel, DEFAULT_AUDIT_POLICY } from "./audit-policy.ts";
import { isSecretRequest, redact } from "./redact.ts";

/** Takes one line of JSON, without its line end. */
export type AuditSink = (line: string) => void;

/** Records requests as audit.k8s.io/v1 events. */
export interface Audit {
  readonly observer: RequestObserver;
  /** Must be the first admission step: hands over the objects that policy wants recorded. */
  readonly plugin: AdmissionPlugin;
}

/** An audit log in kube-apiserver's format, one JSON object per line. Contents of Secrets, tokens and kubeconfigs never appear. */
export function createAudit(sink: AuditSink, deps: { clock: Clock; random: Random; policy?: AuditPolicy }): Audit {
  const policy = deps.policy ?? DEFAULT_AUDIT_POLICY;
  const wantsObjects = policy.rules.some((rule) => rule.level === "Request");
  /** Objects on their way, by the attributes of their request. */
  const objects = new WeakMap<RequestAttributes, object>();
  return {
    observer: {
      begin(call, attributes) {
        const level = auditLevel(policy, attributes);
        if (level === "None") return () => {};
        const received = deps.clock.now();
        return (reply) => {
          const event = {
            kind: "Event",
            apiVersion: "audit.k8s.io/v1",
            level,
            auditID: call.auditId ?? randomUuid(deps.random),
            stage: reply.body.type === "watch" ? "ResponseStarted" : "ResponseComplete",
            requestURI: requestUri(call),
            verb: attributes.verb,
            ...users(attributes.user),
            sourceIPs: call.sourceAddress === undefined ? [] : [call.sourceAddress],
            userAgent: call.headers["user-agent"] ?? "",
            ...(attributes.isResource ? { objectRef: objectRef(attributes, reply) } : {}),
            responseStatus: responseStatus(reply),
            ...(objects.has(attributes) ? { requestObject: objects.get(attributes) } : {}),
            requestReceivedTimestamp: formatMicroTime(received),
            stageTimestamp: formatMicroTime(deps.clock.now()),
          };
          sink(JSON.stringify(event));
        };
      },
    },
    plugin: {
      name: "Audit",
      handles: (_type, operation) => wantsObjects && operation !== "DELETE",
      mutate({ attributes, object }) {
        if (object === undefined || isSecretRequest(attributes)) return;
        if (auditLevel(policy, attributes) === "Request") objects.set(attributes, redact(object, attributes));
      },
    },
  };
}

function requestUri(call: ApiCall): string {
  const query = call.query.toString();
  return query === "" ? call.path : `${call.path}?${query}`;
}

/** The authenticated user, and the impersonated one if there is one. */
function users(user: UserInfo): object {
  const impersonator = impersonatorOf(user);
  return impersonator === undefined
    ? { user: shown(user) }
    : { user: shown(impersonator), impersonatedUser: shown(user) };
}

function shown(user: UserInfo): object {
  return {
    username: user.name,
    ...(user.uid === undefined || user.uid === "" ? {} : { uid: user.uid }),
    groups: user.groups,
    extra: user.extra,
  };
}

function objectRef(attributes: RequestAttributes, reply: Reply): object {
  const { resource, namespace, group, version, subresource } = attributes;
  const created = attributes.verb === "create" && reply.status === 201 && reply.body.type === "object";
  // The name of a new object is in the response only.
  const name = attributes.name || (created ? text(at(reply.body.object, "metadata", "name")) : "");
  return {
    resource,
    ...(namespace === "" ? {} : { namespace }),
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { apiGroup: group }),
    apiVersion: version,
    ...(subresource === "" ? {} : { subresource }),
  };
}

function responseStatus({ status, body }: Reply): object {
  const failure = status >= 400 && body.type === "object" && isObject(body.object) ? body.object : undefined;
  return failure === undefined
    ? { metadata: {}, code: status }
    : { metadata: {}, status: "Failure", message: failure["message"], reason: failure["reason"], code: status };
}
