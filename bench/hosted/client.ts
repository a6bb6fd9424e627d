import { readFileSync } from "node:fs";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport, kindRef, kubeconfigFromText } from "@capstan/runtime";

const SECRET = kindRef({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });
const CLUSTER = kindRef({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  namespaced: true,
});
const POLL_MS = 20;

/** The management API as a program sees it: no kubectl has to start for what is measured. */
export class Management {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async connect(kubeconfigFile: string): Promise<Management> {
    const config = await kubeconfigFromText(readFileSync(kubeconfigFile, "utf8"), { clock: systemClock });
    const transport = httpTransport(config, { clock: systemClock });
    return new Management(new Client(transport, { fieldManager: "bench", clock: systemClock }));
  }

  /** A Cluster and its HostedControlPlane of one name. */
  async create(name: string, placement: "Process" | "Embedded"): Promise<void> {
    const metadata = { name, namespace: "default" };
    const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name };
    await this.#client.create({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { ...metadata },
      spec: { controlPlaneRef },
    });
    await this.#client.create({
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "HostedControlPlane",
      metadata: { ...metadata },
      spec: { version: "v1.37.1", placement: { type: placement } },
    });
  }

  /** Resolves when the kubeconfig is published, which it is when the API answers. */
  async untilReady(name: string): Promise<void> {
    await poll(
      async () => (await this.#client.get(SECRET, { namespace: "default", name: `${name}-kubeconfig` })) !== undefined,
    );
  }

  /** Resolves when the Cluster is Available: its API holds what nodes need to join. */
  async untilAvailable(name: string): Promise<void> {
    await poll(async () => {
      const cluster = (await this.#client.get(CLUSTER, { namespace: "default", name })) as
        | { status?: { conditions?: { type: string; status: string }[] } }
        | undefined;
      return (
        cluster?.status?.conditions?.some(({ type, status }) => type === "Available" && status === "True") === true
      );
    });
  }

  /** How many Clusters are Available. */
  async countAvailable(): Promise<number> {
    const { items } = await this.#client.list(CLUSTER, { namespace: "default" });
    return (items as { status?: { conditions?: { type: string; status: string }[] } }[]).filter(({ status }) =>
      status?.conditions?.some((condition) => condition.type === "Available" && condition.status === "True"),
    ).length;
  }

  async remove(name: string): Promise<void> {
    const key = { namespace: "default", name };
    const cluster = await this.#client.get(CLUSTER, key);
    if (cluster === undefined) return;
    await this.#client.delete(cluster);
    await poll(async () => (await this.#client.get(CLUSTER, key)) === undefined);
  }
}

async function poll(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error("not within 120 s");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
