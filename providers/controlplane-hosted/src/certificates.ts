import type { Random } from "@capstan/apimachinery";
import { type Authorities, type ClusterNetwork, isIPAddress, nthAddress } from "@capstan/controlplane";
import { type CertificateAndKey, issueCertificate, type KeyAlgorithm, type Usage } from "@capstan/pki";
import { minor } from "semver";

const YEAR_MS = 365 * 24 * 3600_000;

/** Contents of a leaf certificate; `name` is kubeadm's file name without extension. */
export interface CertificateSpec {
  name: string;
  issuer: "cluster" | "etcd" | "frontProxy";
  commonName: string;
  organizations: string[];
  usages: Usage[];
  dnsNames: string[];
  ipAddresses: string[];
}

/** The names, addresses and version that the leaf certificates of a control plane are derived from. */
export interface CertificateInput {
  version: string;
  network: ClusterNetwork;
  endpointHost: string;
  /** More names and addresses for kube-apiserver's certificate. */
  extraSANs: string[];
  /** Names and addresses etcd members are reached at. */
  etcdSANs: string[];
}

/** Returns all leaf certificates of a control plane, as in kubeadm's PKI. */
export function certificateSpecs(input: CertificateInput): CertificateSpec[] {
  const serving = split([
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    `kubernetes.default.svc.${input.network.serviceDomain}`,
    "localhost",
    "127.0.0.1",
    ...input.network.serviceCidrs.map((cidr) => nthAddress(cidr, 1)),
    input.endpointHost,
    ...input.extraSANs,
  ]);
  const etcd = split(["localhost", "127.0.0.1", "::1", ...input.etcdSANs]);
  const client = (
    name: string,
    issuer: CertificateSpec["issuer"],
    commonName: string,
    organizations: string[] = [],
  ): CertificateSpec => ({
    name,
    issuer,
    commonName,
    organizations,
    usages: ["client"],
    dnsNames: [],
    ipAddresses: [],
  });
  return [
    {
      name: "apiserver",
      issuer: "cluster",
      commonName: "kube-apiserver",
      organizations: [],
      usages: ["server"],
      ...serving,
    },
    client("apiserver-kubelet-client", "cluster", "kube-apiserver-kubelet-client", kubeletClientGroups(input.version)),
    client("apiserver-etcd-client", "etcd", "kube-apiserver-etcd-client"),
    client("front-proxy-client", "frontProxy", "front-proxy-client"),
    client("controller-manager", "cluster", "system:kube-controller-manager"),
    client("scheduler", "cluster", "system:kube-scheduler"),
    // etcd's gateway dials itself with its serving certificate, so that also needs client usage.
    {
      name: "etcd/server",
      issuer: "etcd",
      commonName: "etcd",
      organizations: [],
      usages: ["server", "client"],
      ...etcd,
    },
    { name: "etcd/peer", issuer: "etcd", commonName: "etcd", organizations: [], usages: ["server", "client"], ...etcd },
  ];
}

/** Until 1.32 the certificate's group granted the permissions; since 1.33 a ClusterRoleBinding does. */
function kubeletClientGroups(version: string): string[] {
  if (minor(version) <= 28) return ["system:masters"];
  return minor(version) <= 32 ? ["kubeadm:cluster-admins"] : [];
}

function split(names: string[]): { dnsNames: string[]; ipAddresses: string[] } {
  const unique = [...new Set(names.filter((name) => name !== ""))];
  return { dnsNames: unique.filter((name) => !isIPAddress(name)), ipAddresses: unique.filter(isIPAddress) };
}

/** Issues a leaf certificate that is valid for a year. */
export function issue(
  spec: CertificateSpec,
  authorities: Authorities,
  options: { nowMs: number; random: Random; algorithm: KeyAlgorithm },
): Promise<CertificateAndKey> {
  return issueCertificate(authorities[spec.issuer], {
    commonName: spec.commonName,
    organizations: spec.organizations,
    dnsNames: spec.dnsNames,
    ipAddresses: spec.ipAddresses,
    usages: spec.usages,
    algorithm: options.algorithm,
    nowMs: options.nowMs,
    validMs: YEAR_MS,
    random: options.random,
  });
}
