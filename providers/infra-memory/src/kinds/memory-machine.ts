import { infraMachineKind, integer, map, type ObjectOf, optional, string, templateKind } from "@capstan/capi";

/** The faults that a MemoryMachine can simulate. */
export const FAULTS = [
  "NeverBoots",
  "NoCapacity",
  "APIUnreachable",
  "NodeDies",
  // Of control plane machines only.
  "NoNode",
  "NeverPromoted",
  "EtcdPartitioned",
  "EtcdNoSpace",
  "APIServerCrashes",
  "ControllerManagerCrashes",
] as const;
/** One of FAULTS. */
export type Fault = (typeof FAULTS)[number];

const fields = {
  bootSeconds: optional(integer({ doc: "Time from creation until the machine runs.", minimum: 0, maximum: 86400 })),
  bootJitterSeconds: optional(
    integer({
      doc: "Maximum additional boot time; it differs between machines and is stable for each.",
      minimum: 0,
      maximum: 86400,
    }),
  ),
  capacity: optional(
    map(string(), {
      doc: "Resources its Node offers; 4 CPUs, 8Gi memory and 110 pods by default.",
      maxProperties: 32,
    }),
  ),
  fault: optional(
    string({
      doc: "Fails in this way from the start; the annotation memory.infrastructure.cluster.x-k8s.io/fault does so later.",
      enum: FAULTS,
    }),
  ),
};

/** Infrastructure machine that exists in memory only. */
export const MemoryMachine = infraMachineKind({
  kind: "MemoryMachine",
  doc: "A machine that exists in memory only; it joins its cluster with its real bootstrap data and becomes a Node.",
  spec: fields,
  alsoV1beta1: true,
});
/** A MemoryMachine object. */
export type MemoryMachine = ObjectOf<typeof MemoryMachine>;

/** Template that MachineSets create MemoryMachines from. */
export const MemoryMachineTemplate = templateKind({
  kind: "MemoryMachineTemplate",
  doc: "Template that MemoryMachines are created from.",
  spec: fields,
  alsoV1beta1: true,
});
