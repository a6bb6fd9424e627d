import { defineKind, type ObjectOf, object, optional } from "@capstan/capi";
import { hardwareDetails } from "./hardware-details.ts";

/** Finalizer that keeps a HardwareData while its host needs it. */
export const HARDWARE_DATA_FINALIZER = "baremetalhost.metal3.io/hardwareData";

/** Inspection results of the BareMetalHost of the same name; kept separately so that they survive a lost status. */
export const HardwareData = defineKind({
  group: "metal3.io",
  version: "v1alpha1",
  kind: "HardwareData",
  plural: "hardwaredata",
  shortNames: ["hd"],
  categories: ["metal3"],
  labels: { "clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": "infrastructure-metal3" },
  doc: "The inspected hardware of the BareMetalHost of the same name.",
  status: false,
  schema: object({
    spec: optional(object({ hardware: optional(hardwareDetails) }, { doc: "Facts about the hardware." })),
  }),
  columns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
});
export type HardwareData = ObjectOf<typeof HardwareData>;
