/** What every control plane has: authorities and their rotation, kubeconfig Secrets, version skew, CoreDNS and kube-proxy. */
export { coreDNS } from "./addons/core-dns.ts";
export { kubeProxy } from "./addons/kube-proxy.ts";
export { type AuthoritiesRequest, type AuthoritiesResult, clusterSecret, ensureAuthorities } from "./authorities.ts";
export { type Authorities, type AuthorityKey, trusted } from "./authority.ts";
export {
  BACKUP_ANNOTATION,
  type BackupReport,
  type BackupSubject,
  keepBackups,
  sweepScratch,
  takeBackup,
} from "./backup/keep-backups.ts";
export { type BackupPlace, openBackupStore, type StoreSource } from "./backup/open-store.ts";
export { type BackupSettings, type BackupStatus, backupFields, backupStatusFields } from "./backup/schemas.ts";
export { makeSpace } from "./etcd-space/make-space.ts";
export { hasAlarm, planSpace, type SpaceSettings } from "./etcd-space/plan-space.ts";
export { clusterInfoKubeconfig, signatureKey, signClusterInfo } from "./join/cluster-info.ts";
export { kubeadmConfig, kubeletConfig } from "./join/node-configuration.ts";
export { joinRbac, TOKEN_GROUP } from "./join/rbac.ts";
export { clusterBinding, configMap, type NodeConfigurationInput, RBAC_GROUP, type Subject } from "./kube-system.ts";
export { type KubeadmApi, kubeadmApi } from "./kubeadm/api-version.ts";
export {
  type ClusterFacts,
  clusterConfigurationOf,
  clusterConfigurationYaml,
} from "./kubeadm/cluster-configuration.ts";
export { argsFor, compact, secondsText } from "./kubeadm/compact.ts";
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
export { CONTROL_PLANE_REASONS } from "./reasons.ts";
export {
  dropsRemovedFlags,
  type RefusedSetting,
  refusedSettings,
  refusedText,
  withoutRefusedSettings,
} from "./refusals/refusals.ts";
export { AUTHORITY_NAMES, type Rotation, type RotationReport, type RotationState } from "./rotation.ts";
export { upgradeProblem, type VersionFacts, versionFacts } from "./versions.ts";
