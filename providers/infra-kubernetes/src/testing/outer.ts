import { type Clock, isReason, type Random, type Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { kindAdmissionPlugins } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { HOSTED_LABEL, Pod, type PodStatus, Service } from "@capstan/workloads";
import { NETWORK_POLICIES, PodRunner } from "@capstan/workloads/testing";
import { KUBERNETES_KINDS } from "../kinds/all.ts";
import { hexOf } from "../names.ts";

const STEP_MS = 500;

/** A management cluster that runs pods, in virtual time: its kubelets are simulated by the shared pod runner. */
export class Outer {
  readonly server: ApiServer;
  readonly client: Client;
  readonly runner: PodRunner;
  readonly #clock: Clock;
  #closed = false;
  #addresses = 0;

  private constructor(server: ApiServer, clock: Clock) {
    this.server = server;
    this.#clock = clock;
    this.client = new Client(server.admin(), { fieldManager: "test", clock });
    this.runner = new PodRunner(this.client, { controllerManager: true });
    this.runner.fate = running;
  }

  /** Starts one that serves these CRDs; its namespace `default` allows privileged pods. */
  static async start(deps: { clock: Clock; random: Random; crds: readonly Unstructured[] }): Promise<Outer> {
    const { clock, random } = deps;
    const admission = kindAdmissionPlugins(KUBERNETES_KINDS);
    const server = await createApiServer({ store: memoryStore(), clock, random, admission });
    await server.registerCrds([...deps.crds, NETWORK_POLICIES]);
    const outer = new Outer(server, clock);
    await outer.client.patch(
      { kind: NAMESPACE, name: "default" },
      { metadata: { labels: { "pod-security.kubernetes.io/enforce": "privileged" } } },
    );
    outer.#next();
    return outer;
  }

  /** Returns the names of all pods. */
  async pods(): Promise<Pod[]> {
    return (await this.client.list(Pod)).items;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.server.close();
  }

  #next(): void {
    this.#clock.after(STEP_MS, () => {
      if (this.#closed) return;
      void this.#step().finally(() => this.#next());
    });
  }

  /** Services get addresses; a kubelet ends a pod that is deleted, and runs the others. */
  async #step(): Promise<void> {
    try {
      for (const pod of await this.pods())
        if (pod.metadata.deletionTimestamp !== undefined && !this.runner.keep.has(pod.metadata.name ?? ""))
          await this.client.delete(pod, { gracePeriodSeconds: 0 });
      for (const service of (await this.client.list(Service, { labelSelector: HOSTED_LABEL })).items)
        if (service.spec?.type === "ClusterIP" && service.spec.clusterIP === undefined)
          await this.client.patch(service, { spec: { clusterIP: `172.20.0.${++this.#addresses}` } });
      await this.runner.step();
    } catch (error) {
      if (!this.#closed && !isReason(error, "NotFound", "Conflict")) throw error;
    }
  }
}

const NAMESPACE = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;

/** Returns the status of a machine's pod whose bootstrap script has succeeded. */
export function running(pod: Pod): PodStatus {
  const octets = [0, 2, 4].map((at) => Number.parseInt(hexOf(pod.metadata.name ?? "").slice(at, at + 2), 16));
  const podIP = `10.${octets.join(".")}`;
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [{ name: "node", ready: true, started: true, restartCount: 0, state: { running: {} } }],
  };
}
