/** Debian release that nodes are made from. */
export const DEBIAN_SUITE = "bookworm";

/** A node's service manager, container runtime, and what kubelet and kube-proxy call; busybox is for images of tests. */
export const DEBIAN_PACKAGES: readonly string[] = [
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

/** Units that need hardware, a console or a kernel of their own: masked on every machine that shares its host's kernel. */
export const MASKED_UNITS: readonly string[] = [
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

/** Further units that must not run where a container runtime has made network, mounts and terminals already. */
export const MASKED_IN_PODS: readonly string[] = [
  "iscsid.service",
  "iscsid.socket",
  "open-iscsi.service",
  "systemd-networkd.socket",
  "systemd-networkd-wait-online.service",
  "systemd-remount-fs.service",
  "systemd-sysctl.service",
  "systemd-udevd-control.socket",
  "systemd-udevd-kernel.socket",
];

/** Files in addition to Debian's: the kubelet as kubeadm expects it, containerd without CAP_SYS_RESOURCE. */
export const NODE_FILES: Readonly<Record<string, string>> = {
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

/** Files of machines that are pods. */
export const POD_FILES: Readonly<Record<string, string>> = {
  // Containers that ignore SIGTERM would hold up the end of the machine for longer than the grace period of its pod.
  "etc/systemd/system.conf.d/10-pod.conf": "[Manager]\nDefaultTimeoutStopSec=10s\n",
  // The kubelet refuses cgroup v1 by default since Kubernetes 1.35.
  "etc/systemd/system/kubelet.service.d/10-image.conf": `[Service]
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml --config-dir=/usr/share/capstan/kubelet.conf.d"
`,
  "usr/share/capstan/kubelet.conf.d/10-cgroup-v1.conf": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
`,
};

/** Where a node image has archives of images, which are imported before the node starts: a volume hides containerd's own folder. */
export const IMAGES_FOLDER = "usr/share/capstan/images";

/** Where kubeadm itself is if the script below takes its place. */
export const REAL_KUBEADM = "usr/local/lib/kubeadm";

/**
 * A kubeadm that suits machines that share the kernel of their host. Since 1.35 kubeadm and kubelets refuse cgroup v1, and kube-proxy may
 * not write the host's limit of connections. What a user would set in a KubeadmConfig is set here, unless it is set there.
 */
export const KUBEADM_FILES: Readonly<Record<string, string>> = {
  "usr/local/bin/kubeadm": `#!/bin/sh
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
  case "$1 $2" in
    "init phase"*) ;;
    init*|join*) set -- "$@" --ignore-preflight-errors=SystemVerification ;;
  esac
fi
if [ "$1 $2" = "init --config" ]; then
  for kind in kubelet kubeproxy; do
    grep -q "$kind.config.k8s.io" "$3" || { echo; cat "/usr/local/lib/kubeadm-$kind.yaml"; } >> "$3"
  done
fi
exec /${REAL_KUBEADM} "$@"
`,
  "usr/local/lib/kubeadm-kubelet.yaml": `---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
`,
  "usr/local/lib/kubeadm-kubeproxy.yaml": `---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack: { maxPerCore: 0, min: 0 }
`,
};
