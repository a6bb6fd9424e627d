import { formatTime, type KubeObject } from "@capstan/apimachinery";
import { Secret } from "@capstan/capi";
import {
  agentUser,
  ByoHost,
  ENROL_HOST_ANNOTATION,
  ENROL_UID_ANNOTATION,
  GIVEN_UP_REASON,
  HOST_GROUP,
  parseHostUser,
} from "@capstan/host-agent";
import { type ParsedCertificateRequest, parseCertificateRequest } from "@capstan/pki";
import { type Controller, controller, done, kindRef, type ReconcileContext } from "@capstan/runtime";
import { wasAbandoned } from "../host/abandoned-hosts.ts";
import type { Hosts } from "../machine/hosts.ts";

interface CertificateSigningRequest extends KubeObject {
  spec: { request: string; signerName: string; usages: string[]; username?: string };
  status?: { certificate?: string; conditions?: { type: string }[] };
}

const CertificateSigningRequest = kindRef<CertificateSigningRequest>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
});

/** Annotation on the Secret of an enrolment token: the CertificateSigningRequest that the token was used for. */
export const USED_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/spent-on";
/** How long a spent token can still read the certificate it was spent on: a host may have to boot in between. */
const FETCH_MS = 10 * 60_000;
const TOKEN_USER = /^system:bootstrap:([a-z0-9]{6})$/;

/**
 * Approves or denies client certificates of agents: a token is valid once and for one host, a certificate only for its own renewal, and
 * both only while the ByoHost is the one that they were issued for.
 */
export function hostCertificateController(hosts: Hosts): Controller {
  return controller("byo-host-certificates")
    .for(CertificateSigningRequest)
    .reconcile(async (request, context) => {
      const object = context.cache.get(CertificateSigningRequest, { name: request.name });
      if (object === undefined || (object.status?.conditions ?? []).length > 0) return done();
      const parsed = await parseCertificateRequest(Buffer.from(object.spec.request, "base64").toString("utf8")).catch(
        () => undefined,
      );
      const asked = parsed === undefined ? undefined : parseHostUser(parsed.commonName);
      if (parsed === undefined || asked === undefined) return done();
      const key = { namespace: asked.namespace, name: asked.name };
      const target = await context.client.get(ByoHost, key, context.signal);
      const problem =
        shapeProblem(object, parsed) ??
        (await requesterProblem(object, { ...asked, commonName: parsed.commonName }, target, context));
      // Before the certificate is given, so that it is good when it arrives.
      if (problem === undefined && target !== undefined && asked.enrolment !== undefined)
        await hosts.enrol(target, asked.enrolment, context.signal);
      await decide(object, problem, await mustClean(object, problem, context), context);
      if (problem !== undefined && target !== undefined)
        context.recorder.event(
          target,
          "Warning",
          "HostRefused",
          "Approve",
          `${object.spec.username ?? "an unknown user"} requested this host's certificate and was refused: ${problem}`,
        );
      return done();
    });
}

function shapeProblem(object: CertificateSigningRequest, parsed: ParsedCertificateRequest): string | undefined {
  if (object.spec.signerName !== "kubernetes.io/kube-apiserver-client")
    return "the signer must be kubernetes.io/kube-apiserver-client";
  if (object.spec.usages.join() !== "client auth") return "the only usage must be client auth";
  if (parsed.organizations.join() !== HOST_GROUP) return `the only organization must be ${HOST_GROUP}`;
  return parsed.dnsNames.length + parsed.ipAddresses.length + parsed.otherNames > 0
    ? "there must be no alternative names"
    : undefined;
}

/**
 * The requester must hold the token for this host, or already be this host. Whether the host exists is checked last: other users must not
 * learn which hosts a namespace has.
 */
async function requesterProblem(
  object: CertificateSigningRequest,
  asked: { namespace: string; name: string; enrolment?: string; commonName: string },
  host: ByoHost | undefined,
  context: ReconcileContext,
): Promise<string | undefined> {
  const username = object.spec.username ?? "";
  const { namespace, name, enrolment, commonName } = asked;
  const missing = `there is no ByoHost ${namespace}/${name}: add it with capstan host add`;
  const holder = parseHostUser(username);
  if (holder?.namespace === namespace && holder?.name === name) {
    if (host === undefined) return missing;
    if (username !== agentUser(host))
      return `${username} belongs to an earlier enrolment: run the command that capstan host add ${name} prints on the host`;
    // An agent of before enrolments had numbers takes one.
    return username === commonName || holder?.enrolment === undefined
      ? undefined
      : `${username} may not request a certificate for ${commonName}`;
  }
  const id = TOKEN_USER.exec(username)?.[1];
  if (id === undefined) return `${username} may not request a certificate of host ${namespace}/${name}`;
  if (enrolment !== id)
    return "the request must contain the id of the agent's token: copy the current agent to the host";
  const secret = await context.client.get(
    Secret,
    { namespace: "kube-system", name: `bootstrap-token-${id}` },
    context.signal,
  );
  if (secret === undefined) return "the token was already used: create a new one with capstan host add";
  if (secret.metadata.annotations?.[ENROL_HOST_ANNOTATION] !== `${namespace}/${name}`)
    return "the token was created for another host";
  if (host === undefined) return missing;
  const { uid } = host.metadata;
  if ((secret.metadata.annotations?.[ENROL_UID_ANNOTATION] ?? uid) !== uid)
    return "the token was created for an earlier host of that name: create a new one with capstan host add";
  const used = secret.metadata.annotations?.[USED_ANNOTATION];
  if (used !== undefined && used !== object.metadata.name)
    return "the token was already used: create a new one with capstan host add";
  // The token is spent before the certificate is issued, so a copy of it is useless. It lives just long enough to fetch the certificate.
  const expiration = Buffer.from(formatTime(context.clock.now() + FETCH_MS)).toString("base64");
  await context.client.patch(secret, {
    metadata: {
      annotations: { [USED_ANNOTATION]: object.metadata.name },
      resourceVersion: secret.metadata.resourceVersion,
    },
    data: { expiration },
  });
  return undefined;
}

/** Whether the refused requester is the agent of a host that was removed with a node on it. */
async function mustClean(
  object: CertificateSigningRequest,
  problem: string | undefined,
  context: ReconcileContext,
): Promise<boolean> {
  const user = problem === undefined ? undefined : parseHostUser(object.spec.username ?? "");
  if (user?.enrolment === undefined) return false;
  return await wasAbandoned({ ...user, enrolment: user.enrolment }, context);
}

async function decide(
  object: CertificateSigningRequest,
  problem: string | undefined,
  isAbandoned: boolean,
  context: ReconcileContext,
): Promise<void> {
  const condition =
    problem === undefined
      ? { type: "Approved", status: "True", reason: "HostEnrolled", message: "the host proved its identity" }
      : { type: "Denied", status: "True", reason: isAbandoned ? GIVEN_UP_REASON : "HostRefused", message: problem };
  await context.client.request({
    method: "PUT",
    path: `/apis/certificates.k8s.io/v1/certificatesigningrequests/${object.metadata.name}/approval`,
    headers: { "content-type": "application/json" },
    body: {
      ...object,
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      status: { ...object.status, conditions: [condition] },
    },
  });
}
