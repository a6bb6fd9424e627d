import { ownerReference } from "@capstan/apimachinery";
import { ensureKubeconfigSecret, trusted } from "@capstan/controlplane";
import { Client, httpTransport, kubeconfigFromText } from "@capstan/runtime";
import { apiAddresses } from "../join/api-addresses.ts";
import {
  absentObjects,
  applyObjects,
  clusterObjects,
  inputDigest,
  type PrepareInput,
  removeObjects,
} from "../join/prepare-cluster.ts";
import type { PlacementAccess } from "../placement/placement.ts";
import { clusterKeyOf, type OwnedScope } from "../scope.ts";
import { keyAlgorithm } from "./ensure-keys.ts";
import { Outcome } from "./outcome.ts";
import type { RunningComponents } from "./run-components.ts";

/** When the kubeconfig or the addresses of the API are checked again; Infinity if never. */
export interface FilledCluster {
  recheckAtMs: number;
}

/** Writes the kubeconfig Secret, and fills a new API with what joining nodes read. */
export async function fillCluster(scope: OwnedScope, running: RunningComponents): Promise<FilledCluster | Outcome> {
  const { owner, placement, context, planes } = scope;
  const { plan, state } = running;
  if (!state.apiReady) return { recheckAtMs: Infinity };
  const access = placement.access?.(owner);
  const kubeconfig = await ensureKubeconfigSecret(
    {
      cluster: clusterKeyOf(scope),
      owner: ownerReference(scope.object, { controller: true }),
      endpoint: plan.endpoint,
      authorities: plan.authorities,
      algorithm: keyAlgorithm(scope.object),
      ...(access === undefined ? {} : { path: access.path, serverName: access.serverName }),
    },
    context,
  );
  try {
    const { addresses, recheckMs } = await apiAddresses(plan.endpoint.host, planes.resolve);
    await fill(scope, prepareInput(running, addresses, access), kubeconfig.text, access);
    return { recheckAtMs: Math.min(kubeconfig.renewAtMs, context.clock.now() + (recheckMs ?? Infinity)) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `Writing what nodes need to join failed and will be retried: ${why}`;
    const progress = { step: "waiting", reason: "PreparingClusterFailed", message } as const;
    return new Outcome(scope, progress, undefined, { cause: error });
  }
}

function prepareInput(
  { plan, state }: RunningComponents,
  addresses: readonly string[],
  access: PlacementAccess | undefined,
): PrepareInput {
  const { konnectivity } = state;
  return {
    clusterName: plan.clusterName,
    version: state.version ?? plan.version,
    endpoint: plan.endpoint,
    network: plan.network,
    imageRepository: plan.spec.imageRepository ?? "registry.k8s.io",
    caPem: trusted(plan.authorities, "cluster"),
    spec: plan.spec,
    addresses,
    access,
    konnectivity,
  };
}

async function fill(
  { owner, context, planes }: OwnedScope,
  input: PrepareInput,
  kubeconfig: string,
  access: PlacementAccess | undefined,
): Promise<void> {
  // The objects depend only on the input, and building them costs more than comparing its digest.
  const digest = inputDigest(input);
  if (planes.prepared.get(owner) === digest) return;
  const objects = clusterObjects(input);
  if (access !== undefined && !planes.prepared.has(owner)) {
    await access.fill(objects);
    planes.prepared.set(owner, digest);
    return;
  }
  const { clock, signal } = context;
  const config = await kubeconfigFromText(kubeconfig, { clock, gate: planes.gate });
  const transport = access?.connect() ?? planes.dial?.(config) ?? httpTransport(config, { clock });
  try {
    const client = new Client(transport, { fieldManager: context.client.fieldManager, clock });
    await applyObjects(client, objects, signal);
    await removeObjects(client, absentObjects(input), signal);
    planes.prepared.set(owner, digest);
  } finally {
    await transport.close();
  }
}
