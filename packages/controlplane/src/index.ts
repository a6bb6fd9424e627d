/** What every control plane has: authorities and their rotation, kubeconfig Secrets, version skew, CoreDNS and kube-proxy. */
export { coreDNS } from "./addons/core-dns.ts";
export { kubeProxy } from "./addons/kube-proxy.ts";
export { type AuthoritiesRequest, type AuthoritiesResult, clusterSecret, ensureAuthorities } from "./authorities.ts";
export { type Authorities, type AuthorityKey, trusted } from "./authority.ts";
export { clusterBinding, configMap, type NodeConfigurationInput, RBAC_GROUP, type Subject } from "./kube-system.ts";
export { ensureKubeconfigSecret, type KubeconfigRequest } from "./kubeconfig-secret.ts";
export { nodesRefuse, unsupportedNodes } from "./kubelet-skew.ts";
export {
  type ClusterNetwork,
  cidrsOverlap,
  clusterNetwork,
  hostPort,
  isIPAddress,
  nthAddress,
  parseCidr,
} from "./network.ts";
export { AUTHORITY_NAMES, type Rotation, type RotationReport, type RotationState } from "./rotation.ts";
export { upgradeProblem, type VersionFacts, versionFacts } from "./versions.ts";
