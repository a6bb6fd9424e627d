import { defineKind, type ObjectOf, object, optional } from "@capstan/capi";
import { hostProblems } from "./bare-metal-host-rules.ts";
import { hostSpec } from "./bare-metal-host-spec.ts";
import { hostStatus } from "./bare-metal-host-status.ts";

/** Finalizer of a host; removed once it is powered off and the driver has released it. */
export const HOST_FINALIZER = "baremetalhost.metal3.io";
/** Annotation that pauses reconciling of the host, with any value. */
export const HOST_PAUSED_ANNOTATION = "baremetalhost.metal3.io/paused";
/** Annotation with the status as JSON, for a move; restored once if the status is empty. */
export const HOST_STATUS_ANNOTATION = "baremetalhost.metal3.io/status";
/** Annotation that detaches the host: the driver releases it while it keeps running. */
export const HOST_DETACHED_ANNOTATION = "baremetalhost.metal3.io/detached";
/** Annotation that controls inspection: `disabled`, or any other value to inspect again. */
export const HOST_INSPECT_ANNOTATION = "inspect.metal3.io";
/** Annotation with hardware details as JSON, for hosts with inspection disabled. */
export const HOST_HARDWARE_ANNOTATION = "inspect.metal3.io/hardwaredetails";
/** Annotation that reboots the host once; with the suffix `/KEY` the host stays off until it is removed. */
export const HOST_REBOOT_ANNOTATION = "reboot.metal3.io";

/** A physical machine with a management controller. */
export const BareMetalHost = defineKind({
  group: "metal3.io",
  version: "v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  shortNames: ["bmh", "bmhost"],
  categories: ["metal3"],
  labels: {
    "clusterctl.cluster.x-k8s.io": "",
    "cluster.x-k8s.io/provider": "infrastructure-metal3",
    // The Secrets and HardwareData that a host owns move with it.
    "clusterctl.cluster.x-k8s.io/move-hierarchy": "",
  },
  doc: "A physical machine with a management controller: registered, inspected, provisioned, powered on and off.",
  admission: { validate: hostProblems },
  schema: object({ spec: hostSpec, status: optional(hostStatus) }),
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.operationalStatus", priority: 1 },
    { name: "State", type: "string", jsonPath: ".status.provisioning.state" },
    { name: "Consumer", type: "string", jsonPath: ".spec.consumerRef.name" },
    { name: "BMC", type: "string", jsonPath: ".spec.bmc.address", priority: 1 },
    { name: "Online", type: "string", jsonPath: ".spec.online" },
    { name: "Error", type: "string", jsonPath: ".status.errorType" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type BareMetalHost = ObjectOf<typeof BareMetalHost>;
