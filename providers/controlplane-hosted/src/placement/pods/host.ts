import { ApiError, isReason } from "@capstan/apimachinery";
import { Secret, secretText } from "@capstan/capi";
import { type Client, kindRef } from "@capstan/runtime";
import { type HostCluster, type HostClusters, NameTakenError } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { podNames } from "./names.ts";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

/** Thrown for a problem that prevents pods from running and is reported in a condition. */
export class PodsProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

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

  /** The host cluster, answering and with a complete view. Throws PodsProblem when there is none. */
  async find(owner: string, spec: HostedControlPlaneSpec): Promise<HostCluster> {
    const host = await this.#connect(owner, spec.hostCluster?.secretName);
    try {
      await host.ready();
    } catch (error) {
      throw new PodsProblem("HostClusterNotReachable", `The host cluster does not answer: ${textOf(error)}`);
    }
    return host;
  }

  /** The namespace that the pods run in, made where it is missing. */
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

  async #connect(owner: string, secretName: string | undefined): Promise<HostCluster> {
    if (secretName === undefined) {
      const host = this.#hosts.management(owner);
      if (host !== undefined) return host;
      throw new PodsProblem(
        "NothingRunsPods",
        "The management API is Capstan's own, and nothing runs pods there; name a cluster that does in spec.hostCluster.secretName (a Secret whose key value is its kubeconfig), or make a control plane with placement Process",
      );
    }
    const [namespace = ""] = owner.split("/");
    const secret = await this.#management.get(Secret, { namespace, name: secretName });
    const kubeconfig = secretText(secret, "value");
    if (kubeconfig === undefined)
      throw new PodsProblem(
        "HostClusterNotKnown",
        `spec.hostCluster: Secret ${secretName} ${secret === undefined ? "does not exist" : "has no key value"}; create it with the kubeconfig of the cluster that is to run the pods`,
      );
    try {
      return await this.#hosts.named(owner, `${namespace}/${secretName}`, kubeconfig);
    } catch (error) {
      throw new PodsProblem(
        "HostClusterNotKnown",
        `spec.hostCluster: Secret ${secretName} holds no usable kubeconfig: ${textOf(error)}`,
      );
    }
  }
}

/** Converts an error of the host cluster to a problem to report; undefined if retrying is the only option. */
export function asPodsProblem(error: unknown): { reason: string; message: string } | undefined {
  if (error instanceof PodsProblem) return { reason: error.reason, message: error.message };
  if (error instanceof NameTakenError) return { reason: "NameTaken", message: error.message };
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 403)
    return {
      reason: "HostClusterForbids",
      message: `${error.message}; give the user of the host cluster's kubeconfig rights on Services, Secrets, Deployments, StatefulSets, PodDisruptionBudgets, NetworkPolicies, Pods (also pods/portforward and pods/exec) and PersistentVolumeClaims, or raise the quota that is named`,
    };
  if (error.code === 422 || error.code === 400) return { reason: "HostClusterRefuses", message: error.message };
  return undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
