import { qemuArgs } from "@capstan/vm";
import { expect, test } from "vitest";
import { segmentOf } from "../cluster/segment.ts";
import { uuidOf } from "../names.ts";
import { CLOSED_HOST } from "./host-settings.ts";
import { orderOf } from "./order.ts";

const key = { namespace: "default", name: "m1" };
const segment = segmentOf({ namespace: "default", name: "c1" }, undefined, 1);

test("a machine of which nothing is said has 4 processors, 8Gi of memory and a disk of 40Gi", () => {
  expect(
    orderOf(key, { image: { url: "https://images.example/a", checksum: "c" } }, segment, CLOSED_HOST),
  ).toMatchObject({
    id: "default/m1",
    name: "m1",
    uuid: uuidOf(key),
    cpus: 4,
    memory: { mib: 8192 },
    accelerator: "auto",
    boot: { type: "disk" },
    image: { location: { type: "url", url: "https://images.example/a" }, format: "qcow2", checksum: "c" },
    disks: [{ name: "rootfs", bytes: 40 * 2 ** 30 }],
    networks: [{ type: "user", open: false }, { type: "segment" }],
    restartPolicy: "Always",
  });
});

test("all fields reach the host", () => {
  const spec = {
    resources: { cpu: 2, memory: "8GB", disk: "20Gi", dockerVolumeSize: "5Gi" },
    kubeletVolumeSize: "5GB",
    image: { file: "/images/a.img", format: "raw" as const },
    boot: { kernel: "/images/vmlinux" },
    accelerator: "TCG" as const,
    cpuModel: "Nehalem",
    cpuPinning: [0, 1],
    hugepages: "2M" as const,
    additionalDisks: [{ name: "data", size: "1Gi" }],
    hostVolumes: [{ mountTag: "data", hostPath: "/srv/data", readOnly: true }],
    restartPolicy: "Never" as const,
  };
  expect(orderOf(key, spec, undefined, { ...CLOSED_HOST, openUserNetwork: true })).toMatchObject({
    cpus: 2,
    memory: { mib: 7630, hugepages: "2M" },
    accelerator: "tcg",
    cpuModel: "Nehalem",
    cpuPinning: [0, 1],
    boot: { type: "kernel", kernel: "/images/vmlinux", args: expect.stringContaining("root=/dev/vda") },
    image: { location: { type: "file", path: "/images/a.img" }, format: "raw" },
    disks: [
      { name: "rootfs" },
      { name: "containerfs" },
      { name: "kubeletfs", bytes: Math.ceil(5e9 / 512) * 512 },
      { name: "data" },
    ],
    networks: [{ type: "user", open: true }],
    hostVolumes: [{ tag: "data", path: "/srv/data", readOnly: true }],
    restartPolicy: "Never",
  });
});

test("QEMU accepts the identity and the segment that follow from names", () => {
  const { name, uuid, cpus, memory, networks } = orderOf(key, {}, segment, CLOSED_HOST);
  const disks = [{ name: "rootfs", file: "/a.qcow2", format: "qcow2" as const }];
  const boot = { type: "disk", firmware: "bios" } as const;
  const args = qemuArgs({
    name,
    uuid,
    cpus,
    memory,
    networks,
    disks,
    boot,
    directory: "/d",
    accelerator: { type: "tcg" },
  });
  expect(args.join(" ")).toContain(`remote.host=${segment?.group},remote.port=${segment?.port}`);
});
