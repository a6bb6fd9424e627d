import { createHash, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "./run-command.ts";
import type { RealKubernetes } from "./start-kube-apiserver.ts";

const token = "abcdef.0123456789abcdef";

/** How nodes of a control plane made by hand are configured. */
export interface JoinOptions {
  readonly podSubnet?: string;
  /** kube-proxy's mode, nftables by default. */
  readonly proxyMode?: "iptables" | "nftables";
}

/**
 * Puts everything into a real control plane that `kubeadm join` needs, with kubeadm's own phases, plus CoreDNS and kube-proxy: the
 * yardstick that our hosted control planes are measured with. Gives back the command for the nodes.
 */
export async function prepareForJoin(real: RealKubernetes, options: JoinOptions = {}): Promise<string[]> {
  const endpoint = `${real.host}:${real.port}`;
  const version = (await mustRun(join(real.bin, "kubeadm"), ["version", "-o", "short"])).trim();
  const config = join(real.dir, "join.yaml");
  // certificatesDir ends up in the nodes' kubelet configuration, so it is the nodes' folder and not ours.
  writeFileSync(
    config,
    `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: ${real.host}, bindPort: ${real.port}}
nodeRegistration: {name: real}
bootstrapTokens:
  - token: ${token}
    groups: ["system:bootstrappers:kubeadm:default-node-token"]
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: ${version}
controlPlaneEndpoint: ${endpoint}
certificatesDir: /etc/kubernetes/pki
networking: {podSubnet: ${options.podSubnet ?? "10.244.0.0/16"}, serviceSubnet: 10.96.0.0/16}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
failCgroupV1: false
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ${options.proxyMode ?? "nftables"}
# nf_conntrack_max cannot be written inside a network namespace.
conntrack: {maxPerCore: 0, min: 0}
`,
  );
  const phase = (...args: string[]): Promise<string> =>
    mustRun(join(real.bin, "kubeadm"), [
      "init",
      "phase",
      ...args,
      `--config=${config}`,
      `--kubeconfig=${real.kubeconfigFile}`,
    ]);
  // No phase makes this binding, and without it the group of admin.conf can do nothing.
  const binding = ["create", "clusterrolebinding", "kubeadm:cluster-admins", "--clusterrole=cluster-admin"];
  await mustRun(join(real.bin, "kubectl"), [...binding, "--group=kubeadm:cluster-admins"], {
    env: { KUBECONFIG: real.kubeconfigFile },
  });
  await phase("upload-config", "all");
  await phase("bootstrap-token", "--skip-token-print");
  await phase("addon", "all");
  await untilSigned(real);
  return ["kubeadm", "join", endpoint, "--token", token, "--discovery-token-ca-cert-hash", publicKeyPin(real.caFile)];
}

/** The controller manager signs cluster-info a moment later; a node that asks before that waits 5 s for its next try. */
async function untilSigned(real: RealKubernetes): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { stdout } = await real.kubectl("-n", "kube-public", "get", "configmap", "cluster-info", "-o", "json");
    if (stdout.includes(`jws-kubeconfig-${token.split(".")[0]}`)) return;
    if (Date.now() > deadline)
      throw new Error("the controller manager has not signed kube-public/cluster-info in 30 s");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** kubeadm's pin of a CA: the SHA-256 of its public key. */
function publicKeyPin(caFile: string): string {
  const key = new X509Certificate(readFileSync(caFile)).publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}
