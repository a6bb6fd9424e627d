import type { KVMMachine } from "../kinds/kvm-machine.ts";
import { mountsOf } from "./disks.ts";

/** What the provider adds to a guest. */
export interface VendorFacts {
  readonly spec: NonNullable<KVMMachine["spec"]>;
  readonly providerID: string;
  /** Address by which other nodes reach the guest. */
  readonly nodeIP: string | undefined;
}

/**
 * Returns the cloud-config that the provider adds as vendor data. cloud-init lets the user's data win key by key, so that nothing of that is
 * edited, and what both say is up to the user.
 */
export function vendorData({ spec, providerID, nodeIP }: VendorFacts): string {
  const mounts = mountsOf(spec);
  const device = (name: string): string => `/dev/disk/by-id/virtio-${name}`;
  const args = [`--provider-id=${providerID}`, ...(nodeIP === undefined ? [] : [`--node-ip=${nodeIP}`])].join(" ");
  const config = {
    // The kubelet's unit of kubeadm reads this file.
    bootcmd: [["sh", "-c", `mkdir -p /etc/default && echo 'KUBELET_EXTRA_ARGS="${args}"' > /etc/default/kubelet`]],
    ...(mounts.length === 0
      ? {}
      : {
          fs_setup: mounts.map(({ name }) => ({
            device: device(name),
            filesystem: "ext4",
            label: name,
            partition: "none",
            overwrite: false,
          })),
          mounts: mounts.map(({ name, path }) => [device(name), path, "ext4", "defaults,nofail", "0", "2"]),
        }),
    ...(spec.ntpServers === undefined ? {} : { ntp: { enabled: true, servers: spec.ntpServers } }),
  };
  return `#cloud-config\n${JSON.stringify(config)}\n`;
}
