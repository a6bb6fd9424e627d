import type { Node } from "./node.ts";

/** Folders of the owner: files are compared by name, size and mode. */
const OWNERS = "/etc /opt /root /home /srv /usr/local";
/** Folders of nodes, of which the empty folder itself is no harm. */
const NODES =
  "/var/lib/kubelet /var/lib/cni /var/lib/etcd /var/log/pods /var/log/containers /run/kubeadm /run/cluster-api /run/flannel";
const LINE = "-printf '%p %y %m %s\\n' 2>/dev/null | sed 's/ d \\([0-9]*\\) [0-9]*$/ d \\1/' | sort";

/** One section of what a host is, and the command that lists it, a line for each thing. */
const SECTIONS: Readonly<Record<string, string>> = {
  process: "ps -eo comm= | grep -vxE 'bash|sh|ps|grep|sort|sleep' | sort -u",
  mount: "cut -d' ' -f2 /proc/mounts | sort",
  "iptables rule":
    "iptables-save 2>/dev/null | grep -e ^- -e '^:[A-Z]*-'; ip6tables-save 2>/dev/null | grep -e ^- -e '^:[A-Z]*-'",
  // Those that iptables itself makes are empty without the rules above.
  "nft table": "nft list tables 2>/dev/null | grep -vE ' (filter|nat|mangle|raw)$'",
  interface: "ls /sys/class/net",
  address: "ip -o addr show scope global | awk '{print $2, $4}'",
  route: "ip -o route; ip -o rule",
  netns: "ip netns list; find /run/netns /var/run/netns /run/docker/netns -mindepth 1 2>/dev/null",
  container: "ctr -n k8s.io containers list -q; ctr -n k8s.io tasks list -q",
  image: "ctr -n k8s.io images list -q",
  cgroup: "find /sys/fs/cgroup -type d \\( -name 'kubepods*' -o -name 'cri-containerd*' \\) 2>/dev/null",
  file: `find ${OWNERS} -xdev -not -name '*.pyc' ${LINE}; find ${NODES} -mindepth 1 ${LINE}`,
  unit: "systemctl list-unit-files --no-legend --no-pager 2>/dev/null | awk '{print $1, $2}' | sort",
  note: "ls /var/lib/capstan-host 2>/dev/null | grep -e work -e footprint -e uninstall -e install",
};

/** What a host is right now, as far as a node could change it. */
export type HostState = Readonly<Record<string, readonly string[]>>;

/** Looks at everything that a node leaves behind on a host if it is not taken off properly. */
export async function stateOfHost(node: Node): Promise<HostState> {
  const script = Object.entries(SECTIONS).map(([name, command]) => `echo '=== ${name}'; { ${command}; } || true`);
  const text = await node.must(["bash", "-c", script.join("\n")]);
  const parts = text.split(/^=== /m).slice(1);
  return Object.fromEntries(
    parts.map((part) => {
      const [name = "", ...lines] = part.split("\n");
      return [name, lines.filter(Boolean)];
    }),
  );
}

/** What a host has that it had not before, and what it lost. Programs that were there and have ended are not missed. */
export function changesOf(before: HostState, after: HostState): string[] {
  return Object.keys(SECTIONS).flatMap((name) => {
    const [old, now] = [before[name] ?? [], after[name] ?? []];
    const [known, present] = [new Set(old), new Set(now)];
    const left = now.filter((line) => !known.has(line)).map((line) => `left: ${name} ${line}`);
    const lost = old.filter((line) => !present.has(line)).map((line) => `lost: ${name} ${line}`);
    return name === "process" ? left : [...left, ...lost];
  });
}
