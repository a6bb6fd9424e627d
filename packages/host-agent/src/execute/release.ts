import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import { RESTORE_FOLDER } from "@capstan/capi";
import { etcdMember } from "./etcd-member.ts";
import { type Before, Footprint } from "./footprint.ts";
import { lookAtNetwork, removePodNetwork } from "./pod-network.ts";
import { type RunCommand, runCommand } from "./run-command.ts";
import { Steps } from "./steps.ts";

const TIMEOUT_MS = 5 * 60_000;

/** Folders that are removed with the node. */
const FOLDERS = ["/run/kubeadm", "/run/cluster-api", "/run/flannel", "/var/lib/cni", "/etc/kubernetes", RESTORE_FOLDER];
/** Folders that stay and are emptied: some are mount points. */
const CONTENTS = ["/var/lib/kubelet", "/var/lib/etcd", "/var/log/pods", "/var/log/containers"];
/** Folders of pod networks: what was there before stays. */
const CNI_FOLDERS = ["/etc/cni/net.d", "/opt/cni/bin"];
const has = (program: string, then: string): string => `if command -v ${program} >/dev/null; then ${then}; fi`;
const rulesOf = (tool: string): string =>
  has(`${tool}-save`, `${tool}-save | grep -v -e KUBE- -e CNI- -e FLANNEL -e cali -e CILIUM | ${tool}-restore`);
const ctr = "ctr --connect-timeout 3s --namespace k8s.io";

const tasks = `${ctr} --timeout 10s tasks`;
/**
 * A container that is being created can block ctr forever. Shims that are left after a while are killed; containerd then cleans up
 * after it. (The brackets keep this shell from finding itself.)
 */
const REMOVE_CONTAINERS = [
  `end() { ${tasks} list --quiet 2>/dev/null | xargs -r -n1 ${tasks} delete --force >/dev/null 2>&1; }`,
  "end",
  `if left=$(${tasks} list --quiet 2>/dev/null) && [ -z "$left" ]; then :; else`,
  "  for process in /proc/[0-9]*; do",
  "    if tr '\\0' ' ' <$process/cmdline 2>/dev/null | grep -q 'containerd-[s]him.* -namespace k8s.io '; then",
  "      kill -9 ${process#/proc/} 2>/dev/null",
  "    fi",
  "  done",
  "  sleep 1",
  "  end",
  "fi",
  `${ctr} --timeout 60s containers list --quiet 2>/dev/null | xargs -r ${ctr} --timeout 60s containers delete >/dev/null 2>&1`,
  "true",
].join("\n");

/** The steps that remove a node from a host. Each one is safe to repeat. */
const COMMANDS: { name: string; command: string }[] = [
  // The control plane has removed the member, or keeps it: kubeadm knows nothing of the quorum.
  { name: "kubeadm reset", command: has("kubeadm", "kubeadm reset --force --skip-phases=remove-etcd-member") },
  {
    name: "stop the kubelet",
    command: "if [ -d /run/systemd/system ]; then systemctl stop kubelet 2>/dev/null || true; fi",
  },
  {
    name: "remove containers",
    command: has("ctr", REMOVE_CONTAINERS),
  },
  {
    name: "unmount what pods mounted",
    command: "grep -o ' /var/lib/kubelet/[^ ]*' /proc/mounts | sort -r | xargs -r -n1 umount --lazy || true",
  },
  {
    name: "remove control groups of pods",
    command:
      "if [ -d /run/systemd/system ]; then systemctl stop kubepods.slice 2>/dev/null || true; fi; find /sys/fs/cgroup -depth -type d -path '*kubepods*' -exec rmdir {} \\; 2>/dev/null || true",
  },
  { name: "remove packet filter rules", command: `${rulesOf("iptables")}; ${rulesOf("ip6tables")}` },
  {
    name: "remove tables and services of kube-proxy",
    command: `${has("nft", "nft delete table ip kube-proxy 2>/dev/null; nft delete table ip6 kube-proxy 2>/dev/null; true")}; ${has("ipvsadm", "ipvsadm --clear 2>/dev/null; true")}; ${has("ipset", "ipset list -name 2>/dev/null | grep ^KUBE- | xargs -r -n1 ipset destroy 2>/dev/null; true")}`,
  },
];

/** What releasing a host needs. */
export interface ReleaseOptions {
  clock: Clock;
  stateDir: string;
  log?: (text: string) => void;
  root?: string;
  run?: RunCommand;
  /** Stops programs that the agent itself keeps running on a host without systemd. */
  programs?: { stop(name: "kubelet" | "containerd"): Promise<void> };
  /** Script that removes what an installation script has installed. */
  uninstall?: string;
}

/** Removes the node from this host and restores the host, so that it can be claimed again. Returns what failed. */
export async function releaseHost(options: ReleaseOptions): Promise<string | undefined> {
  const { clock, root = "" } = options;
  const run = options.run ?? runCommand;
  const steps = new Steps(clock, options.log === undefined ? {} : { log: options.log });
  const footprint = new Footprint(options.stateDir, root);
  const { before } = footprint;
  // kubeadm removes the manifest that names it.
  const data = etcdMember(root);
  if (data !== undefined) footprint.willFill(data);
  // Otherwise it would restart what kubeadm stops.
  await options.programs?.stop("kubelet");
  for (const { name, command } of COMMANDS) {
    const problem = await steps.command(name, command, { run, timeoutMs: TIMEOUT_MS });
    if (problem !== undefined) return problem;
  }
  const problem =
    (await steps.action("remove pod networks", () => removePodNetwork(before, root, run, clock))) ??
    (before === undefined ? undefined : await removeImages(before, steps, run)) ??
    (options.uninstall === undefined
      ? undefined
      : await steps.command("uninstall Kubernetes", ["bash", options.uninstall], { run, timeoutMs: TIMEOUT_MS })) ??
    (await steps.action("remove files of the node", () => removeFiles(before, root))) ??
    (await steps.action("restore what the machine changed", async () => {
      const undone = await footprint.undo((command) => run(command, { clock, timeoutMs: TIMEOUT_MS }));
      if (undone.length > 0) throw new Error(undone.join("; "));
    }));
  if (problem === undefined) await options.programs?.stop("containerd");
  return problem;
}

/** Images that came with the node; those that the owner had brought stay. */
async function removeImages(before: Before, steps: Steps, run: RunCommand): Promise<string | undefined> {
  const images = (await listImages(run, steps.clock)).filter((image) => !before.images.includes(image));
  if (images.length === 0) return undefined;
  const command = [...ctr.split(" "), "images", "remove", ...images];
  return await steps.command(`remove ${images.length} images`, command, { run, timeoutMs: TIMEOUT_MS });
}

/** Names of the images containerd holds for Kubernetes. */
async function listImages(run: RunCommand, clock: Clock): Promise<string[]> {
  const command = has("ctr", `${ctr} images list --quiet 2>/dev/null || true`);
  const { output } = await run(command, { clock, timeoutMs: 60_000 });
  return output.split("\n").filter((line) => /^[\w./:@-]+$/.test(line));
}

async function removeFiles(before: Before | undefined, root: string): Promise<void> {
  for (const folder of CNI_FOLDERS)
    for (const name of await readdir(`${root}${folder}`).catch(() => [])) {
      const path = join(folder, name);
      // Plugins are the host's own unless it is known that they came later.
      const isOld = before === undefined ? folder === "/opt/cni/bin" : before.cniFiles.includes(path);
      if (!isOld) await rm(`${root}${path}`, { recursive: true, force: true });
    }
  for (const folder of FOLDERS) await rm(`${root}${folder}`, { recursive: true, force: true });
  for (const folder of CONTENTS)
    for (const name of await readdir(`${root}${folder}`).catch(() => []))
      await rm(`${root}${folder}/${name}`, { recursive: true, force: true });
}

/** Records what is on the host before a Machine claims it. */
export async function lookBefore(clock: Clock, root = "", run: RunCommand = runCommand): Promise<Before> {
  const listed = CNI_FOLDERS.map(async (folder) =>
    (await readdir(`${root}${folder}`).catch(() => [])).map((name) => join(folder, name)),
  );
  return {
    ...(await lookAtNetwork(root, run, clock)),
    images: await listImages(run, clock),
    cniFiles: (await Promise.all(listed)).flat(),
    atMs: clock.now(),
  };
}
