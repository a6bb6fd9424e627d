import type { AnyKind, Provider, ProviderDeps } from "@capstan/capi";
import { metal3Description } from "./description.ts";
import { BareMetalHost } from "./kinds/bare-metal-host.ts";
import { HardwareData } from "./kinds/hardware-data.ts";
import { Metal3IPAddress } from "./kinds/ip-address.ts";
import { IPClaim } from "./kinds/ip-claim.ts";
import { IPPool } from "./kinds/ip-pool.ts";
import { Metal3Cluster, Metal3ClusterTemplate } from "./kinds/metal3-cluster.ts";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "./kinds/metal3-data.ts";
import { Metal3Machine, Metal3MachineTemplate } from "./kinds/metal3-machine.ts";

/** Dependencies and settings of the Metal3 provider. */
export interface Metal3Deps extends ProviderDeps {
  /** Whether to manage BareMetalHosts; default `auto`: unless upstream's baremetal-operator runs in the cluster. */
  readonly bareMetalHosts?: "auto" | "off" | undefined;
}

const KINDS: readonly AnyKind[] = [
  BareMetalHost,
  HardwareData,
  Metal3Cluster,
  Metal3ClusterTemplate,
  Metal3Machine,
  Metal3MachineTemplate,
  Metal3DataTemplate,
  Metal3DataClaim,
  Metal3Data,
  IPPool,
  IPClaim,
  Metal3IPAddress,
];

/** The bare-metal infrastructure provider: clusters, machines, data templates, addresses and hosts. */
export const metal3: Provider<Metal3Deps> = {
  ...metal3Description,
  kinds: KINDS,
  access: { inventory: ["baremetalhosts", "hardwaredata", "metal3datas", "ippools", "ipaddresses"] },
  sharedGroups: ["metal3.io", "ipam.metal3.io"],
  load: async (deps) => (await import("./running.ts")).loadMetal3(deps),
};
