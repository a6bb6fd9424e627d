import type { ProviderDescription } from "@capstan/capi";
import { kvmWhy } from "./why.ts";

/** What people see of virtual machines. */
export const kvmDescription: ProviderDescription = {
  name: "kvm",
  title: "Virtual machines",
  badge: { label: "KVM", color: "#e03131" },
  workers: {
    summary: "virtual machines of QEMU",
    clusterKind: "KVMCluster",
    templateKind: "KVMMachineTemplate",
    settings: {
      image: {
        summary: "address of the image, e.g. https://images/node.qcow2",
        required: true,
        template: "${IMAGE_URL}",
      },
      checksum: { summary: "SHA-256 or SHA-512 of the image, or the URL of a file with it; IMAGE.sha256 by default" },
      format: { summary: "format of the image: qcow2, the default, or raw" },
      cpu: { summary: "processors of a machine; 4 by default" },
      memory: { summary: "memory of a machine, such as 8Gi, the default" },
      disk: { summary: "size of the root disk, such as 40Gi, the default" },
      placement: { summary: "Process, the default, or Simulated" },
    },
    templates: { flavor: "kvm" },
    clusterSpec: {},
    machineSpec: ({ settings: { image = "", checksum, format, cpu, memory, disk, placement } }) => {
      const resources = { ...(cpu === undefined ? {} : { cpu: Number(cpu) }), memory, disk };
      return {
        ...(placement === undefined ? {} : { placement: { type: placement } }),
        image: { url: image, checksum: checksum ?? `${image}.sha256`, format },
        ...(cpu === undefined && memory === undefined && disk === undefined ? {} : { resources }),
      };
    },
  },
  why: kvmWhy,
  reasons: async () => (await import("./reasons.ts")).KVM_REASONS,
};
