import { rm } from "node:fs/promises";
import type { Clock } from "@capstan/apimachinery";
import { redact } from "./redact.ts";
import { runCommand } from "./run-command.ts";

const TIMEOUT_MS = 5 * 60_000;

/** Folders whose contents belong to the node that is leaving. */
const LEFTOVERS = [
  "/etc/cni/net.d",
  "/run/kubeadm",
  "/run/cluster-api",
  "/var/lib/cni",
  "/etc/kubernetes",
  "/var/lib/kubelet/pki",
];

/** What takes a node off a host, so that the host is as it was and can be claimed again. Each step is safe to repeat. */
const STEPS: { name: string; command: string }[] = [
  { name: "kubeadm reset", command: "if command -v kubeadm >/dev/null; then kubeadm reset --force; fi" },
  { name: "stop the kubelet", command: "if command -v systemctl >/dev/null; then systemctl stop kubelet || true; fi" },
  {
    name: "remove pod interfaces",
    command: "for i in cni0 flannel.1 kube-ipvs0; do ip link delete $i 2>/dev/null || true; done",
  },
  {
    name: "remove rules of kube-proxy",
    command:
      "if command -v iptables-save >/dev/null; then iptables-save | grep -v -e KUBE- -e CNI- | iptables-restore; fi; if command -v nft >/dev/null; then nft delete table ip kube-proxy 2>/dev/null || true; nft delete table ip6 kube-proxy 2>/dev/null || true; fi",
  },
  {
    name: "unmount what pods mounted",
    command: "grep -o ' /var/lib/kubelet/[^ ]*' /proc/mounts | sort -r | xargs -r -n1 umount -l || true",
  },
];

/** Takes the node off this host. Returns what went wrong, or undefined when all is clean. */
export async function releaseHost(options: {
  clock: Clock;
  log?: (text: string) => void;
  root?: string;
  run?: typeof runCommand;
}): Promise<string | undefined> {
  const run = options.run ?? runCommand;
  for (const step of STEPS) {
    const result = await run(step.command, { clock: options.clock, timeoutMs: TIMEOUT_MS });
    options.log?.(`$ ${step.name}\n${redact(result.output)}`);
    if (result.exitCode !== 0)
      return `${step.name} ended with code ${result.exitCode}: ${redact(result.output).trim().split("\n").at(-1) ?? ""}`;
  }
  for (const folder of LEFTOVERS) await rm(`${options.root ?? ""}${folder}`, { recursive: true, force: true });
  return undefined;
}
