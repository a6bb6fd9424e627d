import { type Condition, formatTime, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import type { KeyUsageName, ParsedCertificateRequest, Usage } from "@capstan/pki";
import { at, list, obj, text, texts } from "../builtin/read.ts";
import type { RequestAttributes } from "../types.ts";

/** Signers that kube-controller-manager serves, by the short names of their signerName. */
export const Signer = {
  client: "kubernetes.io/kube-apiserver-client",
  kubeletClient: "kubernetes.io/kube-apiserver-client-kubelet",
  kubeletServing: "kubernetes.io/kubelet-serving",
} as const;

/** Who made a CertificateSigningRequest. */
export function requesterOf(csr: Unstructured): UserInfo {
  const spec = obj(csr["spec"]);
  const extra = Object.entries(obj(spec["extra"])).map(([key, values]): [string, string[]] => [
    key,
    [...texts(values)],
  ]);
  return {
    name: text(spec["username"]),
    uid: text(spec["uid"]),
    groups: [...texts(spec["groups"])],
    extra: Object.fromEntries(extra),
  };
}

/** Whether the request has a condition of this type. */
export function hasCondition(csr: Unstructured, type: string): boolean {
  return list(at(csr, "status", "conditions")).some((condition) => at(condition, "type") === type);
}

/** A condition of a CertificateSigningRequest. */
export function requestCondition(
  type: string,
  reason: string,
  message: string,
  nowMs: number,
): Condition & { lastUpdateTime: string } {
  const now = formatTime(nowMs);
  return { type, status: "True", reason, message, lastUpdateTime: now, lastTransitionTime: now };
}

/** The permissions that let a kubelet's client request be approved by itself, in the order they are tried. */
export const AUTO_APPROVALS = [
  {
    permission: "selfnodeclient",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
    applies: (csr: Unstructured, request: ParsedCertificateRequest) => requesterOf(csr).name === request.commonName,
  },
  {
    permission: "nodeclient",
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
    applies: () => true,
  },
] as const;

/** The question asked about the requester for an auto approval. */
export function approvalQuestion(user: UserInfo, permission: string): RequestAttributes {
  return {
    user,
    verb: "create",
    isResource: true,
    path: "",
    group: "certificates.k8s.io",
    version: "*",
    resource: "certificatesigningrequests",
    subresource: permission,
    namespace: "",
    name: "",
  };
}

/** Why a request is not what its signer signs, or undefined (kube-controller-manager's signer validation). */
export function signerProblem(csr: Unstructured, request: ParsedCertificateRequest): string | undefined {
  const usages = texts(at(csr, "spec", "usages"));
  switch (text(at(csr, "spec", "signerName"))) {
    case Signer.client:
      return usageProblem(usages, "client auth", "client certificate");
    case Signer.kubeletClient:
      return nodeProblem(request) ?? nameProblem(request) ?? usageProblem(usages, "client auth", "client certificate");
    case Signer.kubeletServing:
      if (request.dnsNames.length + request.ipAddresses.length === 0) return "DNS or IP subjectAltName is required";
      if (request.otherNames > 0) return "Email and URI subjectAltNames are not allowed";
      return nodeProblem(request) ?? usageProblem(usages, "server auth", "server certificate");
    default:
      return "signerName is not one that this server signs for";
  }
}

function nodeProblem(request: ParsedCertificateRequest): string | undefined {
  if (request.organizations.length !== 1 || request.organizations[0] !== "system:nodes")
    return "subject organization is not system:nodes";
  return request.commonName.startsWith("system:node:")
    ? undefined
    : "subject common name does not begin with system:node: ";
}

function nameProblem(request: ParsedCertificateRequest): string | undefined {
  if (request.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (request.ipAddresses.length > 0) return "IP subjectAltNames are not allowed";
  return request.otherNames > 0 ? "Email and URI subjectAltNames are not allowed" : undefined;
}

function usageProblem(usages: readonly string[], needed: string, what: string): string | undefined {
  const other = usages.find(
    (usage) => usage !== needed && usage !== "digital signature" && usage !== "key encipherment",
  );
  if (other !== undefined) return `invalid usage for ${what}: ${other}`;
  return usages.includes(needed) ? undefined : `missing required usage for ${what}: ${needed}`;
}

/** The X.509 form of `spec.usages`; those that `signerProblem` lets pass are all here. */
export function certificateUsages(csr: Unstructured): { usages: Usage[]; keyUsages: KeyUsageName[] } {
  const asked = texts(at(csr, "spec", "usages"));
  const keyUsages: KeyUsageName[] = ["digital signature", "key encipherment"];
  return {
    usages: [
      ...(asked.includes("server auth") ? (["server"] as const) : []),
      ...(asked.includes("client auth") ? (["client"] as const) : []),
    ],
    keyUsages: keyUsages.filter((usage) => asked.includes(usage)),
  };
}
