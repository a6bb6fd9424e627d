import { macAddress } from "@capstan/vm";
import { expect, test } from "vitest";
import { uuidOf } from "../names.ts";
import { type SeedFacts, seedOf } from "./seed.ts";

const key = { namespace: "default", name: "m1" };
const facts: SeedFacts = {
  key,
  spec: {
    dnsServers: ["192.0.2.53"],
    ntpServers: ["ntp.example"],
    resources: { dockerVolumeSize: "40GB" },
    kubeletVolumeSize: "10Gi",
  },
  providerID: "kvm://default/m1",
  failureDomain: "rack-1",
  segmentAddress: "192.168.126.3/24",
};
const cloudConfig = { format: "cloud-config", bytes: Buffer.from("## template: jinja\n#cloud-config\n") } as const;
const ignition = { format: "ignition", bytes: Buffer.from('{"ignition":{}}') } as const;

function noCloud(more: Partial<SeedFacts> = {}) {
  const seed = seedOf(cloudConfig, { ...facts, ...more });
  if (seed.type !== "noCloud") throw new Error("not a NoCloud seed");
  const vendor: Record<string, unknown> = JSON.parse((seed.data.vendorData ?? "").replace("#cloud-config\n", ""));
  return { ...seed.data, vendor };
}

test("names the machine as templates expect it, with an identity that never changes", () => {
  const { metaData } = noCloud();
  expect(metaData).toEqual({
    "instance-id": uuidOf(key),
    "local-hostname": "m1",
    hostname: "m1",
    "provider-id": "kvm://default/m1",
    "failure-domain": "rack-1",
  });
  expect(metaData["instance-id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("carries the address, DNS servers and MAC addresses, so that no DHCP server has to know them", () => {
  expect(noCloud().networkConfig).toEqual({
    version: 2,
    ethernets: {
      outside: {
        match: { macaddress: macAddress(uuidOf(key), 0) },
        dhcp4: true,
        nameservers: { addresses: ["192.0.2.53"] },
      },
      segment: { match: { macaddress: macAddress(uuidOf(key), 1) }, addresses: ["192.168.126.3/24"] },
    },
  });
});

test("adds disks, NTP servers and the kubelet's arguments as vendor data, and does not edit user data", () => {
  const { vendor, userData } = noCloud();
  expect(userData).toBe(cloudConfig.bytes.toString());
  expect(vendor).toMatchObject({
    ntp: { enabled: true, servers: ["ntp.example"] },
    mounts: [
      ["/dev/disk/by-id/virtio-containerfs", "/var/lib/containerd", "ext4", "defaults,nofail", "0", "2"],
      ["/dev/disk/by-id/virtio-kubeletfs", "/var/lib/kubelet", "ext4", "defaults,nofail", "0", "2"],
    ],
    fs_setup: [
      { device: "/dev/disk/by-id/virtio-containerfs", filesystem: "ext4", overwrite: false },
      { device: "/dev/disk/by-id/virtio-kubeletfs", filesystem: "ext4", overwrite: false },
    ],
  });
  expect(JSON.stringify(vendor["bootcmd"])).toContain("--provider-id=kvm://default/m1 --node-ip=192.168.126.3");
});

test("mounts nothing unless it is requested", () => {
  const { vendor, networkConfig } = noCloud({ spec: {}, segmentAddress: undefined });
  expect(Object.keys(vendor)).toEqual(["bootcmd"]);
  const { ethernets } = networkConfig as unknown as { ethernets: object };
  expect(Object.keys(ethernets)).toEqual(["outside"]);
});

test("delivers Ignition through the firmware interface, and cloud-config as a config drive on request", () => {
  expect(seedOf(ignition, facts)).toEqual({
    type: "ignition",
    config: '{"ignition":{}}',
    name: "opt/org.flatcar-linux/config",
  });
  expect(seedOf(cloudConfig, { ...facts, spec: { delivery: "ConfigDrive" } })).toMatchObject({
    type: "configDrive",
    data: { metaData: { uuid: uuidOf(key), "local-hostname": "m1" }, userData: cloudConfig.bytes.toString() },
  });
});

test.each([
  [ignition, "NoCloud"],
  [cloudConfig, "FwCfg"],
] as const)("refuses a format that the way does not deliver", (data, delivery) => {
  expect(() => seedOf(data, { ...facts, spec: { delivery } })).toThrow(delivery);
});
