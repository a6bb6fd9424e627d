import { createHash } from "node:crypto";
import { isReason, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import type { Client, Kind } from "@capstan/runtime";
import {
  Deployment,
  HOSTED_LABEL,
  PersistentVolumeClaim,
  Pod,
  type PodController,
  type PodStatus,
  Service,
  StatefulSet,
} from "@capstan/workloads";

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

/** Simulates the controllers and kubelets of a cluster without nodes, so that placements can be tested. Each step does all pending work. */
export class PodRunner {
  readonly #client: Client;
  /** Whether a kube-controller-manager makes the pods, so that only the nodes are played. */
  readonly #real: boolean;
  /** Status of a pod by name, or of all of a component by label `app.kubernetes.io/component`; ready unless said otherwise. */
  readonly statuses = new Map<string, PodStatus>();
  /** How a pod fares by what it is made of; goes before what is set by name. */
  fate: (pod: Pod) => PodStatus | undefined = () => undefined;
  /** Names of pods that were handed a backup to restore. */
  readonly received = new Set<string>();
  /** Names of pods whose status stays as it is. */
  readonly keep = new Set<string>();
  #addresses = 1;
  /** What claims are told. */
  claimPhase = "Bound";

  constructor(client: Client, options: { controllerManager: boolean }) {
    this.#client = client;
    this.#real = options.controllerManager;
  }

  async step(): Promise<void> {
    if (!this.#real) {
      for (const kind of [Deployment, StatefulSet])
        for (const each of await this.#ours(kind)) await this.#roll(each as Controller);
      await this.#collectGarbage();
    }
    for (const pod of await this.#ours(Pod)) await this.#run(pod);
    for (const service of await this.#ours(Service)) await this.#balance(service);
  }

  /** What a load balancer does: the Service gets an address of its own. */
  async #balance(service: Service): Promise<void> {
    if (service.spec?.type !== "LoadBalancer" || service.status?.loadBalancer?.ingress !== undefined) return;
    const ip = `10.200.0.${this.#addresses++}`;
    await this.#client.patchStatus(service, { status: { loadBalancer: { ingress: [{ ip }] } } });
  }

  async #ours<T extends KubeObject>(kind: Kind<T>): Promise<T[]> {
    return (await this.#client.list(kind, { labelSelector: HOSTED_LABEL })).items;
  }

  /** What a node does: the pod gets the status it is to have. */
  async #run(pod: Pod): Promise<void> {
    const component = pod.metadata.labels?.["app.kubernetes.io/component"] ?? "";
    const name = pod.metadata.name ?? "";
    const own = component === "etcd-restore" ? (this.received.has(name) ? SUCCEEDED : RECEIVING) : undefined;
    const status = own ?? this.fate(pod) ?? this.statuses.get(name) ?? this.statuses.get(component) ?? READY;
    const same = (a: PodStatus, b: PodStatus): boolean =>
      a.phase === b.phase && JSON.stringify(a.conditions ?? []) === JSON.stringify(b.conditions ?? []);
    if (same(pod.status ?? {}, status)) return;
    if (pod.metadata.deletionTimestamp !== undefined || this.keep.has(name)) return;
    try {
      await this.#client.patchStatus(pod, { status: { ...status } });
    } catch (error) {
      // A real kube-controller-manager may have taken the pod away since it was listed.
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
