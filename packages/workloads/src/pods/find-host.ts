import { ApiError } from "@capstan/apimachinery";
import { Secret, secretText } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { type HostCluster, NameTakenError } from "./host-cluster.ts";
import type { HostClusters } from "./host-clusters.ts";

/** Thrown for a problem with a host cluster that is reported in a condition. */
export class HostProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Which host cluster an owner uses. */
export interface HostChoice {
  /** Begins with the owner's namespace, from which Secrets are read. */
  owner: string;
  /** Secret with the kubeconfig; the management cluster when absent. */
  secretName: string | undefined;
  /** What a person does instead when the management cluster runs no pods. */
  otherwise: string;
  signal?: AbortSignal;
}

/** Returns the host cluster once it responds and its cache is synced. Throws HostProblem if there is none. */
export async function findHost(hosts: HostClusters, management: Client, choice: HostChoice): Promise<HostCluster> {
  const host = await connect(hosts, management, choice);
  try {
    await host.ready(choice.signal);
  } catch (error) {
    throw new HostProblem("HostClusterNotReachable", `The host cluster does not respond: ${textOf(error)}`);
  }
  return host;
}

async function connect(
  hosts: HostClusters,
  management: Client,
  { owner, secretName, otherwise }: HostChoice,
): Promise<HostCluster> {
  if (secretName === undefined) {
    const host = hosts.management(owner);
    if (host !== undefined) return host;
    throw new HostProblem(
      "NothingRunsPods",
      `The management API is Capstan's embedded one, which runs no pods; set spec.hostCluster.secretName to a Secret with the kubeconfig of a cluster that does (key value)${otherwise}`,
    );
  }
  const [namespace = ""] = owner.split("/");
  const secret = await management.get(Secret, { namespace, name: secretName });
  const kubeconfig = secretText(secret, "value");
  if (kubeconfig === undefined)
    throw new HostProblem(
      "HostClusterNotKnown",
      `spec.hostCluster: Secret ${secretName} ${secret === undefined ? "does not exist" : "has no key value"}; create it with the kubeconfig of the cluster that is to run the pods`,
    );
  try {
    return await hosts.named(owner, `${namespace}/${secretName}`, kubeconfig);
  } catch (error) {
    throw new HostProblem(
      "HostClusterNotKnown",
      `spec.hostCluster: Secret ${secretName} holds no usable kubeconfig: ${textOf(error)}`,
    );
  }
}

/**
 * Converts an error of the host cluster to a problem to report; undefined if retrying is the only option. `permissions` lists what its
 * user must be able to write.
 */
export function asHostProblem(error: unknown, permissions: string): HostProblem | undefined {
  if (error instanceof HostProblem) return error;
  if (error instanceof NameTakenError) return new HostProblem("NameTaken", error.message);
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 403)
    return new HostProblem(
      "HostClusterForbids",
      `${error.message}; grant the user of the host cluster's kubeconfig permissions on ${permissions}, or raise the quota in the message`,
    );
  if (error.code === 422 || error.code === 400) return new HostProblem("HostClusterRefuses", error.message);
  return undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
