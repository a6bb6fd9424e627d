import type { ReasonCatalogue } from "@capstan/capi";
import { CONTROL_PLANE_REASONS } from "@capstan/controlplane";

const RUNNING: ReasonCatalogue = {
  Available: { meaning: "The API of the cluster answers." },
  ComponentsNotReady: {
    meaning: "Components are starting, or do not become ready.",
    cure: "The message has the last error of each; all of it: capstan logs NAME COMPONENT.",
  },
  Deleting: { meaning: "The control plane is being deleted." },
  Healthy: { meaning: "The component works." },
  Hibernated: { meaning: "spec.replicas is 0; the data is kept.", cure: "Set spec.replicas to 1 to start it again." },
  LoopbackEndpoint: {
    meaning: "Nodes on other machines cannot reach the endpoint.",
    cure: "Start the manager with --node-address, or set the endpoint of a new control plane.",
  },
  NotHealthy: {
    meaning: "The component does not work, or has not started yet.",
    cure: "The message has its last error; all of it: capstan logs NAME COMPONENT.",
  },
  PreparingCluster: { meaning: "What Nodes need to join is being written into the new cluster." },
  PreparingClusterFailed: {
    meaning: "What Nodes need to join could not be written into the cluster.",
    cure: "The message has the error; the controller retries.",
  },
  Reconfiguring: { meaning: "kube-apiserver starts with changed settings; the previous one serves until then." },
  RollingOut: { meaning: "Pods are being replaced." },
};

const PLACE: ReasonCatalogue = {
  AddressNotUsable: {
    meaning: "The control plane cannot listen on its address.",
    cure: "Set spec.expose.bindAddress to an address of the management host.",
  },
  BinariesMissing: {
    meaning: "The programs of this version are not on the management host.",
    cure: "Run capstan kubernetes install VERSION.",
  },
  DiskFull: { meaning: "The file system of the data directory is full.", cure: "Free space in it." },
  FilesNotWritable: {
    meaning: "Files of the control plane cannot be written.",
    cure: "Make the data directory writable for the manager.",
  },
  HostClusterForbids: {
    meaning: "The user of the host cluster lacks permissions.",
    cure: "Grant those that the message names.",
  },
  HostClusterNotKnown: {
    meaning: "The Secret with the kubeconfig of the host cluster is missing or not usable.",
    cure: "Create it with a kubeconfig under the key value.",
  },
  HostClusterNotReachable: {
    meaning: "The API of the host cluster does not respond.",
    cure: "Check the server in its kubeconfig and the network.",
  },
  HostClusterRefuses: { meaning: "The host cluster rejects an object.", cure: "Correct what the message names." },
  LeftoverData: {
    meaning: "The folder holds the data of an earlier control plane of the same name.",
    cure: "Choose another name, move the folder away, or set the annotation that the message names.",
  },
  NameTaken: {
    meaning: "An object of the same name in the host cluster belongs to another owner.",
    cure: "Delete it there, or choose another name.",
  },
  NotOfPlacement: {
    meaning: "The placement ignores some fields of the spec.",
    cure: "Remove them, or create a control plane with another placement.",
  },
  NothingRunsPods: {
    meaning: "The management API is the embedded one, which runs no pods.",
    cure: "Set spec.hostCluster.secretName to a Secret with the kubeconfig of a cluster that does.",
  },
  PortTaken: {
    meaning: "Another program has the port.",
    cure: "Free it, or choose another one in spec.controlPlaneEndpoint.",
  },
  TenantsNotIsolated: {
    meaning: "The programs of this cluster cannot be isolated from those of others, and do not start.",
    cure: "Start the manager as root, or accept it as the message says.",
  },
  WaitingForAddress: { meaning: "The Service has no address yet." },
  WaitingForLoadBalancer: {
    meaning: "No implementation of type LoadBalancer gave the Service an address.",
    cure: "Install one in the host cluster, or use spec.expose.type NodePort.",
  },
  WaitingForNode: {
    meaning: "The host cluster has no Ready Node whose address could be the endpoint.",
    cure: "Add one, or set spec.controlPlaneEndpoint.",
  },
};

const ETCD: ReasonCatalogue = {
  DataCorrupt: {
    meaning: "The data of the members of etcd differs (alarm CORRUPT).",
    cure: "Set spec.etcd.restoreFrom to a backup.",
  },
  DataLost: {
    meaning: "The data of etcd is missing; it does not start from an empty folder.",
    cure: "Set spec.etcd.restoreFrom to a backup.",
  },
  DataWouldBeLost: {
    meaning: "Storage of type EmptyDir keeps no data without pods.",
    cure: "Set spec.replicas back to 1.",
  },
  EtcdChanging: { meaning: "Another etcd is tried or rolled out; the previous one serves until then." },
  EtcdFixed: {
    meaning: "The place of the data cannot be changed.",
    cure: "Set spec.etcd.shared back, or create a new control plane.",
  },
  EtcdMembersChanging: { meaning: "Members of etcd are being added, replaced or removed; the message has the step." },
  EtcdNotAsked: { meaning: "The space that etcd uses is unknown at the moment; it is checked again." },
  EtcdNotOlder: {
    meaning: "etcd cannot be downgraded with its data.",
    cure: "Set spec.etcd.image back to the version that serves, or to a newer one.",
  },
  EtcdRestarting: { meaning: "Members of etcd restart one after the other." },
  NoSpace: {
    meaning: "etcd has reached its quota and rejects writes (alarm NOSPACE).",
    cure: "Delete objects, or raise the quota as the message says.",
  },
  QuotaExceeded: {
    meaning: "The objects of this control plane exceed its quota in the shared etcd, and it is read-only.",
    cure: "Delete objects, or raise spec.etcd.shared.quota.",
  },
  SharedEtcdFull: {
    meaning: "The shared etcd has no room for another quota.",
    cure: "Use another shared etcd, or lower the quotas in it.",
  },
  StorageFixed: {
    meaning: "The volumes of etcd cannot be changed.",
    cure: "Set spec.etcd.storage back, or create a new control plane.",
  },
};

const DATA: ReasonCatalogue = {
  BackedUp: { meaning: "The last backup that was due is stored." },
  BackupFailed: { meaning: "The last backup failed; it is retried.", cure: "Correct what the message names." },
  BackupNotFound: {
    meaning: "The store has no backup of the name in spec.etcd.restoreFrom.",
    cure: "Choose one of those that status.backups lists.",
  },
  BackupNotUsable: { meaning: "The backup cannot be restored.", cure: "Choose another one in spec.etcd.restoreFrom." },
  NoBackupYet: { meaning: "The first backup is not due yet." },
  RestoreNeedsVolume: {
    meaning: "Storage of type EmptyDir has no volume to restore into.",
    cure: "Create a control plane with storage of type PersistentVolumeClaim.",
  },
  Restoring: { meaning: "The data is being restored from a backup." },
  StoreNotUsable: {
    meaning: "The store of the backups cannot be used.",
    cure: "Correct spec.etcd.backup as the message says.",
  },
};

const SPEC: ReasonCatalogue = {
  CertificatesNotAvailable: {
    meaning: "A Secret with an authority is damaged or incomplete.",
    cure: "Restore the Secret that the message names.",
  },
  ConfigurationRefused: {
    meaning: "kube-apiserver does not start with the new settings; the previous ones serve.",
    cure: "Correct spec.apiServer.",
  },
  Current: { meaning: "All components use the current authorities." },
  FilesNotAvailable: {
    meaning: "A Secret or ConfigMap that the spec refers to is missing or not usable.",
    cure: "Create or correct the object that the message names.",
  },
  InvalidAddon: { meaning: "The placement does not support the addon.", cure: "Correct spec.addons." },
  InvalidAddress: { meaning: "An address in spec.expose is not valid.", cure: "Correct spec.expose." },
  InvalidArgument: { meaning: "A flag or field is not allowed.", cure: "Correct the field that the message names." },
  InvalidNetwork: {
    meaning: "The networks of the Cluster are not valid.",
    cure: "Correct spec.clusterNetwork of the Cluster.",
  },
  InvalidSchedule: { meaning: "A schedule is not valid.", cure: "Correct the field that the message names." },
  InvalidVersion: {
    meaning: "The version cannot be run, or cannot follow the running one.",
    cure: "Correct spec.version.",
  },
  UpToDate: { meaning: "The requested version and settings serve." },
  UpgradeFailed: {
    meaning: "The new version does not start; the old one keeps serving.",
    cure: "Set spec.version back, correct what the message names, and try again.",
  },
  UpgradeStarted: { meaning: "An upgrade begins." },
  Upgraded: { meaning: "An upgrade is complete." },
  Upgrading: { meaning: "The new version starts; the old one keeps serving." },
};

/** Reasons of the conditions of hosted control planes. */
export const HOSTED_REASONS: ReasonCatalogue = {
  ...CONTROL_PLANE_REASONS,
  ...RUNNING,
  ...PLACE,
  ...ETCD,
  ...DATA,
  ...SPEC,
};
