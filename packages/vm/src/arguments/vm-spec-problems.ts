import { isAbsolute } from "node:path";
import {
  duplicate,
  type FieldError,
  invalidValue,
  isDns1123Label,
  parseIpAddress,
  required,
  tooLong,
  tooMany,
} from "@capstan/apimachinery";
import { vmPaths } from "./paths.ts";
import type { HostVolume, VmBoot, VmNetwork, VmSpec } from "./vm-spec.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** A model, and features such as `-vmx`, `+avx2` or `pmu=off`. */
const CPU_MODEL = /^[A-Za-z0-9][\w.-]*(,[+-]?[a-z0-9][\w.-]*(=[\w.-]+)?)*$/;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;
const PCI_ADDRESS = /^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/;
const IN_LIST = /^[A-Za-z0-9][\w.-]*$/;
const MAX_CPUS = 255;
/** With less a kernel and its initrd do not unpack. */
const MIN_MEMORY_MIB = 64;
/** The serial number of virtio-blk. */
const MAX_DISK_NAME = 20;
/** The `tag` of the virtio configuration: virtiofs has 36 bytes; 9p has 32 with a terminator. */
const MAX_TAG = { virtiofs: 36, "9p": 31 };
/** `sun_path` of a unix socket has 108 bytes with its terminator. */
const MAX_SOCKET_PATH = 107;
/** The kernel's IFNAMSIZ with its terminator. */
const MAX_DEVICE_NAME = 15;
const MAX_FIRMWARE_NAME = 55;
/** The kernel's COMMAND_LINE_SIZE of x86. */
const MAX_KERNEL_ARGS = 2047;
/** Slots of q35's root bus, less those of its own devices. */
const MAX_DEVICES = 30;

/** The fields of a spec that QEMU cannot run as they are. */
export function vmSpecProblems(spec: VmSpec): FieldError[] {
  return [
    ...identityProblems(spec),
    ...resourceProblems(spec),
    ...bootProblems(spec.boot),
    ...diskProblems(spec),
    ...(spec.firmwareFiles ?? []).flatMap(({ name, file }, index) => [
      ...(/^opt\/[\w./-]+$/.test(name) && name.length <= MAX_FIRMWARE_NAME
        ? []
        : [
            bad(
              `firmwareFiles[${index}].name`,
              name,
              `must begin with opt/ and have at most ${MAX_FIRMWARE_NAME} bytes`,
            ),
          ]),
      ...pathProblems(`firmwareFiles[${index}].file`, file),
    ]),
    ...networkProblems(spec.networks),
    ...volumeProblems(spec.hostVolumes ?? []),
    ...(spec.hostDevices ?? []).flatMap((address, index) =>
      PCI_ADDRESS.test(address) ? [] : [bad(`hostDevices[${index}]`, address, "must be like 0000:65:00.0")],
    ),
    ...repeated(spec.hostDevices ?? [], (index) => `hostDevices[${index}]`),
    ...slotProblems(spec),
  ];
}

const bad = invalidValue;

function identityProblems({ name, uuid, directory }: VmSpec): FieldError[] {
  return [
    ...isDns1123Label(name).map((detail) => bad("name", name, detail)),
    ...(UUID.test(uuid) ? [] : [bad("uuid", uuid, "must be a UUID")]),
    ...pathProblems("directory", directory),
    ...Object.values(vmPaths(directory))
      .flatMap((path) => socketProblems("directory", path))
      .slice(0, 1),
  ];
}

function resourceProblems({ cpus, cpuModel, cpuPinning, memory, accelerator }: VmSpec): FieldError[] {
  const { mib, maxMib, hugepages } = memory;
  const page = hugepages === "1G" ? 1024 : 2;
  return [
    ...within("cpus", cpus, 1, MAX_CPUS),
    ...(cpuModel === undefined || CPU_MODEL.test(cpuModel)
      ? []
      : [bad("cpuModel", cpuModel, "must be a model with features, like host,pmu=off")]),
    ...(cpuPinning?.length === 0 ? [required("cpuPinning", "name at least one processor")] : []),
    ...(cpuPinning ?? []).flatMap((cpu, index) => within(`cpuPinning[${index}]`, cpu, 0, 4095)),
    ...repeated(cpuPinning ?? [], (index) => `cpuPinning[${index}]`),
    ...within("memory.mib", mib, MIN_MEMORY_MIB, Number.MAX_SAFE_INTEGER),
    ...(hugepages !== undefined && mib % page !== 0
      ? [bad("memory.mib", mib, `must be a multiple of ${page}, the size of a huge page`)]
      : []),
    ...(maxMib === undefined || (Number.isSafeInteger(maxMib) && maxMib > mib)
      ? []
      : [bad("memory.maxMib", maxMib, `must be more than memory.mib (${mib})`)]),
    ...(accelerator.type === "tcg" && accelerator.cacheMib !== undefined
      ? within("accelerator.cacheMib", accelerator.cacheMib, 8, 4096)
      : []),
  ];
}

function bootProblems(boot: VmBoot): FieldError[] {
  if (boot.type === "disk") {
    if (boot.firmware === "bios") return [];
    return [...pathProblems("boot.code", boot.code), ...pathProblems("boot.variables", boot.variables)];
  }
  return [
    ...pathProblems("boot.kernel", boot.kernel),
    ...(boot.initrd === undefined ? [] : pathProblems("boot.initrd", boot.initrd)),
    ...(Buffer.byteLength(boot.args) > MAX_KERNEL_ARGS ? [tooLong("boot.args", MAX_KERNEL_ARGS)] : []),
    ...(hasControls(boot.args) ? [bad("boot.args", boot.args, "must not have control characters")] : []),
  ];
}

function diskProblems({ boot, disks, seed }: VmSpec): FieldError[] {
  const names = [...disks.map(({ name }) => name), ...(seed === undefined ? [] : ["seed"])];
  const files = disks.map(({ file }) => file);
  return [
    ...(boot.type === "disk" && disks.length === 0 ? [required("disks", "there is nothing to boot from")] : []),
    ...disks.flatMap(({ name, file, format, base }, index) => [
      ...(IN_LIST.test(name) ? [] : [bad(`disks[${index}].name`, name, "must be letters, digits, '.', '_' and '-'")]),
      ...(name.length > MAX_DISK_NAME ? [tooLong(`disks[${index}].name`, MAX_DISK_NAME)] : []),
      ...pathProblems(`disks[${index}].file`, file),
      ...(base === undefined ? [] : pathProblems(`disks[${index}].base.file`, base.file)),
      ...(base !== undefined && format === "raw"
        ? [bad(`disks[${index}].format`, format, "an overlay of an image must be qcow2")]
        : []),
      ...(base !== undefined && files.includes(base.file)
        ? [
            bad(
              `disks[${index}].base.file`,
              base.file,
              "must not be one of the disks: an image must not change below its overlay",
            ),
          ]
        : []),
    ]),
    ...repeated(names, (index) => (index < disks.length ? `disks[${index}].name` : "seed")),
    ...repeated(files, (index) => `disks[${index}].file`),
    ...(seed === undefined ? [] : pathProblems("seed.file", seed.file)),
  ];
}

function networkProblems(networks: readonly VmNetwork[]): FieldError[] {
  const forwards = networks.flatMap((network) => (network.type === "user" ? (network.forwards ?? []) : []));
  return [
    ...networks.flatMap((network, index) => {
      const at = `networks[${index}]`;
      const { mac } = network;
      // The lowest bit of the first byte marks an address of many receivers.
      const usable = mac === undefined || (MAC.test(mac) && Number.parseInt(mac.slice(0, 2), 16) % 2 === 0);
      return [
        ...(usable ? [] : [bad(`${at}.mac`, mac, "must be the address of one receiver, like 52:54:00:12:34:56")]),
        ...backendProblems(network, at),
      ];
    }),
    ...repeated(
      networks.map(({ mac }) => mac?.toLowerCase()),
      (index) => `networks[${index}].mac`,
    ),
    ...repeated(
      forwards.map(({ hostAddress = "127.0.0.1", hostPort }) => `${hostAddress}:${hostPort}`),
      () => "networks.forwards",
    ),
  ];
}

function backendProblems(network: VmNetwork, at: string): FieldError[] {
  switch (network.type) {
    case "tap":
      return [
        ...(IN_LIST.test(network.device) ? [] : [bad(`${at}.device`, network.device, "must be the name of a device")]),
        ...(network.device.length > MAX_DEVICE_NAME ? [tooLong(`${at}.device`, MAX_DEVICE_NAME)] : []),
      ];
    case "user":
      return (network.forwards ?? []).flatMap(({ hostAddress, hostPort, guestPort }, index) => [
        ...(hostAddress === undefined || isIpv4(hostAddress)
          ? []
          : [bad(`${at}.forwards[${index}].hostAddress`, hostAddress, "must be an IPv4 address")]),
        ...within(`${at}.forwards[${index}].hostPort`, hostPort, 1, 65_535),
        ...within(`${at}.forwards[${index}].guestPort`, guestPort, 1, 65_535),
      ]);
    case "segment":
      return [
        ...(isIpv4(network.group) && /^(22[4-9]|23\d)\./.test(network.group)
          ? []
          : [bad(`${at}.group`, network.group, "must be an IPv4 multicast address")]),
        ...within(`${at}.port`, network.port, 1, 65_535),
      ];
  }
}

function volumeProblems(volumes: readonly HostVolume[]): FieldError[] {
  return [
    ...volumes.flatMap((volume, index) => {
      const at = `hostVolumes[${index}]`;
      const { tag, driver } = volume;
      return [
        ...(IN_LIST.test(tag) ? [] : [bad(`${at}.tag`, tag, "must be letters, digits, '.', '_' and '-'")]),
        ...(tag.length > MAX_TAG[driver] ? [tooLong(`${at}.tag`, MAX_TAG[driver])] : []),
        ...(volume.driver === "9p"
          ? pathProblems(`${at}.path`, volume.path)
          : [...pathProblems(`${at}.socket`, volume.socket), ...socketProblems(`${at}.socket`, volume.socket)]),
      ];
    }),
    ...repeated(
      volumes.map(({ tag }) => tag),
      (index) => `hostVolumes[${index}].tag`,
    ),
  ];
}

/** Every device needs a slot: entropy and the channel of the guest agent are always there. */
function slotProblems({ disks, seed, networks, hostVolumes = [], hostDevices = [], memory }: VmSpec): FieldError[] {
  const optional = (seed === undefined ? 0 : 1) + (memory.balloon === true ? 1 : 0);
  const devices = disks.length + networks.length + hostVolumes.length + hostDevices.length + optional + 2;
  if (devices <= MAX_DEVICES) return [];
  return [tooMany("disks, networks, hostVolumes and hostDevices", devices - optional - 2, MAX_DEVICES - optional - 2)];
}

function pathProblems(field: string, path: string): FieldError[] {
  if (!isAbsolute(path)) return [bad(field, path, "must be an absolute path")];
  if (hasControls(path)) return [bad(field, path, "must not have control characters")];
  return path.split("/").includes("..") ? [bad(field, path, "must not contain '..'")] : [];
}

function socketProblems(field: string, path: string): FieldError[] {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return [];
  return [bad(field, path, `the socket's path must have at most ${MAX_SOCKET_PATH} bytes`)];
}

// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const hasControls = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text);

const isIpv4 = (text: string): boolean => /^\d+\.\d+\.\d+\.\d+$/.test(text) && parseIpAddress(text) !== undefined;

function within(field: string, value: number, least: number, most: number): FieldError[] {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return [];
  return [bad(field, value, `must be a whole number from ${least} to ${most}`)];
}

/** The second and later places of each value. */
function repeated<T>(values: readonly T[], field: (index: number) => string): FieldError[] {
  return values.flatMap((value, index) =>
    value !== undefined && values.indexOf(value) < index ? [duplicate(field(index), value)] : [],
  );
}
