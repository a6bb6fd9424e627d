import { isReason } from "@capstan/apimachinery";
import { type Client, kindRef } from "@capstan/runtime";
import { asHostProblem, findHost, type HostCluster, type HostClusters, type HostProblem } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { podNames } from "./names.ts";

export { HostProblem as PodsProblem } from "@capstan/workloads";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

/** Finds the cluster that runs the pods of a control plane. */
export class PodHosts {
  readonly #hosts: HostClusters;
  readonly #management: Client;
  /** Namespaces known to exist, so that they are not read in every reconcile. */
  readonly #namespaces = new WeakMap<HostCluster, Set<string>>();

  constructor(hosts: HostClusters, management: Client) {
    this.#hosts = hosts;
    this.#management = management;
  }

  /** Returns the host cluster once it responds and its cache is synced. Throws PodsProblem if there is none. */
  find(owner: string, spec: HostedControlPlaneSpec): Promise<HostCluster> {
    return findHost(this.#hosts, this.#management, {
      owner,
      secretName: spec.hostCluster?.secretName,
      otherwise: ", or create a control plane with placement Process",
    });
  }

  /** Creates the namespace of the pods if it is missing. */
  async ensureNamespace(host: HostCluster, owner: string): Promise<void> {
    const { namespace } = podNames(owner);
    const seen = this.#namespaces.get(host) ?? new Set();
    this.#namespaces.set(host, seen);
    if (seen.has(namespace)) return;
    if ((await host.client.get(Namespace, { name: namespace })) === undefined)
      try {
        await host.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      } catch (error) {
        if (!isReason(error, "AlreadyExists")) throw error;
      }
    seen.add(namespace);
  }
}

/** Converts an error of the host cluster to a problem to report; undefined if retrying is the only option. */
export function asPodsProblem(error: unknown): { reason: string; message: string } | undefined {
  const problem: HostProblem | undefined = asHostProblem(
    error,
    "Services, Secrets, Deployments, StatefulSets, PodDisruptionBudgets, NetworkPolicies, Pods (also pods/portforward and pods/exec) and PersistentVolumeClaims",
  );
  return problem === undefined ? undefined : { reason: problem.reason, message: problem.message };
}
