import type { VmNetwork, VmOrder } from "@capstan/vm";
import type { Segment } from "../cluster/segment.ts";
import type { KVMMachine } from "../kinds/kvm-machine.ts";
import { defaultsOf } from "../machine/defaults.ts";
import { disksOf } from "../machine/disks.ts";
import { idOf, type Key, uuidOf } from "../names.ts";
import type { HostSettings } from "./host-settings.ts";

type Spec = NonNullable<KVMMachine["spec"]>;

const KERNEL_ARGS = "root=/dev/vda rw console=ttyS0 net.ifnames=0";

/** Returns a machine as the host runs it. */
export function orderOf(key: Key, spec: Spec, segment: Segment | undefined, host: HostSettings): VmOrder {
  const { boot, image, accelerator = "Auto", hostVolumes = [] } = spec;
  const { cpus, memoryMib } = defaultsOf(spec);
  const outside: VmNetwork = { type: "user", open: host.openUserNetwork };
  return {
    id: idOf(key),
    name: key.name,
    uuid: uuidOf(key),
    cpus,
    memory: { mib: memoryMib, ...(spec.hugepages === undefined ? {} : { hugepages: spec.hugepages }) },
    accelerator: ({ Auto: "auto", KVM: "kvm", TCG: "tcg" } as const)[accelerator],
    cpuModel: spec.cpuModel,
    cpuPinning: spec.cpuPinning,
    boot:
      boot === undefined
        ? { type: "disk" }
        : { type: "kernel", kernel: boot.kernel, initrd: boot.initrd, args: boot.args ?? KERNEL_ARGS },
    image: {
      location: image?.url === undefined ? { type: "file", path: image?.file ?? "" } : { type: "url", url: image.url },
      format: image?.format ?? "qcow2",
      checksum: image?.checksum,
    },
    disks: disksOf(spec),
    networks:
      segment === undefined ? [outside] : [outside, { type: "segment", group: segment.group, port: segment.port }],
    hostVolumes: hostVolumes.map(({ mountTag, hostPath, readOnly }) => ({ tag: mountTag, path: hostPath, readOnly })),
    restartPolicy: spec.restartPolicy ?? "Always",
  };
}
