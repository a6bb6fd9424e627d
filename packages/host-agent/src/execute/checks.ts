import { access, readdir, readFile, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { delimiter, join } from "node:path";

/** Explains why a host cannot be used, and what to do. */
export interface Unfit {
  reason: string;
  message: string;
}

/** What the checks before a bootstrap look at on a host. */
export interface HostProbe {
  hostname: string;
  /** Devices and files that are swapped to. */
  swap: string[];
  /** Files that only a node has. */
  leftovers: string[];
  freeMiB: number;
  missingPrograms: string[];
}

const NODE_FILES = [
  "/etc/kubernetes/kubelet.conf",
  "/etc/kubernetes/bootstrap-kubelet.conf",
  "/etc/kubernetes/admin.conf",
  "/etc/kubernetes/pki/ca.crt",
  "/var/lib/kubelet/config.yaml",
];
const MANIFESTS = "/etc/kubernetes/manifests";
const PROGRAMS = ["kubeadm", "kubelet", "containerd"];
const NEEDED_MIB = 1024;

/** Collects what the checks look at; `root` replaces `/` in tests. */
export async function probeHost(root = "", path = process.env["PATH"] ?? ""): Promise<HostProbe> {
  const manifests = await readdir(`${root}${MANIFESTS}`).catch(() => []);
  const space = await statfs(`${root}/var/lib`).catch(() => undefined);
  return {
    hostname: hostname(),
    swap: swapsIn(await readFile(`${root}/proc/swaps`, "utf8").catch(() => "")),
    leftovers: [
      ...(await thoseThere(NODE_FILES, root)),
      ...manifests.filter((name) => name.endsWith(".yaml")).map((name) => join(MANIFESTS, name)),
    ],
    freeMiB: space === undefined ? Number.POSITIVE_INFINITY : Math.floor((space.bavail * space.bsize) / 1024 / 1024),
    missingPrograms: await missingIn(PROGRAMS, root, path),
  };
}

/** Lists the swap devices in the content of `/proc/swaps`. */
export function swapsIn(text: string): string[] {
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => line.split(/\s+/)[0] || []);
}

async function thoseThere(paths: readonly string[], root: string): Promise<string[]> {
  const there = await Promise.all(paths.map((path) => exists(`${root}${path}`)));
  return paths.filter((_, index) => there[index]);
}

async function missingIn(programs: readonly string[], root: string, path: string): Promise<string[]> {
  const missing: string[] = [];
  for (const program of programs) {
    const places = path.split(delimiter).map((folder) => `${root}${folder}/${program}`);
    if (!(await Promise.all(places.map(exists))).includes(true)) missing.push(program);
  }
  return missing;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Explains why a host must not be claimed by any Machine; undefined when it can be. */
export function unfitHost(probe: HostProbe, hasNodeOfOurs: boolean): Unfit | undefined {
  // Upper-case letters are fine: the kubelet takes the name in lower case, and so do we.
  if (!NODE_NAME.test(probe.hostname.toLowerCase()))
    return {
      reason: "HostNameInvalid",
      message: `the host name ${JSON.stringify(probe.hostname)} is not a valid Node name: use letters, digits, dashes and dots, and set it with hostnamectl`,
    };
  if (!hasNodeOfOurs && probe.leftovers.length > 0)
    return {
      reason: "LeftoversFound",
      message: `there are files of an earlier Kubernetes on the host (${probe.leftovers.slice(0, 3).join(", ")}): if it is no longer a node, run kubeadm reset --force there and remove them`,
    };
  return undefined;
}

/** Explains why this bootstrap data cannot succeed on this host, before kubeadm or the kubelet would fail after minutes. */
export function unfitForBootstrap(probe: HostProbe, data: string): Unfit | undefined {
  if (/\bkubeadm (join|init)\b/.test(data) && probe.missingPrograms.length > 0)
    return {
      reason: "ProgramsMissing",
      message: `${probe.missingPrograms.join(", ")} ${probe.missingPrograms.length === 1 ? "is" : "are"} not installed on the host: install it there, or give the ByoMachineTemplate an installerRef`,
    };
  if (probe.swap.length > 0 && !/fail-?swap-?on[\s\S]{0,40}?false/i.test(data) && !/- Swap\b/.test(data))
    return {
      reason: "SwapOn",
      message: `the host swaps to ${probe.swap.join(", ")}, with which the kubelet does not start: run swapoff -a and remove it from /etc/fstab, or set failSwapOn: false for the kubelet`,
    };
  return fullDisk(probe);
}

/** Explains that `/var/lib` has too little free space for a node; undefined when it has enough. */
export function fullDisk({ freeMiB }: HostProbe): Unfit | undefined {
  if (freeMiB >= NEEDED_MIB) return undefined;
  return {
    reason: "DiskFull",
    message: `only ${freeMiB} MiB are free below /var/lib, and a node needs at least ${NEEDED_MIB}: free some space`,
  };
}
