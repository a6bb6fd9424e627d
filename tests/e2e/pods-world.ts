import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Capstan } from "./capstan/instance.ts";
import {
  controlPlaneImages,
  ensureNodeImage,
  eventually,
  type Image,
  Lab,
  type Node,
  timed,
  workerImages,
} from "./harness/index.ts";
import { HostedWorld } from "./hosted-world.ts";

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const VXLAN_PORT = 4789;

/** An outer cluster with real nodes, and an inner one whose machines are pods on them. */
export class PodsWorld {
  readonly lab: Lab;
  readonly capstan: Capstan;
  readonly outer: HostedWorld;
  readonly inner: HostedWorld;
  readonly nodes: readonly Node[];

  private constructor(lab: Lab, capstan: Capstan, nodes: readonly Node[]) {
    this.lab = lab;
    this.capstan = capstan;
    this.nodes = nodes;
    this.outer = new HostedWorld(capstan, lab);
    this.inner = new HostedWorld(capstan, lab, "inner");
  }

  /** Starts the outer cluster, with its nodes Ready and every image that machines need. */
  static async start(names: readonly string[]): Promise<PodsWorld> {
    const lab = await Lab.open();
    const nodes = names.map((name) => lab.addNode(name));
    let capstan: Capstan | undefined;
    try {
      const image = await timed("node image", () => ensureNodeImage(lab.bin, lab.images));
      // A control plane is only on the first one.
      for (const name of [...workerImages, ...controlPlaneImages])
        nodes[0]?.writeFile(`/opt/images/${name}.tar`, readFileSync(lab.images[name].archive));
      capstan = await timed("capstan up", () => Capstan.start(lab.gateway));
      const world = new PodsWorld(lab, capstan, nodes);
      await world.#startOuter(image);
      return world;
    } catch (error) {
      await capstan?.close();
      await lab.close();
      throw error;
    }
  }

  async #startOuter(image: Image): Promise<void> {
    const { capstan, outer, nodes, lab } = this;
    // The example starts at the minor version before; the nodes have the images of this one only.
    const hosted = readFileSync(file("../../docs/examples/hosted.yaml"), "utf8").replace("v1.36.3", "v1.37.1");
    await capstan.kubectl("apply", "-f", file("hosted-kind.yaml"));
    await capstan.kubectlWithInput(hosted, "apply", "-f", "-");
    const images = [...workerImages, ...controlPlaneImages, "proxy-server" as const].map((name) => lab.images[name]);
    await timed("outer nodes booted, images imported", () =>
      Promise.all(nodes.map((node) => node.start().then(() => node.importImages([...images, image])))),
    );
    await timed("outer cluster Available", () => outer.available());
    await outer.connect();
    await outer.kubectl("apply", "-f", file("cni.yaml"));
    for (const node of nodes) await timed(`${node.name} joins`, () => outer.join(node));
    await timed("outer nodes Ready", () =>
      eventually("Ready nodes", async () => (await outer.readyNodes()) === nodes.length, { timeout: 120_000 }),
    );
  }

  /** Creates the pod network of an inner cluster: its nodes are on different outer nodes and share no layer 2 network. */
  async network(inner: HostedWorld, cidr: string): Promise<void> {
    const tunnel = `          env:\n            - name: VXLAN_PORT\n              value: "${VXLAN_PORT}"\n`;
    const text = readFileSync(file("cni.yaml"), "utf8")
      .replace("10.244.0.0/16", cidr)
      .replace("          env:\n", tunnel);
    await this.capstan.kubectlWithInput(text, "--kubeconfig", inner.kubeconfig, "apply", "-f", "-");
  }

  /** Names of the Machines of an inner cluster with these labels. */
  async machines(labels = "pool=stateless"): Promise<string[]> {
    const names = await this.capstan.kubectl(
      "get",
      "machines",
      "-l",
      labels,
      "-o",
      "jsonpath={.items[*].metadata.name}",
    );
    return names.split(" ").filter(Boolean);
  }

  /** Names of the pods that are machines. */
  async pods(): Promise<string[]> {
    const labels = "app.kubernetes.io/component=machine";
    const names = await this.outer.kubectl("get", "pods", "-l", labels, "-o", "jsonpath={.items[*].metadata.name}");
    return names.split(" ").filter(Boolean);
  }

  /** UIDs of the inner Nodes. */
  async nodeUids(): Promise<string[]> {
    const uids = await this.inner.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.uid}");
    return uids.split(" ").toSorted();
  }

  /** kill -9 of the manager, which then starts again. */
  async restartManager(): Promise<void> {
    await this.capstan.kill();
    await this.capstan.up();
  }

  /** A field of an object of the management cluster. */
  field(kind: string, name: string, query: string): Promise<string> {
    return this.capstan.kubectl("get", kind, name, "--ignore-not-found", "-o", `jsonpath=${query}`);
  }

  /** What explains a failure: machines with their conditions, pods and consoles. */
  async report(): Promise<string> {
    const parts = [
      () =>
        this.capstan.kubectl("get", "clusters,hcp,kubernetesclusters,kubernetesmachines,machines", "-A", "-o", "wide"),
      () => this.capstan.cli("why", "cluster/inner"),
      () => this.capstan.cli("why", "cluster/alone"),
      () => this.outer.kubectl("get", "pods", "-A", "-o", "wide"),
      () => this.outer.kubectl("logs", "-l", "app.kubernetes.io/component=machine", "--tail=12", "--prefix"),
      () => this.inner.kubectl("get", "nodes,pods", "-A", "-o", "wide"),
      async () => this.capstan.output.slice(-3000),
    ];
    const texts: string[] = [];
    for (const part of parts) texts.push(await part().catch(String));
    return texts.join("\n----\n");
  }

  async close(): Promise<void> {
    await this.capstan.close();
    await this.lab.close();
    this.outer.close();
    this.inner.close();
  }
}
