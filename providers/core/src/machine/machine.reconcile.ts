import {
  addOwnerReference,
  controllerOf,
  type OwnerReference,
  ownerReference,
  removeOwnerReference,
} from "@capstan/apimachinery";
import {
  bootstrapDataSecretName,
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  type ContractObject,
  field,
  infrastructureProvisioned,
  MACHINE_FINALIZER,
  Machine,
  pausedCondition,
  type Referenced,
  type WorkloadCalls,
  type WorkloadClusters,
  WorkloadUnavailable,
} from "@capstan/capi";
import {
  done,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
  soonest,
  writeChanges,
} from "@capstan/runtime";
import { isOutdated } from "../machine-deployment/revision.ts";
import { ensureMetadata } from "../shared/ensure-metadata.ts";
import { desiredNode } from "./desired-node.ts";
import { deleteMachine, type MachineDeletion } from "./machine.delete.ts";
import { type Initialization, machineStatus } from "./machine.status.ts";
import { type MachineScope, readMachine } from "./machine-scope.ts";
import type { NodeKeys } from "./node-keys.ts";

/** Dependencies of the Machine reconciler. */
export interface MachineDeps {
  workload: WorkloadClusters;
  calls: WorkloadCalls;
  keys: NodeKeys;
  /** When this manager first tried to delete the Node of a deleted Machine, by its UID. */
  nodeDeletions: Map<string, number>;
}

/** Reconciles a Machine: waits for bootstrap data, infrastructure and Node, or deletes them. */
export async function reconcileMachine(
  request: Request,
  context: ReconcileContext,
  deps: MachineDeps,
): Promise<Result> {
  const machine = context.cache.get(Machine, request);
  if (machine === undefined) return done();
  const scope = await readMachine(machine, context, deps.workload);
  const paused = pausedCondition(machine, scope.cluster);
  const initialization = initializationOf(scope);
  let deletion: MachineDeletion | undefined;
  let node: NodeOutcome = {};
  if (machine.metadata.deletionTimestamp !== undefined) {
    deletion =
      paused.status === "True"
        ? {
            gone: false,
            reason: "Deleting",
            message: "Deletion is suspended while the Machine is paused",
            times: machine.status?.deletion,
          }
        : await deleteMachine(scope, context, deps);
    if (deletion.gone) return done();
  } else if (paused.status !== "True" && scope.cluster !== undefined) {
    await ensureMetadata(context, machine, MACHINE_FINALIZER, machine.spec.clusterName, scope.cluster);
    await ensureOwned(scope, scope.bootstrap, context);
    await ensureOwned(scope, scope.infrastructure, context);
    await copyToSpec(scope, context);
    node = await ensureNode(scope, deps);
  }
  const current = context.cache.get(Machine, request);
  if (current === undefined) return done();
  const { status, recheckMs } = machineStatus({
    scope,
    machine: current,
    initialization,
    paused,
    deleting: deletion,
    deletion: deletion?.times,
    nodeProblem: node.problem,
    nowMs: context.clock.now(),
  });
  await context.ensureStatus(
    {
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as Machine,
    current,
  );
  if (status.nodeRef !== undefined && machine.status?.nodeRef === undefined)
    context.recorder.event(machine, "Normal", "SuccessfulSetNodeRef", "SetNodeRef", status.nodeRef.name);
  return soonest(
    ...[recheckMs, deletion?.retryMs, node.retryMs].map((ms) => (ms === undefined ? done() : requeueAfter(ms))),
  );
}

/** What has been reached, including earlier: these flags never become false again. */
function initializationOf({ machine, bootstrap, infrastructure }: MachineScope): Initialization {
  const before = machine.status?.initialization;
  return {
    bootstrapDataSecretCreated:
      before?.bootstrapDataSecretCreated === true ||
      (bootstrap.state === "none" && machine.spec.bootstrap.dataSecretName !== undefined) ||
      (bootstrap.state === "found" && bootstrapDataSecretName(bootstrap.object, bootstrap.contract) !== undefined),
    infrastructureProvisioned:
      before?.infrastructureProvisioned === true ||
      (infrastructure.state === "found" &&
        infrastructureProvisioned(infrastructure.object, infrastructure.contract) &&
        providerIdOf(infrastructure.object) !== undefined),
  };
}

function providerIdOf(object: ContractObject): string | undefined {
  const id = field(object, "spec", "providerID");
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** The Machine controls what it refers to; its creator (a MachineSet, a control plane) is no longer the controller. */
async function ensureOwned(scope: MachineScope, referenced: Referenced, context: ReconcileContext): Promise<void> {
  if (referenced.state !== "found" || referenced.object.metadata.deletionTimestamp !== undefined) return;
  const { machine } = scope;
  const { object } = referenced;
  let owners: readonly OwnerReference[] = object.metadata.ownerReferences ?? [];
  const creator = controllerOf(machine);
  if (creator !== undefined) owners = removeOwnerReference(owners, creator);
  owners = addOwnerReference(owners, ownerReference(machine, { controller: true }));
  const isControlPlane = machine.metadata.labels?.[CONTROL_PLANE_LABEL];
  await writeChanges(context.client, object, {
    ...object,
    metadata: {
      ...object.metadata,
      ownerReferences: [...owners],
      labels: {
        ...object.metadata.labels,
        [CLUSTER_NAME_LABEL]: machine.spec.clusterName,
        ...(isControlPlane === undefined ? {} : { [CONTROL_PLANE_LABEL]: isControlPlane }),
      },
    },
  });
}

/** Copied once and never changed again, so a plain patch: no field manager should own these fields. */
async function copyToSpec(scope: MachineScope, context: ReconcileContext): Promise<void> {
  const { machine, bootstrap, infrastructure } = scope;
  const spec: Record<string, unknown> = {};
  if (bootstrap.state === "found" && (machine.spec.bootstrap.dataSecretName ?? "") === "") {
    const name = bootstrapDataSecretName(bootstrap.object, bootstrap.contract);
    if (name !== undefined) spec["bootstrap"] = { dataSecretName: name };
  }
  if (infrastructure.state === "found" && infrastructureProvisioned(infrastructure.object, infrastructure.contract)) {
    const id = providerIdOf(infrastructure.object);
    if (id !== undefined && id !== machine.spec.providerID) spec["providerID"] = id;
    // The older contract lets the provider choose the failure domain in its spec.
    const domain = field(infrastructure.object, "spec", "failureDomain");
    const legacy = infrastructure.contract === "v1beta1" && typeof domain === "string" && domain !== "";
    if (legacy && machine.spec.failureDomain === undefined) spec["failureDomain"] = domain;
  }
  if (Object.keys(spec).length > 0) await context.client.patch(machine, { spec });
}

interface NodeOutcome {
  problem?: string;
  retryMs?: number;
}

/** Labels, annotations and taints of the Node. An unresponsive workload cluster is not an error. */
async function ensureNode(scope: MachineScope, deps: MachineDeps): Promise<NodeOutcome> {
  const { node, connection, machine, infrastructure } = scope;
  if (node === undefined || connection.state !== "connected") return {};
  const wanted = desiredNode(node, {
    machine,
    interruptible: infrastructure.state === "found" && field(infrastructure.object, "status", "interruptible") === true,
    outdated: isOutdated(scope.machineSet, scope.machineDeployment),
    keys: deps.keys,
  });
  const key = { namespace: machine.metadata.namespace ?? "", name: machine.spec.clusterName };
  try {
    await deps.calls.run(key, (signal) => writeChanges(connection.client, node, wanted, {}, signal));
    return {};
  } catch (error) {
    if (!(error instanceof WorkloadUnavailable)) throw error;
    return { problem: error.message, retryMs: error.retryMs };
  }
}
