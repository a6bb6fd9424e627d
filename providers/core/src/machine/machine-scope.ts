import { controllerOf } from "@capstan/apimachinery";
import {
  Cluster,
  type ClusterKey,
  type ContractObject,
  isControlPlaneMachine,
  Machine,
  MachineDeployment,
  MachineSet,
  type Node,
  type Referenced,
  reach,
  readReference,
  referenceText,
  referrersKey,
  type WorkloadClusters,
  type WorkloadConnection,
} from "@capstan/capi";
import { type Cache, type ReconcileContext, type Request, requestFor } from "@capstan/runtime";
import { BY_REFERENCE } from "../cluster/indexes.ts";

/** Everything that one reconcile of a Machine reads. */
export interface MachineScope {
  machine: Machine;
  cluster: Cluster | undefined;
  bootstrap: Referenced;
  infrastructure: Referenced;
  /** The MachineSet that controls the Machine, and the MachineDeployment that controls that. */
  machineSet: MachineSet | undefined;
  machineDeployment: MachineDeployment | undefined;
  connection: WorkloadConnection;
  node: Node | undefined;
}

/** Reads everything that a Machine refers to from the cache, and starts watches of the referenced kinds. */
export async function readMachine(
  machine: Machine,
  context: ReconcileContext,
  workload: WorkloadClusters,
): Promise<MachineScope> {
  const namespace = machine.metadata.namespace ?? "";
  const key = { namespace, name: machine.spec.clusterName };
  const connection = connectionFor(machine, key, workload);
  const machineSet = controllerIn(context.cache, MachineSet, machine);
  return {
    machine,
    cluster: context.cache.get(Cluster, key),
    bootstrap: ours(machine, await readReference(context, namespace, machine.spec.bootstrap.configRef, referrers)),
    infrastructure: ours(machine, await readReference(context, namespace, machine.spec.infrastructureRef, referrers)),
    machineSet,
    machineDeployment:
      machineSet === undefined ? undefined : controllerIn(context.cache, MachineDeployment, machineSet),
    connection,
    node: connection.state === "connected" ? nodeOf(machine, connection) : undefined,
  };
}

/**
 * While the endpoint is down, Machines of the control plane and those in deletion are served at the control plane Machines: the endpoint
 * may be down because of the very Machine that is to be replaced. All others need the endpoint, and report that it is down.
 */
function connectionFor(machine: Machine, cluster: ClusterKey, workload: WorkloadClusters): WorkloadConnection {
  const repairs = isControlPlaneMachine(machine) || machine.metadata.deletionTimestamp !== undefined;
  return repairs ? reach(workload, cluster) : workload.get(cluster);
}

/** The Machines that refer to an object: not found by owner, as the object may not have one yet. */
function referrers(object: ContractObject, cache: Cache): Request[] {
  return cache.byIndex(Machine, BY_REFERENCE, referrersKey(object)).flatMap(requestFor);
}

/** An object of another Machine must not be taken over: two Machines with one reference is a mistake of the user. */
function ours(machine: Machine, referenced: Referenced): Referenced {
  if (referenced.state !== "found") return referenced;
  const controller = controllerOf(referenced.object);
  if (controller === undefined || controller.kind !== Machine.kind || controller.name === machine.metadata.name)
    return referenced;
  const { reference } = referenced;
  const message = `${referenceText(reference)} belongs to Machine ${controller.name}: use a separate one for this Machine`;
  return { state: "unresolved", reference, message };
}

function controllerIn<T extends MachineSet | MachineDeployment>(
  cache: Cache,
  kind: { kind: string } & Parameters<Cache["get"]>[0] & { readonly __type?: T },
  object: { metadata: Machine["metadata"] },
): T | undefined {
  const owner = object.metadata.ownerReferences?.find((r) => r.controller === true && r.kind === kind.kind);
  if (owner === undefined) return undefined;
  const found = cache.get<T>(kind, { namespace: object.metadata.namespace, name: owner.name });
  return found?.metadata.uid === owner.uid ? found : undefined;
}

/**
 * The Node of a Machine: the one it was bound to, or the one that has its provider ID. A Node of that name which another machine
 * registered since, as hosts do that keep their names, is not meant.
 */
function nodeOf(machine: Machine, { nodes }: Extract<WorkloadConnection, { state: "connected" }>): Node | undefined {
  const { providerID } = machine.spec;
  const name = machine.status?.nodeRef?.name;
  const bound = name === undefined ? undefined : nodes.get(name);
  const isOther = (bound?.spec?.providerID ?? "") !== "" && bound?.spec?.providerID !== providerID;
  if (bound !== undefined && (providerID === undefined || !isOther)) return bound;
  return providerID === undefined ? undefined : nodes.byProviderID(providerID);
}
