import type { KVMMachine } from "../kinds/kvm-machine.ts";
import { bytesOf } from "../kinds/size.ts";

type Spec = NonNullable<KVMMachine["spec"]>;

const ROOT = "40Gi";
const SECTOR = 512;

/** A disk that the guest mounts. */
export interface Mount {
  readonly name: string;
  readonly path: string;
}

/** The disk of container images, which legacy systems mounted for Docker. */
const CONTAINERS: Mount = { name: "containerfs", path: "/var/lib/containerd" };
const KUBELET: Mount = { name: "kubeletfs", path: "/var/lib/kubelet" };

/** Returns the disks of a machine; the first is its root disk. */
export function disksOf({ resources, kubeletVolumeSize, additionalDisks }: Spec): { name: string; bytes: number }[] {
  const disk = (name: string, size: string | undefined): { name: string; bytes: number }[] =>
    size === undefined ? [] : [{ name, bytes: Math.ceil((bytesOf(size) ?? 0) / SECTOR) * SECTOR }];
  return [
    ...disk("rootfs", resources?.disk ?? ROOT),
    ...disk(CONTAINERS.name, resources?.dockerVolumeSize),
    ...disk(KUBELET.name, kubeletVolumeSize),
    ...(additionalDisks ?? []).flatMap(({ name, size }) => disk(name, size)),
  ];
}

/** Returns the disks that the guest formats and mounts. */
export function mountsOf({ resources, kubeletVolumeSize }: Spec): Mount[] {
  return [
    ...(resources?.dockerVolumeSize === undefined ? [] : [CONTAINERS]),
    ...(kubeletVolumeSize === undefined ? [] : [KUBELET]),
  ];
}
