import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDir, mustRun } from "../../real-kubernetes/index.ts";

const suite = "bookworm";

/** A node's service manager, container runtime, and what kubelet and kube-proxy call; busybox is for the test image. */
const packages = [
  "busybox",
  "ca-certificates",
  "conntrack",
  "containerd",
  "containernetworking-plugins",
  "curl",
  "dbus",
  "ebtables",
  "ethtool",
  "hostname",
  "iproute2",
  "iptables",
  "iputils-ping",
  "kmod",
  "mount",
  "nftables",
  "openssl",
  "procps",
  "runc",
  "socat",
  "systemd",
  "systemd-sysv",
  "util-linux",
];

/** Units that need hardware, a console or a kernel of their own. */
const masked = [
  "console-getty.service",
  "dev-hugepages.mount",
  "getty.target",
  "sys-kernel-debug.mount",
  "sys-kernel-tracing.mount",
  "systemd-logind.service",
  "systemd-modules-load.service",
  "systemd-networkd.service",
  "systemd-resolved.service",
  "systemd-timesyncd.service",
  "systemd-udev-trigger.service",
  "systemd-udevd.service",
];

/** Files on top of Debian's: the kubelet as kubeadm expects it, containerd without CAP_SYS_RESOURCE. */
const files: Readonly<Record<string, string>> = {
  // kubeadm starts the unit once it has written the configuration; until then a start would only fail in a loop.
  "etc/systemd/system/kubelet.service": `[Unit]
Description=kubelet: the Kubernetes node agent
Wants=network-online.target
After=network-online.target containerd.service
ConditionPathExists=/var/lib/kubelet/config.yaml
StartLimitIntervalSec=0

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`,
  "etc/systemd/system/containerd.service.d/10-node.conf": "[Service]\nOOMScoreAdjust=0\n",
};

/** What makes one root file system differ from another. */
export interface RootfsOptions {
  /** Debian packages beyond what every node has, e.g. cloud-init. */
  readonly extraPackages?: readonly string[];
}

/**
 * The read-only root file system that all nodes share: Debian with systemd, containerd and runc, made once by debootstrap (about
 * a minute) and kept in the cache under a hash of everything that goes into it. Kubernetes itself is not in it, see Lab. With extra
 * packages it is a copy of the plain one into which apt installs them.
 */
export async function ensureRootfs(options: RootfsOptions = {}): Promise<string> {
  const plain = await once([suite, packages, masked, files], async (target) => {
    await debootstrap(target);
    await configure(target);
  });
  const extra = [...(options.extraPackages ?? [])].toSorted();
  if (extra.length === 0) return plain;
  return await once([plain, extra], async (target) => {
    await mustRun("cp", ["--archive", "--reflink=auto", plain, target]);
    const inside = (...command: string[]): Promise<string> =>
      mustRun("chroot", [target, ...command], { env: { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" } });
    await inside("apt-get", "update", "-qq");
    await inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...extra);
    await inside("apt-get", "clean");
  });
}

/** Makes a folder in the cache under the hash of what it is made from, unless it is there; it appears whole or not at all. */
async function once(inputs: unknown, make: (target: string) => Promise<void>): Promise<string> {
  const key = createHash("sha256").update(JSON.stringify(inputs)).digest("hex").slice(0, 12);
  const folder = join(cacheDir(), "e2e", `rootfs-${key}`);
  if (existsSync(folder)) return folder;
  const temporary = `${folder}.${process.pid}`;
  mkdirSync(dirname(temporary), { recursive: true });
  try {
    await make(temporary);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Somebody else may have finished the same one in the meantime.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

async function debootstrap(target: string): Promise<void> {
  const mirror = process.env["CAPSTAN_DEBIAN_MIRROR"];
  const include = `--include=${packages.join(",")}`;
  await mustRun("debootstrap", [
    "--variant=minbase",
    include,
    suite,
    target,
    ...(mirror === undefined ? [] : [mirror]),
  ]);
}

async function configure(target: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  }
  await mustRun("chroot", [target, "systemctl", "enable", "kubelet.service", "containerd.service"]);
  await mustRun("chroot", [target, "systemctl", "mask", ...masked]);
  await mustRun("chroot", [target, "apt-get", "clean"]);
  // Every node gets an identity of its own at its first boot.
  rmSync(join(target, "etc/machine-id"), { force: true });
}
