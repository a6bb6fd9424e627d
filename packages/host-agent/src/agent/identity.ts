import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type Clock,
  isReason,
  type KubeObject,
  type Random,
  randomSuffix,
  sleep,
  type Transport,
} from "@capstan/apimachinery";
import { writeFileAtomic } from "@capstan/os";
import { buildKubeconfig, createCertificateRequest, parseCertificate } from "@capstan/pki";
import { Client, fixedCredentials, httpTransport, kindRef } from "@capstan/runtime";
import { HOST_GROUP, hostUser } from "../protocol.ts";

interface CertificateSigningRequest extends KubeObject {
  spec: { request: string; signerName: string; usages: string[]; expirationSeconds?: number };
  status?: { certificate?: string; conditions?: { type: string; reason?: string; message?: string }[] };
}

const CertificateSigningRequest = kindRef<CertificateSigningRequest>({
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
});

/** The identity of an agent, and the management API that it talks to. */
export interface Enrolment {
  server: string;
  caPem: string;
  namespace: string;
  name: string;
  /** ID of the token it enrolled with; a different one means that the host must enrol again. */
  tokenID?: string;
}

const LIFE_SECONDS = 90 * 24 * 3600;
const POLL_MS = 500;
const GIVE_UP_MS = 5 * 60_000;

/** Client certificate and private key of an agent, in PEM. */
export interface Credentials {
  certPem: string;
  keyPem: string;
}

/** Reads the credentials stored on this host, if there are any. */
export function loadCredentials(stateDir: string): Promise<(Enrolment & Credentials) | undefined> {
  return readJson(join(stateDir, "identity.json"));
}

/** Returns whether to renew a certificate: a third of its lifetime is left, or it does not carry the ID of this enrolment. */
export function renewalDue(enrolment: Enrolment, certPem: string, nowMs: number): boolean {
  const { notBeforeMs, notAfterMs, subject } = parseCertificate(certPem);
  return nowMs >= notAfterMs - (notAfterMs - notBeforeMs) / 3 || subject.commonName !== userOf(enrolment);
}

function userOf({ namespace, name, tokenID }: Enrolment): string {
  return hostUser(namespace, name, tokenID);
}

/** Returns when a certificate expired; undefined while it is valid. */
export function expiredAt(certPem: string, nowMs: number): Date | undefined {
  const { notAfterMs } = parseCertificate(certPem);
  return nowMs >= notAfterMs ? new Date(notAfterMs) : undefined;
}

/** Requests a client certificate for this host, authenticated by an enrolment token or by the certificate to renew. */
export async function requestCertificate(
  enrolment: Enrolment,
  proof: { token: string } | Credentials,
  deps: { clock: Clock; random: Random; stateDir: string; transport?: Transport | undefined },
): Promise<Credentials> {
  const credentials = fixedCredentials(proof);
  const transport =
    deps.transport ??
    httpTransport({ server: enrolment.server, tls: { caPem: enrolment.caPem }, credentials }, { clock: deps.clock });
  try {
    const client = new Client(transport, { fieldManager: "capstan-host-agent", clock: deps.clock });
    const { name, csrPem, keyPem } = await pendingRequest(enrolment, deps);
    const request = {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name },
      spec: {
        request: Buffer.from(csrPem).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
        expirationSeconds: LIFE_SECONDS,
      },
    } as CertificateSigningRequest;
    await client.create(request).catch((error: unknown) => {
      // Requested by this host before it was interrupted.
      if (!isReason(error, "AlreadyExists")) throw explained(error, enrolment.name, deps.clock);
    });
    const certPem = await untilIssued(client, name, deps.clock).catch(async (error: unknown) => {
      if (error instanceof Refused) await rm(pendingFile(deps.stateDir), { force: true });
      throw error;
    });
    await save(deps.stateDir, { ...enrolment, certPem, keyPem });
    await rm(pendingFile(deps.stateDir), { force: true });
    return { certPem, keyPem };
  } finally {
    if (transport !== deps.transport) await transport.close();
  }
}

/** A pending certificate request: a token is valid for one request, so an interrupted one must be found again. */
interface PendingRequest {
  server: string;
  tokenID: string;
  user?: string;
  name: string;
  csrPem: string;
  keyPem: string;
}

/** Thrown when a certificate request was denied or failed. */
export class Refused extends Error {
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

const pendingFile = (stateDir: string): string => join(stateDir, "request.json");

/** The request that was begun with this token, or a new one. It is kept on the host before the API hears of it. */
async function pendingRequest(
  enrolment: Enrolment,
  { random, stateDir }: { random: Random; stateDir: string },
): Promise<PendingRequest> {
  const { server, tokenID = "", namespace } = enrolment;
  const user = userOf(enrolment);
  const begun = await readJson<PendingRequest>(pendingFile(stateDir));
  if (begun?.server === server && begun.tokenID === tokenID && begun.user === user) return begun;
  const { csrPem, keyPem } = await createCertificateRequest({ commonName: user, organizations: [HOST_GROUP] });
  const name = `byoh-${namespace}-${enrolment.name}-${randomSuffix(random)}`;
  const request = { server, tokenID, user, name, csrPem, keyPem };
  await writeSecretFile(pendingFile(stateDir), JSON.stringify(request));
  return request;
}

/** Explains why the certificate request failed, and what to do. */
function explained(error: unknown, name: string, clock: Clock): Error {
  const said = error instanceof Error ? error.message : String(error);
  if (isReason(error, "Unauthorized", "Forbidden"))
    return new Error(
      `the management API does not accept the token or certificate (${said}): it was already used, has expired or belongs to another host; get a new command with: capstan host add ${name}`,
    );
  if (/certificate (has expired|is not yet valid)|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/i.test(said))
    return new Error(
      `${said}: this host's clock shows ${new Date(clock.now()).toISOString()}; correct it and run the command again`,
    );
  if (/self.signed|unable to (verify|get)/i.test(said))
    return new Error(
      `${said}: it is not the API that the command was created for, or its CA changed; get a new command with: capstan host add ${name}`,
    );
  return new Error(`${said}: check that this host can reach the management API, then run the command again`);
}

/** An agent may read its own request and nothing else of the kind, so it polls instead of watching. */
async function untilIssued(client: Client, name: string, clock: Clock): Promise<string> {
  const until = clock.monotonic() + GIVE_UP_MS;
  while (clock.monotonic() < until) {
    const request = await client.get(CertificateSigningRequest, { name }).catch((error: unknown) => {
      if (isReason(error, "Forbidden", "Unauthorized")) throw error;
      return undefined;
    });
    const refused = request?.status?.conditions?.find(
      (condition) => condition.type === "Denied" || condition.type === "Failed",
    );
    if (refused !== undefined)
      throw new Refused(`the certificate was refused: ${refused.message ?? refused.type}`, refused.reason ?? "");
    const certificate = request?.status?.certificate;
    if (certificate !== undefined && certificate !== "") return Buffer.from(certificate, "base64").toString("utf8");
    await sleep(clock, POLL_MS);
  }
  throw new Error(
    `certificate request ${name} was not approved within ${GIVE_UP_MS / 60_000} minutes: is the manager running?`,
  );
}

async function save(stateDir: string, identity: Enrolment & Credentials): Promise<void> {
  await writeSecretFile(join(stateDir, "identity.json"), JSON.stringify(identity));
  // For people who want to look with kubectl from the host.
  const kubeconfig = buildKubeconfig({
    server: identity.server,
    caPem: identity.caPem,
    clusterName: "capstan",
    userName: "host",
    clientCertPem: identity.certPem,
    clientKeyPem: identity.keyPem,
  });
  await writeFileAtomic(join(stateDir, "kubeconfig"), kubeconfig);
}

async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch {
    return undefined;
  }
}

/** Writes the file atomically, even if the power fails. */
async function writeSecretFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, text);
}
