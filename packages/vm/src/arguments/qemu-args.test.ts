import { fieldErrorText } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { macAddress } from "./mac-address.ts";
import { qemuArgs, qemuCommand } from "./qemu-args.ts";
import type { VmDisk, VmSpec } from "./vm-spec.ts";
import { vmSpecProblems } from "./vm-spec-problems.ts";

const root: VmDisk = {
  name: "root",
  file: "/vms/a/root.qcow2",
  format: "qcow2",
  base: { file: "/images/debian.img", format: "raw" },
};
const small: VmSpec = {
  name: "worker-1",
  uuid: "8d0d3c3e-5d0b-4c39-9d57-0c7cf5a4b3a1",
  directory: "/vms/a",
  cpus: 2,
  memory: { mib: 1536 },
  accelerator: { type: "tcg" },
  boot: { type: "disk", firmware: "bios" },
  disks: [root],
  networks: [{ type: "tap", device: "tap-a" }],
};

/** One line per option, as it is read in a script. */
function lines(spec: VmSpec): string[] {
  return qemuArgs(spec).reduce<string[]>((found, arg) => {
    if (arg.startsWith("-")) return [...found, arg];
    return [...found.slice(0, -1), `${found.at(-1)} ${arg}`];
  }, []);
}

/** What a spec has that the small one does not. */
function added(more: Partial<VmSpec>): string[] {
  const before = lines(small);
  return lines({ ...small, ...more }).filter((line) => !before.includes(line));
}

test("writes the whole command line of a machine", () => {
  expect(lines(small).filter((line) => !line.startsWith("-blockdev"))).toEqual([
    "-name worker-1,process=vm-worker-1",
    "-uuid 8d0d3c3e-5d0b-4c39-9d57-0c7cf5a4b3a1",
    "-nodefaults",
    "-no-user-config",
    "-display none",
    "-msg timestamp=on",
    "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    "-device pvpanic",
    "-action panic=pause",
    "-machine q35,usb=off",
    "-accel tcg,thread=multi,tb-size=128",
    "-cpu max",
    "-smp cpus=2,sockets=1,cores=2,threads=1",
    "-m 1536M",
    "-device virtio-blk-pci,drive=disk0,serial=root,bootindex=1,write-cache=on",
    "-netdev tap,id=net0,ifname=tap-a,script=no,downscript=no",
    "-device virtio-net-pci,netdev=net0,mac=52:08:a8:5c:b3:c3,romfile=",
    "-object rng-random,id=rng,filename=/dev/urandom",
    "-device virtio-rng-pci,rng=rng",
    "-chardev file,id=console,path=/vms/a/console.log,append=on",
    "-serial chardev:console",
    "-chardev socket,id=agent,path=/vms/a/agent.sock,server=on,wait=off",
    "-device virtio-serial-pci",
    "-device virtserialport,id=agent,chardev=agent,name=org.qemu.guest_agent.0",
    "-chardev socket,id=qmp,path=/vms/a/qmp.sock,server=on,wait=off",
    "-mon chardev=qmp,mode=control",
  ]);
});

describe("disks", () => {
  const node = (disk: VmDisk): Record<string, unknown> => {
    const args = qemuArgs({ ...small, disks: [disk] });
    return JSON.parse(args[args.indexOf("-blockdev") + 1] ?? "");
  };

  test("flush to the disk what the guest flushes, past the page cache", () => {
    const cache = { direct: true, "no-flush": false };
    expect(node(root)).toEqual({
      "node-name": "disk0",
      driver: "qcow2",
      "read-only": false,
      cache,
      discard: "unmap",
      file: { driver: "file", "read-only": false, cache, discard: "unmap", filename: root.file, aio: "native" },
      backing: {
        driver: "raw",
        "read-only": true,
        cache,
        file: { driver: "file", "read-only": true, cache, filename: "/images/debian.img", aio: "native" },
      },
    });
    expect(node({ ...root, cache: "writeback" })).toMatchObject({
      cache: { direct: false, "no-flush": false },
      file: { aio: "threads", cache: { direct: false, "no-flush": false } },
    });
  });

  test("deny a backing file that only the header of an image names", () => {
    expect(node({ name: "data", file: "/vms/a/data", format: "qcow2" })["backing"]).toBeNull();
    const onQcow2 = node({ ...root, base: { file: "/images/b.qcow2", format: "qcow2" } });
    expect(onQcow2["backing"]).toMatchObject({ driver: "qcow2", "read-only": true, backing: null });
  });

  test("give the seed to the guest read-only, and boot from the others in their order", () => {
    const data: VmDisk = { name: "kubeletfs", file: "/vms/a/kubelet.img", format: "raw" };
    const devices = added({ disks: [root, data], seed: { file: "/vms/a/seed.iso" } });
    expect(devices.filter((line) => line.startsWith("-device"))).toEqual([
      "-device virtio-blk-pci,drive=disk1,serial=kubeletfs,bootindex=2,write-cache=on",
      "-device virtio-blk-pci,drive=seed,serial=seed",
    ]);
    expect(devices.find((line) => line.includes("seed.iso"))).toContain('"driver":"raw","read-only":true');
  });
});

describe("boot", () => {
  test("starts a kernel directly, with its arguments as one", () => {
    const args = "console=ttyS0 root=/dev/vda,x";
    expect(added({ boot: { type: "kernel", kernel: "/k/vmlinux", initrd: "/k/initrd", args } })).toEqual([
      "-kernel /k/vmlinux",
      "-initrd /k/initrd",
      `-append ${args}`,
    ]);
  });

  test("gives UEFI a read-only program and variables of the machine", () => {
    const code = "/usr/share/OVMF/OVMF_CODE_4M.fd";
    expect(added({ boot: { type: "disk", firmware: "uefi", code, variables: "/vms/a/vars.fd" } })).toEqual([
      `-drive if=pflash,unit=0,format=raw,readonly=on,file=${code}`,
      "-drive if=pflash,unit=1,format=raw,file=/vms/a/vars.fd",
    ]);
  });

  test("hands files over to Ignition by name", () => {
    const file = { name: "opt/org.flatcar-linux/config", file: "/vms/a,b/ignition.json" };
    expect(added({ firmwareFiles: [file] })).toEqual([
      "-fw_cfg name=opt/org.flatcar-linux/config,file=/vms/a,,b/ignition.json",
    ]);
  });
});

describe("resources", () => {
  test("uses KVM with the processor of the host", () => {
    expect(added({ accelerator: { type: "kvm" } })).toEqual(["-accel kvm", "-cpu host,pmu=off"]);
    expect(added({ cpuModel: "Nehalem", accelerator: { type: "tcg", cacheMib: 256 } })).toEqual([
      "-accel tcg,thread=multi,tb-size=256",
      "-cpu Nehalem",
    ]);
  });

  test("leaves room for memory that is added later, and lets the host ask for memory back", () => {
    expect(added({ memory: { mib: 1024, maxMib: 4096, balloon: true } })).toEqual([
      "-m size=1024M,slots=16,maxmem=4096M",
      "-device virtio-balloon-pci,id=balloon,deflate-on-oom=on",
    ]);
  });

  test("allocates huge pages at once", () => {
    expect(added({ memory: { mib: 2048, hugepages: "1G" } })).toEqual([
      "-machine q35,usb=off,memory-backend=ram",
      "-m 2048M",
      "-object memory-backend-memfd,id=ram,size=2048M,share=off,hugetlb=on,hugetlbsize=1G,prealloc=on",
    ]);
  });

  test("binds all threads to processors before QEMU starts, whose sandbox forbids it later", () => {
    const { command, args } = qemuCommand({ ...small, cpuPinning: [2, 3] }, "/opt/qemu");
    expect([command, ...args.slice(0, 3)]).toEqual(["taskset", "--cpu-list", "2,3", "/opt/qemu"]);
    expect(args.slice(3)).toEqual(qemuArgs(small));
    expect(qemuCommand(small)).toEqual({ command: "qemu-system-x86_64", args: qemuArgs(small) });
  });
});

describe("networks", () => {
  const network = (spec: VmSpec["networks"][number]): string[] =>
    lines({ ...small, networks: [spec] }).filter((line) => /^-netdev|virtio-net/.test(line));

  test("keep the guest away from the loopback addresses of the host, unless the network is open", () => {
    expect(network({ type: "user", forwards: [{ hostPort: 2222, guestPort: 22 }] })[0]).toBe(
      "-netdev user,id=net0,restrict=on,hostfwd=tcp:127.0.0.1:2222-:22",
    );
    expect(network({ type: "user", open: true })[0]).toBe("-netdev user,id=net0,restrict=off");
  });

  test("connect machines of one host without permissions", () => {
    expect(network({ type: "segment", group: "230.0.0.1", port: 4000 })[0]).toBe(
      "-netdev dgram,id=net0,local.type=inet,local.host=127.0.0.1,local.port=0,remote.type=inet,remote.host=230.0.0.1,remote.port=4000",
    );
  });

  test("move packets in the kernel of the host where that is requested", () => {
    expect(network({ type: "tap", device: "tap-a", vhost: true })[0]).toContain(",vhost=on");
  });

  test("have an address that follows from the machine and the place of the device, or the given one", () => {
    expect(macAddress(small.uuid.toUpperCase(), 0)).toBe(macAddress(small.uuid, 0));
    expect(macAddress(small.uuid, 1)).not.toBe(macAddress(small.uuid, 0));
    expect(macAddress(small.uuid, 1)).toMatch(/^52(:[0-9a-f]{2}){5}$/);
    expect(network({ type: "tap", device: "t", mac: "0a:58:0a:01:02:03" })[1]).toContain(",mac=0a:58:0a:01:02:03,");
  });
});

describe("the host in the guest", () => {
  test("shares folders by 9p", () => {
    expect(added({ hostVolumes: [{ driver: "9p", tag: "data", path: "/srv/a,b", readOnly: true }] })).toEqual([
      "-fsdev local,id=volume0,path=/srv/a,,b,security_model=none,multidevs=remap,readonly=on",
      "-device virtio-9p-pci,fsdev=volume0,mount_tag=data",
    ]);
  });

  test("shares folders by virtiofs, whose server reads the guest's memory", () => {
    expect(added({ hostVolumes: [{ driver: "virtiofs", tag: "data", socket: "/vms/a/fs.sock" }] })).toEqual([
      "-machine q35,usb=off,memory-backend=ram",
      "-object memory-backend-memfd,id=ram,size=1536M,share=on",
      "-chardev socket,id=volume0,path=/vms/a/fs.sock",
      "-device vhost-user-fs-pci,chardev=volume0,tag=data",
    ]);
  });

  test("passes PCI devices through", () => {
    expect(added({ hostDevices: ["0000:65:00.0"] })).toEqual(["-device vfio-pci,host=0000:65:00.0"]);
  });

  test("logs the console also while a client is attached to it", () => {
    expect(added({ interactiveConsole: true })).toEqual([
      "-chardev socket,id=console,path=/vms/a/console.sock,server=on,wait=off,logfile=/vms/a/console.log,logappend=on",
    ]);
  });
});

describe("refuses", () => {
  const refused = (more: Partial<VmSpec>): string[] => vmSpecProblems({ ...small, ...more }).map(fieldErrorText);
  const disk = (more: Partial<VmDisk>): Partial<VmSpec> => ({ disks: [{ ...root, ...more }] });
  const tag = (driver: "9p" | "virtiofs", length: number): Partial<VmSpec> => ({
    hostVolumes: [{ driver, tag: "t".repeat(length), path: "/srv", socket: "/s" } as never],
  });

  test.each<[string, Partial<VmSpec>, string]>([
    ["a name that would add options", { name: "a,debug-threads=on" }, 'name: Invalid value: "a,debug-threads=on"'],
    ["an identity that is no UUID", { uuid: "1" }, "uuid: Invalid value"],
    ["a relative folder", { directory: "vms" }, "directory: Invalid value"],
    ["a folder too long for its sockets", { directory: `/${"d".repeat(96)}` }, "must have at most 107 bytes"],
    ["no processors", { cpus: 0 }, "cpus: Invalid value: 0: must be a whole number from 1 to 255"],
    ["a processor with options of QEMU", { cpuModel: "max -S" }, "cpuModel: Invalid value"],
    ["pinning to no processor", { cpuPinning: [] }, "cpuPinning: Required value"],
    ["pinning to a processor twice", { cpuPinning: [1, 1] }, "cpuPinning[1]: Duplicate value: 1"],
    ["memory that is no number", { memory: { mib: Number.NaN } }, "memory.mib: Invalid value"],
    ["a part of a huge page", { memory: { mib: 1500, hugepages: "1G" } }, "must be a multiple of 1024"],
    ["a maximum below the size", { memory: { mib: 512, maxMib: 512 } }, "memory.maxMib: Invalid value"],
    ["a cache of nothing", { accelerator: { type: "tcg", cacheMib: 0 } }, "accelerator.cacheMib: Invalid value"],
    ["no disk to boot from", { disks: [] }, "disks: Required value: there is nothing to boot from"],
    ["a name that would add options to a disk", disk({ name: "a,b" }), "disks[0].name: Invalid value"],
    ["a name longer than a serial number", disk({ name: "d".repeat(21) }), "disks[0].name: Too long"],
    ["a path that leaves its folder", disk({ file: "/vms/../etc/shadow" }), "must not contain '..'"],
    ["a raw overlay", disk({ format: "raw" }), "disks[0].format: Invalid value"],
    ["two disks of one file", { disks: [root, { ...root, name: "b" }] }, "disks[1].file: Duplicate value"],
    ["two disks of one name", { disks: [root, { ...root, file: "/b" }] }, "disks[1].name: Duplicate value"],
    ["a disk with the name of the seed", { ...disk({ name: "seed" }), seed: { file: "/s" } }, "seed: Duplicate value"],
    [
      "a disk that is the base of another",
      { disks: [root, { name: "b", file: "/images/debian.img", format: "raw" }] },
      "disks[0].base.file: Invalid value",
    ],
    [
      "kernel arguments longer than the kernel reads",
      { boot: { type: "kernel", kernel: "/k", args: "x".repeat(2048) } },
      "boot.args: Too long",
    ],
    ["two lines of kernel arguments", { boot: { type: "kernel", kernel: "/k", args: "a\nb" } }, "control characters"],
    ["a name outside opt/", { firmwareFiles: [{ name: "etc/x", file: "/f" }] }, "firmwareFiles[0].name: Invalid"],
    ["a device name with options", { networks: [{ type: "tap", device: "t,script=/x" }] }, "networks[0].device"],
    ["a device name of 16 bytes", { networks: [{ type: "tap", device: "t".repeat(16) }] }, "may not be more than 15"],
    ["a multicast address", { networks: [{ type: "tap", device: "t", mac: "01:00:5e:00:00:01" }] }, "networks[0].mac"],
    ["a group that is no group", { networks: [{ type: "segment", group: "10.0.0.1", port: 1 }] }, "networks[0].group"],
    [
      "one port for two machines' ports",
      {
        networks: [
          {
            type: "user",
            forwards: [
              { hostPort: 1, guestPort: 1 },
              { hostPort: 1, guestPort: 2 },
            ],
          },
        ],
      },
      "networks.forwards: Duplicate value",
    ],
    ["a 9p tag of 32 characters", tag("9p", 32), "hostVolumes[0].tag: Too long: may not be more than 31 bytes"],
    ["a virtiofs tag of 37 characters", tag("virtiofs", 37), "may not be more than 36 bytes"],
    ["a device by another name", { hostDevices: ["65:00.0,x-no-mmap=on"] }, "hostDevices[0]: Invalid value"],
    ["one device twice", { hostDevices: ["0000:65:00.0", "0000:65:00.0"] }, "hostDevices[1]: Duplicate value"],
    [
      "more devices than q35 has slots",
      { networks: Array.from({ length: 28 }, (_, index) => ({ type: "tap" as const, device: `t${index}` })) },
      "must have at most 28 items",
    ],
  ])("%s", (_what, more, message) => {
    expect(refused(more).join("; ")).toContain(message);
    expect(() => qemuArgs({ ...small, ...more })).toThrow(message);
  });

  test("nothing at the limits themselves", () => {
    expect(refused(tag("9p", 31))).toEqual([]);
    expect(refused(tag("virtiofs", 36))).toEqual([]);
    expect(refused(disk({ name: "d".repeat(20) }))).toEqual([]);
    const networks = Array.from({ length: 27 }, (_, index) => ({ type: "tap" as const, device: `t${index}` }));
    expect(refused({ networks })).toEqual([]);
  });
});
