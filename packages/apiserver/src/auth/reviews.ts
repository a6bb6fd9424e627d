import {
  badRequest,
  type Clock,
  type FieldError,
  formatTime,
  invalid,
  invalidValue,
  isObject,
  type Unstructured,
  type UserInfo,
} from "@capstan/apimachinery";
import { NAME } from "../builtin/columns.ts";
import { defineBuiltin } from "../builtin/define.ts";
import { at, list, obj, stringMap, text, texts } from "../builtin/read.ts";
import type { Authorizer, RequestAttributes, ResourceType, Strategy } from "../types.ts";
import type { ServerAuthenticator } from "./authenticator.ts";
import { TokenError } from "./service-account-tokens.ts";

/** What reviews ask; getters, because the server is made after its types. */
export interface ReviewDependencies {
  authorizer(): Authorizer;
  authenticator(): Pick<ServerAuthenticator, "authenticateToken" | "audiences">;
  clock: Clock;
}

const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";
type CreateOnly = NonNullable<Strategy["createOnly"]>;

/** The create-only kinds of authorization.k8s.io and authentication.k8s.io. */
export function reviewTypes(deps: ReviewDependencies): ResourceType[] {
  const define = (group: string, kind: string, namespaced: boolean, createOnly: CreateOnly): ResourceType =>
    defineBuiltin({
      group,
      kind,
      namespaced,
      verbs: ["create"],
      columns: [NAME],
      strategy: { createOnly },
    });
  const decide = (request: RequestAttributes): object => {
    const { allowed, reason } = deps.authorizer().authorize(request);
    return { allowed, ...(reason === "" ? {} : { reason }) };
  };
  return [
    define(AUTHORIZATION, "LocalSubjectAccessReview", true, async (object, { namespace }) => {
      const errors = [...specErrors(object), ...subjectErrors(object), ...localErrors(object, namespace)];
      refuse(errors);
      const metadata = { ...object.metadata, namespace };
      return { ...object, metadata, status: decide(attributesOf(object, subjectOf(object))) };
    }),
    define(AUTHORIZATION, "SelfSubjectAccessReview", false, async (object, { user }) => {
      refuse([...specErrors(object), ...metadataErrors(object)]);
      return { ...object, status: decide(attributesOf(object, user)) };
    }),
    define(AUTHORIZATION, "SelfSubjectRulesReview", false, async (object, { user }) => {
      const namespace = text(at(object, "spec", "namespace"));
      if (namespace === "") throw badRequest("no namespace on request");
      const { resourceRules, nonResourceRules } = deps.authorizer().rulesFor(user, namespace);
      // The real server answers with an empty spec and metadata.
      const { apiVersion, kind } = object;
      return {
        apiVersion,
        kind,
        metadata: {},
        spec: {},
        status: { resourceRules, nonResourceRules, incomplete: false },
      };
    }),
    define(AUTHORIZATION, "SubjectAccessReview", false, async (object) => {
      refuse([...specErrors(object), ...subjectErrors(object), ...metadataErrors(object)]);
      return { ...object, status: decide(attributesOf(object, subjectOf(object))) };
    }),
    define(AUTHENTICATION, "SelfSubjectReview", false, async (object, { user }) => ({
      ...object,
      metadata: { ...object.metadata, creationTimestamp: formatTime(deps.clock.now()) },
      status: { userInfo: userInfo(user) },
    })),
    define(AUTHENTICATION, "TokenReview", false, async (object) => ({
      ...object,
      status: await tokenStatus(deps.authenticator(), object),
    })),
  ];
}

async function tokenStatus(
  authenticator: Pick<ServerAuthenticator, "authenticateToken" | "audiences">,
  object: Unstructured,
): Promise<object> {
  const token = text(at(object, "spec", "token"));
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const wanted = texts(at(object, "spec", "audiences"));
  try {
    const { user, audiences } = await authenticator.authenticateToken(
      token,
      wanted.length === 0 ? authenticator.audiences : wanted,
    );
    return { authenticated: true, user: userInfo(user), ...(audiences.length === 0 ? {} : { audiences }) };
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return { user: {}, error: error.message };
  }
}

function userInfo(user: UserInfo): object {
  return {
    username: user.name,
    ...(user.uid === undefined || user.uid === "" ? {} : { uid: user.uid }),
    ...(user.groups.length === 0 ? {} : { groups: user.groups }),
    extra: user.extra,
  };
}

function subjectOf(object: Unstructured): UserInfo {
  const spec = obj(object["spec"]);
  const extra = Object.fromEntries(
    Object.entries(obj(spec["extra"])).map(([key, values]) => [key, [...texts(values)]]),
  );
  return { name: text(spec["user"]), uid: text(spec["uid"]), groups: [...texts(spec["groups"])], extra };
}

function attributesOf(object: Unstructured, user: UserInfo): RequestAttributes {
  const resource = at(object, "spec", "resourceAttributes");
  const isResource = isObject(resource);
  const from = isResource ? resource : obj(at(object, "spec", "nonResourceAttributes"));
  const field = (name: string): string => text(from[name]);
  return {
    user,
    verb: field("verb"),
    isResource,
    path: isResource ? "" : field("path"),
    group: field("group"),
    version: field("version") || (isResource ? "*" : ""),
    resource: field("resource"),
    subresource: field("subresource"),
    namespace: field("namespace"),
    name: field("name"),
  };
}

function specErrors(object: Unstructured): FieldError[] {
  const resource = at(object, "spec", "resourceAttributes");
  const path = at(object, "spec", "nonResourceAttributes");
  if (isObject(resource) === isObject(path))
    return [
      invalidValue(
        "spec",
        isObject(path) ? shown(path) : null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ];
  return [];
}

// The real server prints its internal Go struct here.
const shown = (path: object): object => ({ Path: text(at(path, "path")), Verb: text(at(path, "verb")) });

function subjectErrors(object: Unstructured): FieldError[] {
  const user = text(at(object, "spec", "user"));
  if (user !== "" || list(at(object, "spec", "groups")).length > 0) return [];
  return [invalidValue("spec.user", user, "at least one of user or group must be specified")];
}

/** Reviews are not stored: metadata other than what the server itself writes is refused. */
function metadataErrors(object: Unstructured): FieldError[] {
  const given = Object.entries(object.metadata).filter(([key, value]) => key !== "managedFields" && value !== null);
  if (given.length === 0) return [];
  return [invalidValue("metadata", object.metadata, "must be empty")];
}

function localErrors(object: Unstructured, namespace: string): FieldError[] {
  const path = at(object, "spec", "nonResourceAttributes");
  if (isObject(path))
    return [invalidValue("spec.nonResourceAttributes", shown(path), "disallowed on this kind of request")];
  const asked = stringMap(at(object, "spec", "resourceAttributes"))["namespace"] ?? "";
  if (asked === namespace) return [];
  return [invalidValue("spec.resourceAttributes.namespace", asked, "must match metadata.namespace")];
}

/** The real server names no kind in these errors. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: AUTHORIZATION, kind: "" }, "", errors);
}
