import { array, infraMachineKind, integer, type ObjectOf, object, optional, string, templateKind } from "@capstan/capi";
import { growthProblems } from "./growth.ts";
import { KVM_LABELS } from "./labels.ts";
import { machineFields } from "./machine-fields.ts";

/** Infrastructure machine that is a virtual machine of QEMU. */
export const KVMMachine = infraMachineKind({
  kind: "KVMMachine",
  doc: "A machine that is a virtual machine of QEMU.",
  shortNames: ["kvmm"],
  labels: KVM_LABELS,
  spec: machineFields,
  mutable: ["resources", "kubeletVolumeSize", "additionalDisks", "restartPolicy", "shutdown"],
  admission: { validate: growthProblems },
  status: {
    placement: optional(string({ doc: "Where the machine runs." })),
    machineState: optional(
      string({
        doc: "State of the virtual machine.",
        enum: ["pending", "running", "shutting-down", "terminated"],
      }),
    ),
    nodeIndex: optional(
      integer({ doc: "Number of the machine in its cluster, which stays the same as long as it exists.", minimum: 1 }),
    ),
    vm: optional(
      object(
        {
          pid: optional(integer({ doc: "Process of QEMU on its host." })),
          accelerator: optional(string({ doc: "Accelerator that is used, kvm or tcg." })),
          acceleratorMessage: optional(string({ doc: "Why this accelerator is used." })),
          qemuVersion: optional(string({ doc: "Version of QEMU." })),
          restarts: optional(integer({ doc: "How often QEMU has started again.", minimum: 0 })),
          startedAt: optional(string({ doc: "When QEMU was started last." })),
        },
        { doc: "The virtual machine." },
      ),
    ),
    disks: optional(
      array(
        object(
          { name: string({ doc: "Name of the disk." }), size: string({ doc: "Size that the guest sees." }) },
          { doc: "A disk of the machine." },
        ),
        { doc: "Disks as the guest sees them.", maxItems: 16, listType: "map", keys: ["name"] },
      ),
    ),
  },
  columns: [
    { name: "State", type: "string", jsonPath: ".status.machineState" },
    { name: "Accelerator", type: "string", jsonPath: ".status.vm.accelerator", priority: 1 },
  ],
});
/** A KVMMachine object. */
export type KVMMachine = ObjectOf<typeof KVMMachine>;

/** Template that MachineSets and control planes create KVMMachines from. */
export const KVMMachineTemplate = templateKind({
  kind: "KVMMachineTemplate",
  doc: "Template that KVMMachines are created from.",
  shortNames: ["kvmmt"],
  labels: KVM_LABELS,
  spec: machineFields,
});
/** A KVMMachineTemplate object. */
export type KVMMachineTemplate = ObjectOf<typeof KVMMachineTemplate>;
