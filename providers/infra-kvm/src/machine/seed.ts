import type { BootstrapData } from "@capstan/capi";
import { macAddress, type VmSeed } from "@capstan/vm";
import type { KVMMachine } from "../kinds/kvm-machine.ts";
import { type Key, uuidOf } from "../names.ts";
import { vendorData } from "./vendor-data.ts";

/** What the guest is configured with in addition to its bootstrap data. */
export interface SeedFacts {
  readonly key: Key;
  readonly spec: NonNullable<KVMMachine["spec"]>;
  readonly providerID: string;
  readonly failureDomain: string | undefined;
  /** Address in the segment, with the length of its prefix. */
  readonly segmentAddress: string | undefined;
}

/** Thrown for bootstrap data that the guest could not read. */
export class DeliveryProblem extends Error {}

/** Returns the seed of a guest. The user data in it is the bootstrap data, unchanged. */
export function seedOf({ format, bytes }: BootstrapData, facts: SeedFacts): VmSeed {
  const text = Buffer.from(bytes).toString("utf8");
  const { delivery = "Auto" } = facts.spec;
  const how = delivery === "Auto" ? (format === "ignition" ? "FwCfg" : "NoCloud") : delivery;
  switch (how) {
    case "FwCfg":
      if (format !== "ignition")
        throw new DeliveryProblem("FwCfg delivers Ignition only, and the bootstrap data is cloud-config");
      return { type: "ignition", config: text, name: "opt/org.flatcar-linux/config" };
    case "ConfigDrive":
      return {
        type: "configDrive",
        data: { metaData: configDriveMetaData(facts), userData: text, networkData: undefined },
      };
    case "NoCloud":
      if (format === "ignition")
        throw new DeliveryProblem("NoCloud delivers cloud-config only, and the bootstrap data is Ignition");
      return {
        type: "noCloud",
        data: {
          metaData: metaDataOf(facts),
          userData: text,
          vendorData: vendorData({ ...facts, nodeIP: facts.segmentAddress?.split("/")[0] }),
          networkConfig: networkConfig(facts),
        },
      };
  }
}

/** Templates in bootstrap data name the host both ways: `ds.meta_data.hostname` and `local_hostname`. */
function metaDataOf({ key, providerID, failureDomain }: SeedFacts) {
  return {
    // It stays the same for the life of the machine: with another one cloud-init would join again.
    "instance-id": uuidOf(key),
    "local-hostname": key.name,
    hostname: key.name,
    "provider-id": providerID,
    "failure-domain": failureDomain,
  };
}

function configDriveMetaData(facts: SeedFacts): Record<string, unknown> {
  return { uuid: uuidOf(facts.key), name: facts.key.name, ...metaDataOf(facts) };
}

function networkConfig({ key, spec, segmentAddress }: SeedFacts) {
  const match = (index: number) => ({ macaddress: macAddress(uuidOf(key), index) });
  const nameservers = spec.dnsServers === undefined ? {} : { nameservers: { addresses: spec.dnsServers } };
  return {
    version: 2 as const,
    ethernets: {
      outside: { match: match(0), dhcp4: true, ...nameservers },
      ...(segmentAddress === undefined ? {} : { segment: { match: match(1), addresses: [segmentAddress] } }),
    },
  };
}
