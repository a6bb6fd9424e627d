import { formatTime, type KubeObject } from "@capstan/apimachinery";
import { Secret } from "@capstan/capi";
import { ByoHost, ENROL_HOST_ANNOTATION, HOST_GROUP, hostUser, parseHostUser } from "@capstan/host-agent";
import { type ParsedCertificateRequest, parseCertificateRequest } from "@capstan/pki";
import { type Controller, controller, done, kindRef, type ReconcileContext } from "@capstan/runtime";

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

/** On a token's Secret: the certificate request it was spent on. */
export const USED_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/spent-on";
/** How long a spent token can still read the certificate it was spent on: a host may have to boot in between. */
const FETCH_MS = 10 * 60_000;
const TOKEN_USER = /^system:bootstrap:([a-z0-9]{6})$/;

/** Approves certificates of agents, strictly: a token is good for one host once, a certificate only for its own renewal. */
export function hostCertificateController(): Controller {
  return controller("byo-host-certificates")
    .for(CertificateSigningRequest)
    .reconcile(async (request, context) => {
      const object = context.cache.get(CertificateSigningRequest, { name: request.name });
      if (object === undefined || (object.status?.conditions ?? []).length > 0) return done();
      const parsed = await parseCertificateRequest(Buffer.from(object.spec.request, "base64").toString("utf8")).catch(
        () => undefined,
      );
      const host = parsed === undefined ? undefined : parseHostUser(parsed.commonName);
      if (parsed === undefined || host === undefined) return done();
      const problem = shapeProblem(object, parsed) ?? (await requesterProblem(object, host, context));
      await decide(object, problem, context);
      const target = context.cache.get(ByoHost, host);
      if (problem !== undefined && target !== undefined)
        context.recorder.event(
          target,
          "Warning",
          "HostRefused",
          "Approve",
          `${object.spec.username ?? "somebody"} asked for this host's certificate and was refused: ${problem}`,
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

/** Who asks must hold the token made for this host, or already be this host. */
async function requesterProblem(
  object: CertificateSigningRequest,
  host: { namespace: string; name: string },
  context: ReconcileContext,
): Promise<string | undefined> {
  const username = object.spec.username ?? "";
  const known = await context.client.get(ByoHost, host, context.signal);
  if (known === undefined) return `there is no ByoHost ${host.namespace}/${host.name}: add it with capstan host add`;
  if (username === hostUser(host.namespace, host.name)) return undefined;
  const id = TOKEN_USER.exec(username)?.[1];
  if (id === undefined) return `${username} may not ask for a certificate of host ${host.namespace}/${host.name}`;
  const secret = await context.client.get(
    Secret,
    { namespace: "kube-system", name: `bootstrap-token-${id}` },
    context.signal,
  );
  if (secret === undefined) return "the token has been used already: make a new one with capstan host add";
  if (secret.metadata.annotations?.[ENROL_HOST_ANNOTATION] !== `${host.namespace}/${host.name}`)
    return "the token was made for another host";
  const used = secret.metadata.annotations?.[USED_ANNOTATION];
  if (used !== undefined && used !== object.metadata.name)
    return "the token has been used already: make a new one with capstan host add";
  // Used up before the certificate is given: a copy of the line is worth nothing from now on. It lives just long enough to fetch it.
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

async function decide(
  object: CertificateSigningRequest,
  problem: string | undefined,
  context: ReconcileContext,
): Promise<void> {
  const condition =
    problem === undefined
      ? { type: "Approved", status: "True", reason: "HostEnrolled", message: "the host proved who it is" }
      : { type: "Denied", status: "True", reason: "HostRefused", message: problem };
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
