import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYamlDocuments } from "@capstan/apimachinery";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { eventually, type Node } from "./harness/index.ts";
import { AGENT, type KcpWorld } from "./kcp-world.ts";

const CNI = fileURLToPath(new URL("cni.yaml", import.meta.url));
const ARCH = process.arch === "x64" ? "amd64" : process.arch;
const CONFIG = "/run/kubeadm.yaml";
const ADMIN = "/etc/kubernetes/admin.conf";
const LONG = { timeout: 300_000 };

interface HostFile {
  readonly path: string;
  readonly content: string;
}

/** The cluster of `kcp.yaml` as a person makes it: the same files and settings on the same hosts, with kubeadm's own commands. */
export class KcpByHand {
  readonly #world: KcpWorld;
  readonly #files: readonly HostFile[];
  readonly #components: string;
  readonly #members: Node[] = [];
  #certificateKey = "";
  #kubeconfig = "";

  constructor(world: KcpWorld, version: string) {
    this.#world = world;
    const objects = parseYamlDocuments(world.manifest(version)) as {
      kind?: string;
      spec?: { kubeadmConfigSpec?: { files?: HostFile[] } };
    }[];
    const plane = objects.find(({ kind }) => kind === "KubeadmControlPlane");
    this.#files = plane?.spec?.kubeadmConfigSpec?.files ?? [];
    this.#components = this.#files.find(({ path }) => path.endsWith("/components.yaml"))?.content ?? "";
  }

  /** One control plane machine and the worker, both Ready. */
  async create(version: string): Promise<void> {
    const { hosts, controlPlaneHosts, worker } = this.#world;
    for (const host of hosts) await host.must(["systemctl", "stop", AGENT]);
    const [first] = controlPlaneHosts;
    if (first === undefined) throw new Error("no host");
    await this.#prepare(first, version);
    this.#certificateKey = (await first.must(["kubeadm", "certs", "certificate-key"])).trim();
    await this.#write(first, { path: CONFIG, content: this.#initConfiguration(first, version) });
    await first.must(["kubeadm", "init", "--config", CONFIG, "--upload-certs"], LONG);
    this.#members.push(first);
    this.#kubeconfig = await this.#world.saved("by-hand.kubeconfig", await first.must(["cat", ADMIN]));
    await this.kubectl("apply", "-f", CNI);
    await this.#install(worker, version);
    await worker.must(["sh", "-c", await this.#joinCommand(first, [])], LONG);
    await eventually(
      "two Ready Nodes",
      async () => {
        const lines = (await this.kubectl("get", "nodes", "--no-headers")).split("\n");
        return lines.filter((line) => /\sReady\s/.test(line)).length === 2;
      },
      LONG,
    );
  }

  /** One more control plane machine, on a host that has none. */
  async join(version: string): Promise<void> {
    const { controlPlaneHosts } = this.#world;
    const host = controlPlaneHosts.find((each) => !this.#members.includes(each));
    const [first] = this.#members;
    if (host === undefined || first === undefined) throw new Error("no free host");
    await this.#prepare(host, version);
    const more = ["--control-plane", "--certificate-key", this.#certificateKey];
    await host.must(["sh", "-c", await this.#joinCommand(first, more)], LONG);
    this.#members.push(host);
    await controlPlaneNodes((...args) => this.kubectl(...args), { [host.name]: version });
    await this.#world.voters(host, this.#members.length);
  }

  /** Replaces all control plane machines by those of another version, as a rollout with a surge of one does. */
  async roll(version: string): Promise<void> {
    const get = ["get", "configmap", "kubeadm-config", "--namespace=kube-system", "-o"];
    const before = await this.kubectl(...get, "jsonpath={.data.ClusterConfiguration}");
    const after = before.replace(/^kubernetesVersion: .*$/m, `kubernetesVersion: ${version}`);
    const patch = JSON.stringify({ data: { ClusterConfiguration: after } });
    await this.kubectl("patch", "configmap", "kubeadm-config", "--namespace=kube-system", "--type=merge", "-p", patch);
    for (const outdated of this.#members.slice()) {
      await this.join(version);
      await this.#remove(outdated);
    }
  }

  /** kubectl through the virtual IP. */
  async kubectl(...args: string[]): Promise<string> {
    const common = ["--kubeconfig", this.#kubeconfig, "--cache-dir", join(this.#world.lab.dir, "kube")];
    return await mustRun(join(kubernetesBin(), "kubectl"), [...common, "--request-timeout=20s", ...args]);
  }

  async #remove(host: Node): Promise<void> {
    const drain = ["--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=30s"];
    // Like a Machine with nodeDrainTimeoutSeconds: 30, it does not wait for longer.
    await this.kubectl("drain", host.name, ...drain).catch(() => undefined);
    await host.must(["kubeadm", "reset", "--force"], LONG);
    this.#members.splice(this.#members.indexOf(host), 1);
    const device = await this.#deviceOf(host);
    await host.must([
      "sh",
      "-c",
      `rm -rf /etc/cni/net.d/* /etc/keepalived; ip addr del ${this.#world.endpoint}/32 dev ${device} 2>/dev/null || true`,
    ]);
    await eventually("the deletion of the Node", async () => {
      await this.kubectl("delete", "node", host.name, "--ignore-not-found");
      return true;
    });
  }

  /** What the KubeadmControlPlane writes to a machine before kubeadm runs. */
  async #prepare(host: Node, version: string): Promise<void> {
    await this.#install(host, version);
    const device = await this.#deviceOf(host);
    for (const { path, content } of this.#files)
      await this.#write(host, { path, content: content.replaceAll("{{ .DefaultNetworkInterfaceName }}", device) });
  }

  async #install(host: Node, version: string): Promise<void> {
    const from = `/opt/kubernetes/${version}/bin/linux/${ARCH}`;
    await host.must(["sh", "-c", `install -m 755 ${from}/kubelet ${from}/kubeadm ${from}/kubectl /usr/local/bin/`]);
  }

  async #write(host: Node, { path, content }: HostFile): Promise<void> {
    await host.must(["sh", "-c", 'mkdir -p "$(dirname "$1")" && cat > "$1"', "sh", path], { input: content });
  }

  async #deviceOf(host: Node): Promise<string> {
    const shown = await host.must(["ip", "-o", "-4", "addr", "show", "to", `${host.address}/32`]);
    return shown.split(/\s+/)[1] ?? "eth0";
  }

  async #joinCommand(host: Node, more: readonly string[]): Promise<string> {
    const printed = await host.must(["kubeadm", "token", "create", "--print-join-command"]);
    return [printed.trim(), ...more, "--ignore-preflight-errors=SystemVerification"].join(" ");
  }

  #initConfiguration(host: Node, version: string): string {
    return `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
certificateKey: ${this.#certificateKey}
localAPIEndpoint: { advertiseAddress: ${host.address} }
nodeRegistration: { name: ${host.name}, ignorePreflightErrors: [SystemVerification] }
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: ${version}
controlPlaneEndpoint: ${this.#world.endpoint}:6443
networking: { serviceSubnet: 10.96.0.0/16, podSubnet: 10.244.0.0/16 }
${this.#components}`;
  }
}

/** Waits for control plane Nodes of these versions to be Ready. */
export async function controlPlaneNodes(
  kubectl: (...args: string[]) => Promise<string>,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  const path =
    '{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const selector = "node-role.kubernetes.io/control-plane";
  await eventually(
    `Ready: ${Object.keys(wanted).join(", ")}`,
    async () => {
      const lines = (await kubectl("get", "nodes", "-l", selector, "-o", `jsonpath=${path}`)).split("\n");
      return Object.entries(wanted).every(([name, version]) => lines.includes(`${name} ${version} True`));
    },
    LONG,
  );
}
