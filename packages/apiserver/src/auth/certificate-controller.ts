import { type Clock, type Random, type Unstructured } from "@capstan/apimachinery";
import { type CertificateAndKey, PkiError, parseCertificateRequest, signCertificateRequest } from "@capstan/pki";
import { at, child, list, num, text } from "../builtin/read.ts";
import type { Authorizer, InternalApi } from "../types.ts";
import {
  AUTO_APPROVALS,
  approvalQuestion,
  certificateUsages,
  hasCondition,
  requestCondition,
  requesterOf,
  Signer,
  signerProblem,
} from "./certificate-requests.ts";
import { Resources } from "./resources.ts";

/** What approving and signing needs. */
export interface CertificateControllerDependencies {
  authorizer: Authorizer;
  /** The cluster CA, or undefined while this server has none: requests then wait. */
  ca(): CertificateAndKey | undefined;
  clock: Clock;
  random: Random;
  log(message: string, error: unknown): void;
  /** Longest life of a certificate; default one year (kcm's --cluster-signing-duration). */
  maxLifeMs?: number;
}

const MANAGER = "certificate-controller";
const YEAR_MS = 8760 * 3_600_000;
const SIGNERS: readonly string[] = Object.values(Signer);

/** Approves kubelets' client requests and signs approved ones, as kube-controller-manager's csrapproving and csrsigning do. */
export function startCertificateController(
  api: InternalApi,
  deps: CertificateControllerDependencies,
): { stop(): void; idle(): boolean } {
  const working = new Map<string, Promise<void>>();
  const handle = async (name: string): Promise<void> => {
    try {
      const csr = api.get(Resources.certificateSigningRequests, "", name);
      if (csr === undefined || isFinished(csr)) return;
      if (hasCondition(csr, "Approved")) await sign(api, deps, csr);
      else await approve(api, deps, csr);
    } catch (error) {
      deps.log(`certificate signing request ${name}`, error);
    }
  };
  const stop = api.watch(Resources.certificateSigningRequests, ({ name, object }) => {
    if (object === undefined || isFinished(object)) return;
    const next = (working.get(name) ?? Promise.resolve()).then(() => handle(name));
    working.set(name, next);
    void next.finally(() => {
      if (working.get(name) === next) working.delete(name);
    });
  });
  return { stop, idle: () => working.size === 0 };
}

function isFinished(csr: Unstructured): boolean {
  return (
    text(at(csr, "status", "certificate")) !== "" ||
    hasCondition(csr, "Denied") ||
    hasCondition(csr, "Failed") ||
    !SIGNERS.includes(text(at(csr, "spec", "signerName")))
  );
}

const requestPem = (csr: Unstructured): string =>
  Buffer.from(text(at(csr, "spec", "request")), "base64").toString("latin1");

async function approve(api: InternalApi, deps: CertificateControllerDependencies, csr: Unstructured): Promise<void> {
  if (text(at(csr, "spec", "signerName")) !== Signer.kubeletClient) return;
  const request = await parseCertificateRequest(requestPem(csr));
  if (signerProblem(csr, request) !== undefined) return;
  const approval = AUTO_APPROVALS.find(
    ({ applies, permission }) =>
      applies(csr, request) && deps.authorizer.authorize(approvalQuestion(requesterOf(csr), permission)).allowed,
  );
  if (approval === undefined) return;
  await addCondition(
    api,
    csr,
    "approval",
    requestCondition("Approved", "AutoApproved", approval.message, deps.clock.now()),
  );
}

async function sign(api: InternalApi, deps: CertificateControllerDependencies, csr: Unstructured): Promise<void> {
  const ca = deps.ca();
  if (ca === undefined) return;
  const pem = requestPem(csr);
  const problem = await refusal(csr, pem);
  if (problem !== undefined) {
    const failed = requestCondition("Failed", "SignerValidationFailure", problem, deps.clock.now());
    await addCondition(api, csr, "status", failed);
    return;
  }
  const maxMs = deps.maxLifeMs ?? YEAR_MS;
  const askedMs = num(at(csr, "spec", "expirationSeconds")) * 1000;
  const certificate = await signCertificateRequest(ca, pem, {
    ...certificateUsages(csr),
    nowMs: deps.clock.now(),
    validMs: askedMs === 0 ? maxMs : Math.min(askedMs, maxMs),
    random: deps.random,
  });
  const { certificateSigningRequests } = Resources;
  const name = csr.metadata.name ?? "";
  await api.update(
    certificateSigningRequests,
    "",
    name,
    MANAGER,
    (current) => {
      if (current.metadata.uid !== csr.metadata.uid || isFinished(current)) return false;
      child(current, "status")["certificate"] = Buffer.from(certificate, "latin1").toString("base64");
    },
    "status",
  );
}

async function refusal(csr: Unstructured, pem: string): Promise<string | undefined> {
  try {
    return signerProblem(csr, await parseCertificateRequest(pem));
  } catch (error) {
    if (error instanceof PkiError) return error.message;
    throw error;
  }
}

async function addCondition(
  api: InternalApi,
  csr: Unstructured,
  subresource: string,
  condition: object,
): Promise<void> {
  await api.update(
    Resources.certificateSigningRequests,
    "",
    csr.metadata.name ?? "",
    MANAGER,
    (current) => {
      if (current.metadata.uid !== csr.metadata.uid || isFinished(current)) return false;
      const status = child(current, "status");
      status["conditions"] = [...list(status["conditions"]), condition];
    },
    subresource,
  );
}
