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
 * half a minute) and kept in the cache under a hash of everything that goes into it. Kubernetes itself is not in it, see Lab.
 */
export async function ensureRootfs(options: RootfsOptions = {}): Promise<string> {
  const included = [...packages, ...(options.extraPackages ?? [])].toSorted();
  const key = createHash("sha256")
    .update(JSON.stringify([suite, included, masked, files]))
    .digest("hex")
    .slice(0, 12);
  const rootfs = join(cacheDir(), "e2e", `rootfs-${key}`);
  if (existsSync(rootfs)) return rootfs;

  const temporary = `${rootfs}.${process.pid}`;
  mkdirSync(dirname(temporary), { recursive: true });
  try {
    const mirror = process.env["CAPSTAN_DEBIAN_MIRROR"];
    await mustRun("debootstrap", [
      "--variant=minbase",
      `--include=${included.join(",")}`,
      suite,
      temporary,
      ...(mirror === undefined ? [] : [mirror]),
    ]);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(temporary, path)), { recursive: true });
      writeFileSync(join(temporary, path), text);
    }
    await mustRun("chroot", [temporary, "systemctl", "enable", "kubelet.service", "containerd.service"]);
    await mustRun("chroot", [temporary, "systemctl", "mask", ...masked]);
    await mustRun("chroot", [temporary, "apt-get", "clean"]);
    // Every node gets an identity of its own at its first boot.
    rmSync(join(temporary, "etc/machine-id"), { force: true });
    renameSync(temporary, rootfs);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Somebody else may have finished the same one in the meantime.
    if (!existsSync(rootfs)) throw error;
  }
  return rootfs;
}
