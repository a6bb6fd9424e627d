import { findCondition, ownerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  type ContractObject,
  conditionsOf,
  field,
  labelValue,
  Machine,
  MachinePool,
  type Node,
  POOL_NAME_LABEL,
  watchKind,
} from "@capstan/capi";
import { type Cache, inParallel, type Kind, type ReconcileContext, type Request, requestFor } from "@capstan/runtime";
import { BY_CONTROLLER, controllerKey } from "../shared/indexes.ts";

const WRITES_AT_ONCE = 10;

/** Ensures a Machine for each infrastructure machine of the pool and returns them; undefined if the provider has none. */
export async function ensurePoolMachines(
  pool: MachinePool,
  infrastructure: ContractObject,
  byProviderID: (id: string) => Node | undefined,
  context: ReconcileContext,
): Promise<Machine[] | undefined> {
  const kind = await infraMachineKind(infrastructure, context);
  if (kind === undefined) return undefined;
  const own = context.cache.byIndex(Machine, BY_CONTROLLER, controllerKey(pool));
  const byInfrastructure = new Map(own.map((machine) => [machine.spec.infrastructureRef.name, machine]));
  const infraMachines = context.cache
    .list(kind, {
      namespace: pool.metadata.namespace,
      labelSelector: {
        matchLabels: {
          [CLUSTER_NAME_LABEL]: pool.spec.clusterName,
          [POOL_NAME_LABEL]: labelValue(pool.metadata.name ?? ""),
        },
      },
    })
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await inParallel(infraMachines, WRITES_AT_ONCE, async (infraMachine) => {
    const existing = byInfrastructure.get(infraMachine.metadata.name ?? "");
    if (existing?.metadata.deletionTimestamp !== undefined) return;
    const id = field(infraMachine, "spec", "providerID");
    const node = typeof id === "string" ? byProviderID(id) : undefined;
    await context.client.ensure(poolMachine(pool, infraMachine, existing, node), existing);
  });
  return context.cache.byIndex(Machine, BY_CONTROLLER, controllerKey(pool));
}

/** Counts the Machines for which a condition is True. */
export function countMachines(machines: readonly Machine[], type: string): number {
  return machines.filter((machine) => findCondition(conditionsOf(machine), type)?.status === "True").length;
}

/** Machines of a pool are a view of what the provider made: each has the name of its infrastructure machine. */
function poolMachine(
  pool: MachinePool,
  infraMachine: ContractObject,
  existing: Machine | undefined,
  node: Node | undefined,
): Machine {
  const name = infraMachine.metadata.name ?? "";
  const { template } = pool.spec;
  const version = node?.status?.nodeInfo?.["kubeletVersion"];
  const labels = {
    ...template.metadata?.labels,
    [CLUSTER_NAME_LABEL]: pool.spec.clusterName,
    [POOL_NAME_LABEL]: labelValue(pool.metadata.name ?? ""),
  };
  return {
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    metadata: {
      name: existing?.metadata.name ?? name,
      namespace: pool.metadata.namespace ?? "",
      labels,
      ...(template.metadata?.annotations === undefined ? {} : { annotations: { ...template.metadata.annotations } }),
      ownerReferences: [ownerReference(pool, { controller: true })],
    },
    spec: {
      clusterName: pool.spec.clusterName,
      bootstrap: { dataSecretName: "" },
      infrastructureRef: { apiGroup: groupOf(infraMachine.apiVersion), kind: infraMachine.kind, name },
      ...(version === undefined || version === "" ? {} : { version }),
    },
  };
}

async function infraMachineKind(
  infrastructure: ContractObject,
  context: ReconcileContext,
): Promise<Kind<ContractObject> | undefined> {
  const kind = field(infrastructure, "status", "infrastructureMachineKind");
  if (typeof kind !== "string" || kind === "") return undefined;
  const reference = { apiGroup: groupOf(infrastructure.apiVersion), kind };
  const resolved = await watchKind(context, reference, poolsOfInfraMachine);
  return "problem" in resolved ? undefined : resolved.kind;
}

/** The pool an infrastructure machine names in its label; names too long for a label are hashed there. */
function poolsOfInfraMachine(object: ContractObject, cache: Cache): Request[] {
  const { namespace = "", labels } = object.metadata;
  const label = labels?.[POOL_NAME_LABEL];
  if (label === undefined) return [];
  if (!label.startsWith("hash_")) return [{ namespace, name: label }];
  return cache
    .list(MachinePool, { namespace })
    .filter(({ metadata }) => labelValue(metadata.name ?? "") === label)
    .flatMap(requestFor);
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")));
}
