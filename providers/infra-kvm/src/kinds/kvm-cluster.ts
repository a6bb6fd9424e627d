import { infraClusterKind, integer, map, type ObjectOf, object, optional, string, templateKind } from "@capstan/capi";
import { KVM_LABELS } from "./labels.ts";

/** The segment of machines whose KVMCluster says nothing about it. */
export const DEFAULT_SEGMENT = "192.168.126.0/24";

const fields = {
  network: optional(
    object(
      {
        segmentCIDR: optional(
          string({
            doc: `Addresses of the network between the machines of the cluster on one host, which is next to their way out; ${DEFAULT_SEGMENT} by default. It has room for as many machines as there are addresses.`,
            pattern: "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/(1[6-9]|2[0-8])$",
          }),
        ),
      },
      { doc: "Network of the machines." },
    ),
  ),
};

/** Infrastructure cluster whose machines are virtual machines of QEMU. */
export const KVMCluster = infraClusterKind({
  kind: "KVMCluster",
  doc: "Infrastructure of a cluster whose machines are virtual machines of QEMU.",
  shortNames: ["kvmc"],
  labels: KVM_LABELS,
  spec: fields,
  status: {
    nodeIndexes: optional(
      map(integer({ minimum: 1 }), {
        doc: "Number of each machine, the lowest that is free when it is created; its address follows from it.",
        maxProperties: 5000,
      }),
    ),
  },
});
/** A KVMCluster object. */
export type KVMCluster = ObjectOf<typeof KVMCluster>;

/** Template that a ClusterClass creates KVMClusters from. */
export const KVMClusterTemplate = templateKind({
  kind: "KVMClusterTemplate",
  doc: "Template that KVMClusters are created from.",
  labels: KVM_LABELS,
  spec: fields,
});
