import { fieldErrorText } from "@capstan/apimachinery";
import { diskArgs, networkArgs, volumeArgs } from "./device-args.ts";
import { escaped } from "./escaped.ts";
import { AGENT_PORT_ID, vmPaths } from "./paths.ts";
import type { VmBoot, VmSpec } from "./vm-spec.ts";
import { vmSpecProblems } from "./vm-spec-problems.ts";

/** Without a limit QEMU's translated code grows to more than a gigabyte. */
const TCG_CACHE_MIB = 128;
/** Slots for memory that is added while the machine runs. */
const MEMORY_SLOTS = 16;

/** QEMU reports by its id when the agent in the guest opens or closes it. */
const AGENT_PORT = `virtserialport,id=${AGENT_PORT_ID},chardev=agent,name=org.qemu.guest_agent.0`;

/**
 * The command that starts a machine, in the foreground. It needs no root: taps belong to the user that runs it. QEMU's own sandbox forbids it
 * to choose its processors, so that they are chosen before it starts.
 */
export function qemuCommand(spec: VmSpec, program = "qemu-system-x86_64"): { command: string; args: string[] } {
  const args = qemuArgs(spec);
  const { cpuPinning } = spec;
  if (cpuPinning === undefined) return { command: program, args };
  return { command: "taskset", args: ["--cpu-list", cpuPinning.join(","), program, ...args] };
}

/** The arguments of QEMU for a machine: the same spec gives the same arguments. Throws when a field is not what QEMU can run. */
export function qemuArgs(spec: VmSpec): string[] {
  const problems = vmSpecProblems(spec);
  if (problems.length > 0) throw new Error(`invalid machine: ${problems.map(fieldErrorText).join("; ")}`);
  const { disks, seed, networks, hostVolumes = [], hostDevices = [], firmwareFiles = [] } = spec;
  return [
    ...identity(spec),
    ...processorAndMemory(spec),
    ...boot(spec.boot),
    ...firmwareFiles.flatMap(({ name, file }) => ["-fw_cfg", `name=${name},file=${escaped(file)}`]),
    ...disks.flatMap((disk, index) => diskArgs(disk, `disk${index}`, index + 1)),
    ...(seed === undefined ? [] : diskArgs({ name: "seed", format: "raw", readOnly: true, file: seed.file }, "seed")),
    ...networks.flatMap((network, index) => networkArgs(network, index, spec.uuid)),
    ...hostVolumes.flatMap(volumeArgs),
    ...hostDevices.flatMap((address) => ["-device", `vfio-pci,host=${address}`]),
    ...channels(spec),
  ];
}

function identity({ name, uuid }: VmSpec): string[] {
  return [
    ["-name", `${name},process=vm-${name}`, "-uuid", uuid],
    ["-nodefaults", "-no-user-config", "-display", "none", "-msg", "timestamp=on"],
    ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"],
    // After a kernel panic the machine waits for whoever supervises it: it cannot be reset once QEMU has exited.
    ["-device", "pvpanic", "-action", "panic=pause"],
  ].flat();
}

function processorAndMemory({ cpus, cpuModel, accelerator, memory, hostVolumes = [] }: VmSpec): string[] {
  const { mib, maxMib, hugepages, balloon } = memory;
  // virtiofsd reads and writes the guest's memory itself.
  const shared = hostVolumes.some(({ driver }) => driver === "virtiofs");
  const backend = shared || hugepages !== undefined;
  const args = [
    ["-machine", `q35,usb=off${backend ? ",memory-backend=ram" : ""}`],
    "-accel",
    accelerator.type === "kvm" ? "kvm" : `tcg,thread=multi,tb-size=${accelerator.cacheMib ?? TCG_CACHE_MIB}`,
    ["-cpu", cpuModel ?? (accelerator.type === "kvm" ? "host,pmu=off" : "max")],
    ["-smp", `cpus=${cpus},sockets=1,cores=${cpus},threads=1`],
    ["-m", maxMib === undefined ? `${mib}M` : `size=${mib}M,slots=${MEMORY_SLOTS},maxmem=${maxMib}M`],
  ].flat();
  if (backend) {
    const huge = hugepages === undefined ? "" : `,hugetlb=on,hugetlbsize=${hugepages},prealloc=on`;
    args.push("-object", `memory-backend-memfd,id=ram,size=${mib}M,share=${shared ? "on" : "off"}${huge}`);
  }
  if (balloon === true) args.push("-device", "virtio-balloon-pci,id=balloon,deflate-on-oom=on");
  return args;
}

function boot(boot: VmBoot): string[] {
  if (boot.type === "kernel") {
    const initrd = boot.initrd === undefined ? [] : ["-initrd", boot.initrd];
    return ["-kernel", boot.kernel, ...initrd, "-append", boot.args];
  }
  if (boot.firmware === "bios") return [];
  return [
    ["-drive", `if=pflash,unit=0,format=raw,readonly=on,file=${escaped(boot.code)}`],
    ["-drive", `if=pflash,unit=1,format=raw,file=${escaped(boot.variables)}`],
  ].flat();
}

/** What the host and the guest talk through. */
function channels({ directory, interactiveConsole }: VmSpec): string[] {
  const paths = vmPaths(directory);
  const log = escaped(paths.consoleLog);
  const console =
    interactiveConsole === true
      ? `socket,id=console,path=${escaped(paths.console)},server=on,wait=off,logfile=${log},logappend=on`
      : `file,id=console,path=${log},append=on`;
  return [
    ["-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng"],
    ["-chardev", console, "-serial", "chardev:console"],
    ["-chardev", `socket,id=agent,path=${escaped(paths.guestAgent)},server=on,wait=off`],
    ["-device", "virtio-serial-pci", "-device", AGENT_PORT],
    ["-chardev", `socket,id=qmp,path=${escaped(paths.qmp)},server=on,wait=off`, "-mon", "chardev=qmp,mode=control"],
  ].flat();
}
