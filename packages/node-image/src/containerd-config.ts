/**
 * containerd's configuration on a node. `restrict_oom_score_adj` because the machine may lack CAP_SYS_RESOURCE, without which every
 * pod sandbox fails; the plugin folder is where Debian installs the CNI plugins.
 */
export function containerdConfig(sandboxImage: string): string {
  const cri = `plugins."io.containerd.grpc.v1.cri"`;
  return `version = 2
oom_score = 0

[${cri}]
  sandbox_image = "${sandboxImage}"
  restrict_oom_score_adj = true

[${cri}.cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "/etc/cni/net.d"

[${cri}.containerd]
  snapshotter = "overlayfs"

[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = true
`;
}
