import { createHash } from "node:crypto";
import { isReason, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import type { Client, Kind } from "@capstan/runtime";
import { HOSTED_LABEL } from "../pods/host-cluster.ts";
import {
  Deployment,
  PersistentVolumeClaim,
  Pod,
  type PodController,
  type PodStatus,
  Service,
  StatefulSet,
} from "../pods/kinds.ts";

interface Controller extends PodController {
  spec: {
    replicas?: number;
    selector: { matchLabels: Record<string, string> };
    template: { metadata: KubeObject["metadata"]; spec: object };
    volumeClaimTemplates?: KubeObject[];
    updateStrategy?: { type: string };
  };
}

/** What StatefulSets mark their pods with; here Deployments too. */
const REVISION_LABEL = "controller-revision-hash";
const SUCCEEDED: PodStatus = { phase: "Succeeded" };
const RECEIVING: PodStatus = {
  phase: "Pending",
  conditions: [{ type: "Initialized", status: "False" }],
  initContainerStatuses: [{ name: "receive", state: { running: {} } }],
};
const READY: PodStatus = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

/** What a PodRunner simulates. */
export interface PodRunnerOptions {
  /** Whether a kube-controller-manager creates the pods, so that only the nodes are simulated. */
  controllerManager: boolean;
  /** Objects that it takes care of; those of HostCluster unless said otherwise. */
  labelSelector?: string;
  /** Whether an init container of a pod waits for bytes that a client sends to it; no pod unless said otherwise. */
  receives?: (pod: Pod) => boolean;
}

/** Simulates the controllers and kubelets of a cluster without nodes. Each step does all pending work. */
export class PodRunner {
  readonly #client: Client;
  readonly #options: PodRunnerOptions;
  /** Status of a pod by name, or of all of a component by label `app.kubernetes.io/component`; ready unless said otherwise. */
  readonly statuses = new Map<string, PodStatus>();
  /** Status of a pod by its content; takes precedence over what is set by name. */
  fate: (pod: Pod) => PodStatus | undefined = () => undefined;
  /** Names of pods that received the bytes that they waited for. */
  readonly received = new Set<string>();
  /** Names of pods whose status stays as it is. */
  readonly keep = new Set<string>();
  #addresses = 1;
  /** Whether there is an implementation of Services of type LoadBalancer. */
  balances = true;
  /** Phase of new claims. */
  claimPhase = "Bound";

  constructor(client: Client, options: PodRunnerOptions) {
    this.#client = client;
    this.#options = options;
  }

  async step(): Promise<void> {
    if (!this.#options.controllerManager) {
      for (const kind of [Deployment, StatefulSet])
        for (const each of await this.#ours(kind)) await this.#roll(each as Controller);
      await this.#collectGarbage();
    }
    for (const pod of await this.#ours(Pod)) await this.#run(pod);
    if (this.balances) for (const service of await this.#ours(Service)) await this.#balance(service);
  }

  /** What a load balancer does: the Service gets an address of its own. */
  async #balance(service: Service): Promise<void> {
    if (service.spec?.type !== "LoadBalancer" || service.status?.loadBalancer?.ingress !== undefined) return;
    const ip = `10.200.0.${this.#addresses++}`;
    await this.#client.patchStatus(service, { status: { loadBalancer: { ingress: [{ ip }] } } });
  }

  async #ours<T extends KubeObject>(kind: Kind<T>): Promise<T[]> {
    return (await this.#client.list(kind, { labelSelector: this.#options.labelSelector ?? HOSTED_LABEL })).items;
  }

  /** What a node does: the pod gets the status it is to have. */
  async #run(pod: Pod): Promise<void> {
    const component = pod.metadata.labels?.["app.kubernetes.io/component"] ?? "";
    const name = pod.metadata.name ?? "";
    const receives = this.#options.receives?.(pod) === true;
    const own = receives ? (this.received.has(name) ? SUCCEEDED : RECEIVING) : undefined;
    const status = own ?? this.fate(pod) ?? this.statuses.get(name) ?? this.statuses.get(component) ?? READY;
    const same = (a: PodStatus, b: PodStatus): boolean =>
      a.phase === b.phase && JSON.stringify(a.conditions ?? []) === JSON.stringify(b.conditions ?? []);
    if (same(pod.status ?? {}, status)) return;
    if (pod.metadata.deletionTimestamp !== undefined || this.keep.has(name)) return;
    try {
      await this.#client.patchStatus(pod, { status: { ...status } });
    } catch (error) {
      // A real kube-controller-manager may have deleted the pod since it was listed.
      if (!isReason(error, "NotFound", "Conflict")) throw error;
    }
  }

  /** What the controllers of Deployments and StatefulSets do, in one go. */
  async #roll(controller: Controller): Promise<void> {
    const { metadata, spec } = controller;
    const revision = createHash("sha256").update(JSON.stringify(spec.template)).digest("hex").slice(0, 8);
    const stateful = spec.volumeClaimTemplates !== undefined || controller.kind === "StatefulSet";
    const wanted = spec.replicas ?? 1;
    const names = Array.from({ length: wanted }, (_, index) =>
      stateful ? `${metadata.name}-${index}` : `${metadata.name}-${revision}-${index}`,
    );
    const pods = (await this.#ours(Pod)).filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === metadata.uid);
    const isCurrent = (pod: Pod): boolean => pod.metadata.labels?.[REVISION_LABEL] === revision;
    for (const pod of pods) {
      const old = !names.includes(pod.metadata.name ?? "") || (stateful && !isCurrent(pod));
      const replaced = pods.filter((each) => isCurrent(each) && isReady(each)).length >= wanted;
      // As the real one: a pod that is not ready keeps its StatefulSet from replacing it.
      const stays = !isReady(pod) || spec.updateStrategy?.type === "OnDelete";
      const stuck = stateful && names.includes(pod.metadata.name ?? "") && stays;
      if (old && !stuck && (stateful || replaced)) await this.#client.delete(pod, { gracePeriodSeconds: 0 });
    }
    for (const name of names) {
      if (stateful) await this.#claims(controller, name);
      if ((await this.#client.get(Pod, { namespace: metadata.namespace, name })) === undefined)
        await this.#client.create(podOf(controller, name, revision));
    }
    const now = (await this.#ours(Pod)).filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === metadata.uid);
    const status = {
      observedGeneration: metadata.generation,
      replicas: now.length,
      readyReplicas: now.filter(isReady).length,
      updatedReplicas: now.filter(isCurrent).length,
      ...(stateful ? { currentRevision: revision, updateRevision: revision } : {}),
    };
    const same = Object.entries(status).every(
      ([key, value]) => (controller.status as Record<string, unknown> | undefined)?.[key] === value,
    );
    if (!same) await this.#client.patchStatus(controller, { status });
  }

  async #claims(controller: Controller, pod: string): Promise<void> {
    for (const template of controller.spec.volumeClaimTemplates ?? []) {
      const { namespace } = controller.metadata;
      const name = `${template.metadata.name}-${pod}`;
      if ((await this.#client.get(PersistentVolumeClaim, { namespace, name })) !== undefined) continue;
      const claim = { ...template, metadata: { ...template.metadata, namespace: namespace ?? "", name } };
      const made = await this.#client.create({ ...claim, apiVersion: "v1", kind: "PersistentVolumeClaim" });
      await this.#client.patchStatus(made, { status: { phase: this.claimPhase } });
    }
  }

  async #collectGarbage(): Promise<void> {
    const owners = new Set<string | undefined>();
    for (const kind of [Deployment, StatefulSet])
      for (const each of await this.#ours(kind)) owners.add(each.metadata.uid);
    for (const pod of await this.#ours(Pod))
      if (pod.metadata.ownerReferences !== undefined && !owners.has(pod.metadata.ownerReferences[0]?.uid))
        await this.#client.delete(pod, { gracePeriodSeconds: 0 });
  }
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

function podOf(controller: Controller, name: string, revision: string): Unstructured {
  const { metadata, spec } = controller;
  const { template } = spec;
  const volumes = (spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name ?? "",
    persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}` },
  }));
  const own = template.spec as { volumes?: object[] };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...template.metadata,
      namespace: metadata.namespace ?? "",
      name,
      labels: { ...template.metadata.labels, [REVISION_LABEL]: revision },
      ownerReferences: [
        {
          apiVersion: controller.apiVersion,
          kind: controller.kind,
          name: metadata.name ?? "",
          uid: metadata.uid ?? "",
          controller: true,
        },
      ],
    },
    spec: { ...own, volumes: [...(own.volumes ?? []), ...volumes] },
  };
}
