import { type Clock, formatTime, isReason, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { CLUSTER_NAME_LABEL, Machine } from "@capstan/capi";
import { Client, kindRef } from "@capstan/runtime";
import { HostNode, nodeOf, Pod, type PodStatus } from "@capstan/workloads";
import { NETWORK_POLICIES, PodRunner } from "@capstan/workloads/testing";

const NodeKind = kindRef<KubeObject>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const NAMESPACE = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;
const STARTED = { name: "node", ready: true, started: true, restartCount: 0, state: { running: {} } };

/** Pods of the management cluster that are machines: the shared pod runner starts them, and each registers its Node. */
export class MachinePods {
  readonly runner: PodRunner;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #namespace: string;

  private constructor(client: Client, clock: Clock, namespace: string) {
    this.#client = client;
    this.#clock = clock;
    this.#namespace = namespace;
    this.runner = new PodRunner(client, { controllerManager: true });
    this.runner.fate = statusOf;
  }

  /** Prepares an API server for them: its namespace allows privileged pods. */
  static async start(server: ApiServer, clock: Clock, namespace: string): Promise<MachinePods> {
    const client = new Client(server.admin(), { fieldManager: "kubelet", clock });
    await client.create(NETWORK_POLICIES);
    const labels = { "pod-security.kubernetes.io/enforce": "privileged" };
    if (namespace === "default") await client.patch({ kind: NAMESPACE, name: namespace }, { metadata: { labels } });
    else await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
    return new MachinePods(client, clock, namespace);
  }

  /** Runs what has to run; `workload` gives the clients of the clusters that machines join. */
  async step(workload: (cluster: string) => Client | undefined): Promise<void> {
    await this.#schedule();
    await this.runner.step();
    for (const pod of (await this.#client.list(Pod, { namespace: this.#namespace })).items) {
      const cluster = workload(pod.metadata.labels?.[CLUSTER_NAME_LABEL] ?? "");
      if (cluster !== undefined && pod.status?.phase === "Running") await this.#join(pod, cluster);
    }
  }

  /** What a scheduler does, where there are outer nodes: the one with the fewest pods that is not cordoned. */
  async #schedule(): Promise<void> {
    const nodes = (await this.#client.list(HostNode)).items.filter(({ spec }) => spec?.unschedulable !== true);
    if (nodes.length === 0) return;
    const pods = (await this.#client.list(Pod, { namespace: this.#namespace })).items;
    const counts = new Map(nodes.map(({ metadata }) => [metadata.name ?? "", 0]));
    for (const { spec } of pods) counts.set(spec?.nodeName ?? "", (counts.get(spec?.nodeName ?? "") ?? 0) + 1);
    const names = nodes.map(({ metadata }) => metadata.name ?? "");
    for (const pod of pods.filter(({ spec }) => spec?.nodeName === undefined)) {
      const { namespace = "", name = "" } = pod.metadata;
      const [node = ""] = names.toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
      counts.set(node, (counts.get(node) ?? 0) + 1);
      const target = { kind: "Node", name: node };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { namespace, name }, target };
      await this.#client.createSubresource({ kind: Pod, namespace, name }, "binding", binding);
    }
  }

  async #join(pod: Pod, cluster: Client): Promise<void> {
    const { namespace, name = "" } = pod.metadata;
    if ((await cluster.get(NodeKind, { name })) !== undefined) return;
    const machine = await this.#client.get(Machine, { namespace, name });
    const node = nodeOf({
      name,
      // The kubelet of a pod is started with it.
      providerID: `kubernetes://${namespace}/${name}`,
      version: machine?.spec.version ?? "",
      addresses: [{ type: "InternalIP", address: pod.status?.podIP ?? "" }],
      capacity: { cpu: "1", memory: "1Gi", pods: "110" },
      failureDomain: undefined,
      taints: [],
      since: formatTime(this.#clock.now()),
    });
    try {
      const { status, ...rest } = node;
      const made = await cluster.create(rest as Unstructured);
      await cluster.patchStatus(made, { status: status ?? {} });
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
    }
  }
}

function statusOf(pod: Pod): PodStatus {
  const podIP = `10.77.${(pod.metadata.name ?? "").length % 250}.${(pod.metadata.uid ?? "").charCodeAt(0)}`;
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [STARTED],
  };
}
