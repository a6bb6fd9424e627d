import { ownerReference, randomSuffix } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ConditionInput,
  conditionsOf,
  DELETE_MACHINE_ANNOTATION,
  labelValue,
  Machine,
  MachinePool,
  POOL_NAME_LABEL,
  pausedCondition,
  withTransitionTimes,
} from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  done,
  ensureFinalizer,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
} from "@capstan/runtime";
import { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { KubernetesMachinePool } from "../kinds/kubernetes-machine-pool.ts";
import { hexOf } from "../names.ts";
import { isReady, planPool, TEMPLATE_ANNOTATION } from "./plan.ts";

const FINALIZER = "kubernetesmachinepool.infrastructure.cluster.x-k8s.io";
const BY_POOL = "kubernetes-by-pool";

/** Adds the index of machines by the pool that owns them. */
export function addPoolIndexes(cache: Cache): void {
  cache.addIndex<KubernetesMachine>(KubernetesMachine, BY_POOL, (machine) => {
    const owner = poolOf(machine);
    return owner === undefined ? [] : [`${owner.namespace}/${owner.name}`];
  });
}

/** Keeps as many KubernetesMachines as a MachinePool wants; core makes their Machines. */
export function machinePoolController(): Controller {
  return controller("kubernetes-machine-pool")
    .for<KubernetesMachinePool>(KubernetesMachinePool)
    .watches(MachinePool, (pool) => {
      const { kind, name } = pool.spec.template.spec.infrastructureRef;
      return kind === KubernetesMachinePool.kind ? [{ namespace: pool.metadata.namespace ?? "", name }] : [];
    })
    .watches<KubernetesMachine>(KubernetesMachine, (machine) => {
      const owner = poolOf(machine);
      return owner === undefined ? [] : [owner];
    })
    .watches(Machine, (machine, cache) => {
      const { kind, name } = machine.spec.infrastructureRef;
      if (kind !== KubernetesMachine.kind || !cache.synced(KubernetesMachine)) return [];
      const infra = cache.get<KubernetesMachine>(KubernetesMachine, { namespace: machine.metadata.namespace, name });
      const owner = infra === undefined ? undefined : poolOf(infra);
      return owner === undefined ? [] : [owner];
    })
    .reconcile(reconcile);
}

function poolOf({ metadata }: KubernetesMachine): Request | undefined {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === KubernetesMachinePool.kind);
  return owner === undefined ? undefined : { namespace: metadata.namespace ?? "", name: owner.name };
}

async function reconcile(request: Request, context: ReconcileContext): Promise<Result> {
  const object = context.cache.get<KubernetesMachinePool>(KubernetesMachinePool, request);
  if (object === undefined) return done();
  const { namespace } = request;
  const owner = object.metadata.ownerReferences?.find(({ kind }) => kind === MachinePool.kind);
  const pool = owner === undefined ? undefined : context.cache.get(MachinePool, { namespace, name: owner.name });
  const cluster =
    pool === undefined ? undefined : context.cache.get(Cluster, { namespace, name: pool.spec.clusterName });
  const paused = pausedCondition(object, cluster);
  const machines = context.cache.byIndex<KubernetesMachine>(KubernetesMachine, BY_POOL, `${namespace}/${request.name}`);
  if (paused.status === "True") {
    await report(object, {}, [paused], context);
    return done();
  }
  if (object.metadata.deletionTimestamp !== undefined) return await remove(object, machines, paused, context);
  if (pool === undefined || cluster === undefined) {
    const message = "Waiting for a MachinePool to own this object";
    await report(object, {}, [notReady("WaitingForMachinePool", message), paused], context);
    return done();
  }
  await ensureFinalizer(context.client, object, FINALIZER, context.signal);
  const early = missing(pool, cluster);
  if (early !== undefined) {
    await report(object, {}, [early, paused], context);
    return done();
  }
  await scale(object, pool, machines, context);
  return done();

  async function scale(
    object: KubernetesMachinePool,
    pool: MachinePool,
    machines: readonly KubernetesMachine[],
    context: ReconcileContext,
  ): Promise<void> {
    const wanted = pool.spec.replicas ?? 1;
    const spec = machineSpec(object, pool);
    const template = hexOf(JSON.stringify(spec)).slice(0, 10);
    // A machine stays until its Node is drained; its Machine is deleted before.
    const living = machines.filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        machineOf(metadata, context)?.metadata.deletionTimestamp === undefined,
    );
    const leaveFirst = new Set(
      living
        .filter(
          ({ metadata }) =>
            machineOf(metadata, context)?.metadata.annotations?.[DELETE_MACHINE_ANNOTATION] !== undefined,
        )
        .map(({ metadata }) => metadata.name ?? ""),
    );
    const plan = planPool(living, wanted, template, leaveFirst);
    for (let i = 0; i < plan.create; i++)
      await context.client.create(newMachine(object, pool, spec, template, context), {}, context.signal);
    for (const machine of plan.remove) await removeMachine(machine, context);
    const ready = living.filter(isReady).length;
    const settled = ready >= wanted && plan.create === 0 && plan.remove.length === 0 && living.length === wanted;
    const providerIDList = living.flatMap(({ spec }) => spec?.providerID ?? []).toSorted();
    if (JSON.stringify(providerIDList) !== JSON.stringify(object.spec?.providerIDList ?? []))
      await context.client.patch(object, { spec: { providerIDList } }, {}, context.signal);
    const condition = settled
      ? ({ type: "Ready", status: "True", reason: "Ready", message: "" } as const)
      : notReady("WaitingForMachines", `${ready} of ${wanted} machines are ready`);
    const fields = {
      replicas: living.length,
      infrastructureMachineKind: KubernetesMachine.kind,
      ...(settled ? { initialization: { provisioned: true } } : {}),
    };
    await report(object, fields, [condition, paused], context);
  }
}

function missing(pool: MachinePool, cluster: Cluster): ConditionInput | undefined {
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return notReady("WaitingForClusterInfrastructureReady", "Waiting for the Cluster's infrastructure to be ready");
  if (pool.spec.template.spec.bootstrap.dataSecretName === undefined)
    return notReady("WaitingForBootstrapData", "Waiting for the bootstrap provider to provide bootstrap data");
  return undefined;
}

/** The Machine of a pool gets its version from the Node, which is too late for an image. */
function machineSpec(object: KubernetesMachinePool, pool: MachinePool): NonNullable<KubernetesMachine["spec"]> {
  const { version } = pool.spec.template.spec;
  const image = version === undefined ? {} : { image: `kindest/node:${version}` };
  return { ...image, ...object.spec?.template } as NonNullable<KubernetesMachine["spec"]>;
}

function newMachine(
  object: KubernetesMachinePool,
  pool: MachinePool,
  spec: NonNullable<KubernetesMachine["spec"]>,
  template: string,
  { random }: ReconcileContext,
): KubernetesMachine {
  const { namespace = "", name = "" } = object.metadata;
  return {
    apiVersion: KubernetesMachine.apiVersion,
    kind: KubernetesMachine.kind,
    metadata: {
      namespace,
      // It is the host name of the node as well.
      name: `${name.slice(0, 57)}-${randomSuffix(random)}`,
      labels: {
        [CLUSTER_NAME_LABEL]: pool.spec.clusterName,
        [POOL_NAME_LABEL]: labelValue(pool.metadata.name ?? ""),
      },
      annotations: { [TEMPLATE_ANNOTATION]: template },
      // Its Machine will be the controller.
      ownerReferences: [ownerReference(object)],
    },
    spec,
  };
}

function machineOf(
  { namespace, name = "" }: KubernetesMachine["metadata"],
  context: ReconcileContext,
): Machine | undefined {
  return context.cache.get(Machine, { namespace, name });
}

/** Through its Machine, so that its Node is drained. */
async function removeMachine(machine: KubernetesMachine, context: ReconcileContext): Promise<void> {
  const of = machineOf(machine.metadata, context);
  if (of === undefined) await context.client.delete(machine, {}, context.signal);
  else if (of.metadata.deletionTimestamp === undefined) await context.client.delete(of, {}, context.signal);
}

async function remove(
  object: KubernetesMachinePool,
  machines: readonly KubernetesMachine[],
  paused: ConditionInput,
  context: ReconcileContext,
): Promise<Result> {
  for (const machine of machines) await removeMachine(machine, context);
  if (machines.length > 0) {
    const message = `Waiting for ${machines.length} KubernetesMachines to be deleted`;
    const deleting = { type: "Deleting", status: "True", reason: "WaitingForMachinesDeletion", message } as const;
    await report(object, {}, [deleting, paused], context);
    return done();
  }
  await releaseFinalizer(context.client, object, FINALIZER, context.signal);
  return done();
}

function notReady(reason: string, message: string): ConditionInput {
  return { type: "Ready", status: "False", reason, message };
}

async function report(
  object: KubernetesMachinePool,
  fields: object,
  computed: readonly ConditionInput[],
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name, generation } = object.metadata;
  const { conditions: _, ...kept } = object.status ?? {};
  const existing = conditionsOf(object);
  const others = existing
    .filter(({ type }) => !computed.some((each) => each.type === type))
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  const conditions = withTransitionTimes([...computed, ...others], existing, context.clock.now(), generation);
  const desired = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { namespace, name },
    status: { ...kept, ...fields, conditions },
  };
  await context.ensureStatus(desired as unknown as KubernetesMachinePool, object);
}
