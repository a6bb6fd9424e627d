import { findCondition } from "@capstan/apimachinery";
import { Cluster, type ConditionInput, conditionsOf, pausedCondition, validEndpoint } from "@capstan/capi";
import {
  clusterNetwork,
  ensureAuthorities,
  ensureKubeconfigSecret,
  nodesRefuse,
  trusted,
  unsupportedNodes,
  upgradeProblem,
} from "@capstan/controlplane";
import {
  Client,
  done,
  httpTransport,
  kubeconfigFromText,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
  soonest,
} from "@capstan/runtime";
import { authoritiesCondition, EXPIRY_NOTICE_MS } from "./authorities-condition.ts";
import { type BackupReport, reconcileBackups } from "./backup/backups.ts";
import { ownBackups } from "./backup/own-backups.ts";
import { restoreSource } from "./backup/restore.ts";
import { ENCRYPTION_FILE } from "./components/settings.ts";
import { encryptionConfiguration, ensureEncryptionKey } from "./encryption.ts";
import { happenings } from "./happenings.ts";
import { controllerReference, identity, placedObject } from "./identity.ts";
import { apiAddresses } from "./join/api-addresses.ts";
import { absentObjects, applyObjects, clusterObjects, inputDigest, removeObjects } from "./join/prepare-cluster.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { exposeProblem } from "./network-problem.ts";
import type { ControlPlanePlan, PlacementAccess, PlacementState } from "./placement/placement.ts";
import { FINALIZER, type HostedControlPlanes, type PlacementType } from "./planes.ts";
import { removeControlPlane } from "./remove.ts";
import { controlPlaneStatus, type Progress } from "./status.ts";
import { readUserFiles } from "./user-files.ts";
import { specProblem } from "./validation.ts";

const DEFAULT_ALGORITHM = "ECDSA-P256";
/** What cannot be watched (a port that others hold, a missing program) is looked at again after this. */
const RETRY_MS = 5_000;
/** Nodes that are not supported are looked at again after this. */
const NODES_AGAIN_MS = 30_000;

/** Throws away data of an earlier control plane of the same name. */
const LEFTOVER_ANNOTATION = "capstan.dev/leftover-data";

/** Reconciles a HostedControlPlane and requeues it when progress is expected. */
export async function reconcileHostedControlPlane(
  request: Request,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<Result> {
  let dueMs: number | undefined;
  const result = await bringForward(request, context, planes, (ms) => {
    dueMs = ms;
  });
  return dueMs === undefined ? result : soonest(result, requeueAfter(dueMs));
}

async function bringForward(
  request: Request,
  context: ReconcileContext,
  planes: HostedControlPlanes,
  recheckAfter: (ms: number | undefined) => void,
): Promise<Result> {
  const object = context.cache.get(HostedControlPlane, request);
  if (object === undefined) return done();
  const owner = `${request.namespace}/${request.name}`;
  const type = object.spec.placement?.type ?? planes.defaultPlacement;
  const placement = planes.placements[type];
  if (object.metadata.deletionTimestamp !== undefined)
    return await removeControlPlane(object, owner, placement, context, planes);

  const cluster = ownerCluster(object, context);
  const paused = pausedCondition(object, cluster);
  /** With the endpoint once this pass has written it: that is no news to come back for. */
  let current = object;
  const report = async (progress: Progress): Promise<void> => {
    const { status, recheckMs } = controlPlaneStatus({
      object: current,
      progress,
      paused,
      placement: type,
      nowMs: context.clock.now(),
    });
    recheckAfter(recheckMs);
    const desired = { ...identity(object), status } as HostedControlPlane;
    await context.ensureStatus(desired, context.cache.get(HostedControlPlane, request));
    for (const { type: level, reason, action, note } of happenings(current, status))
      context.recorder.event(object, level, reason, action, note);
    // What was told once in a pass is not told again in it.
    current = { ...current, status };
  };
  if (paused.status === "True") return await reported(report({ step: "paused" }));
  await context.client.ensure(
    { ...identity(object), metadata: { ...identity(object).metadata, finalizers: [FINALIZER] } } as HostedControlPlane,
    object,
  );
  if (cluster === undefined) {
    const dueMs = ownerDueMs(object, context);
    if (dueMs > 0) return requeueAfter(dueMs);
    return await reported(
      report(waiting("WaitingForCluster", "Waiting for a Cluster to name this control plane in spec.controlPlaneRef")),
    );
  }
  if (placement === undefined)
    return await reported(
      report(
        waiting(
          "PlacementNotAvailable",
          `This manager does not offer placement ${type}; it offers ${Object.keys(planes.placements).join(", ")}`,
        ),
      ),
    );

  const initialized = object.status?.initialization?.controlPlaneInitialized === true;
  const hibernate = async (): Promise<Result> => {
    const state = await placement.hibernate(owner, placedObject(object));
    return await reported(
      report(state.problem === undefined ? { step: "hibernated", state } : { step: "waiting", ...state.problem }),
    );
  };
  // Whatever else is wrong with the description: what serves can be stopped.
  if (object.spec.replicas === 0 && initialized) return await hibernate();

  const backups = planes.backupDir === undefined ? undefined : { dir: planes.backupDir, gate: planes.gate };
  /** Something a person must change: it keeps a new control plane from starting, and one that serves from changing. */
  const refuse = async ({ reason, message }: { reason: string; message: string }): Promise<Result> => {
    const kept = initialized ? planes.settled?.get(owner) : undefined;
    const state =
      kept === undefined ? await placement.observe(owner, placedObject(object)) : await placement.ensure(kept);
    if (!initialized || !state.apiReady) return await reported(report(waiting(reason, message)));
    const backup =
      kept === undefined || backups === undefined
        ? undefined
        : await reconcileBackups(object, kept, placement, backups, context);
    await report(serves(current, state, { reason, message }, backup));
    return again(Math.min(state.recheckAtMs ?? Infinity, backup?.recheckAtMs ?? Infinity), context);
  };
  const network = clusterNetwork(cluster.spec?.clusterNetwork);
  const problem = specProblem(object.spec, network, type);
  if (problem !== undefined) return await refuse(problem);
  const found = await restoreSource(object, backups, context);
  const notFound = found !== undefined && "problem" in found ? found.problem : undefined;
  // What has served goes on without the backup that it once came from.
  if (notFound !== undefined && !initialized) return await reported(report(waiting("BackupNotFound", notFound)));
  const source = found === undefined || "problem" in found ? undefined : found;

  const fixed =
    validEndpoint(object.spec.controlPlaneEndpoint) ??
    validEndpoint(cluster.spec?.controlPlaneEndpoint) ??
    validEndpoint(source?.description.endpoint);
  // The Cluster and the backup are the tenant's, too.
  const unfit = exposeProblem({ ...object.spec, ...(fixed === undefined ? {} : { controlPlaneEndpoint: fixed }) });
  if (unfit !== undefined) return await refuse({ reason: "InvalidAddress", message: unfit });
  const reserved = await placement.reserve({
    owner,
    spec: object.spec,
    endpoint: fixed,
    ...(object.metadata.uid === undefined ? {} : { objectUid: object.metadata.uid }),
    discardLeftovers: object.metadata.annotations?.[LEFTOVER_ANNOTATION] === "discard",
  });
  if (reserved.type !== "reserved") {
    await refuse(reserved);
    return requeueAfter(RETRY_MS);
  }
  const { endpoint } = reserved;
  if (validEndpoint(object.spec.controlPlaneEndpoint) === undefined) {
    const written = await context.client.patch(object, { spec: { controlPlaneEndpoint: endpoint } });
    if (written.metadata.generation === (object.metadata.generation ?? 0) + 1) current = written;
  }
  if (object.spec.replicas === 0) return await hibernate();

  const ownerReference = controllerReference(object);
  const key = { namespace: request.namespace, name: cluster.metadata.name ?? "" };
  const algorithm = object.spec.certificates?.encryptionAlgorithm ?? DEFAULT_ALGORITHM;
  const made = await ensureAuthorities(
    {
      cluster: key,
      owner: ownerReference,
      algorithm,
      mayCreate: !initialized,
      ...(source === undefined ? {} : { known: source.description.authorities }),
      ...(placement.singleAuthority === true ? { single: true } : {}),
      ...(object.spec.certificates?.rotation === undefined ? {} : { rotation: object.spec.certificates.rotation }),
    },
    context,
  );
  if ("problem" in made) return await refuse({ reason: "CertificatesNotAvailable", message: made.problem });
  const authorities = authoritiesCondition(made.rotation, made.endMs, context.clock.now());
  const files = await readUserFiles(object, type, context);
  if ("problem" in files) return await refuse({ reason: "FilesNotAvailable", message: files.problem });

  const encryption = await ensureEncryptionKey(
    {
      cluster: key,
      owner: ownerReference,
      spec: object.spec.apiServer?.encryption,
      ...(source?.description.encryption === undefined ? {} : { known: source.description.encryption }),
    },
    context,
  );
  if (encryption !== undefined)
    files.files.apiServer[ENCRYPTION_FILE] = encryptionConfiguration(encryption, object.spec.apiServer?.encryption);

  const running = object.status?.version;
  const { workload } = planes;
  const refused = (): PlacementState["upgrade"] =>
    workload === undefined ? undefined : nodesRefuse(workload, key, object.spec.version);
  const notReachable = running === undefined ? undefined : unreachable(running, object.spec.version, type, refused);
  const plan: ControlPlanePlan = {
    owner,
    ...(object.metadata.uid === undefined ? {} : { objectUid: object.metadata.uid }),
    clusterName: key.name,
    spec: object.spec,
    // A version that cannot be reached leaves the running one in place.
    version: notReachable === undefined ? object.spec.version : (running ?? object.spec.version),
    endpoint,
    network,
    authorities: made.authorities,
    userFiles: files.files,
    upgradeRefusal: refused,
    ...(encryption === undefined ? {} : { encryption }),
    ...(source === undefined ? {} : { restore: source }),
    ...(initialized ? { initialized: true } : {}),
  };
  const own = backups === undefined ? undefined : ownBackups(object, plan, placement, backups, context);
  if (own !== undefined) Object.assign(plan, { backUp: own.backUp, openBackup: own.open });
  let state: PlacementState;
  try {
    state = await placement.ensure(plan);
  } finally {
    await source?.release();
    await own?.release();
  }
  if (state.problem !== undefined) {
    const served = initialized && state.apiReady ? serves(current, state, state.problem) : undefined;
    await report(served ?? { step: "waiting", ...state.problem });
    return requeueAfter(RETRY_MS);
  }
  remember(plan, state, planes);
  let renewAtMs = noticeMs(made.endMs, context.clock.now());
  if (state.apiReady) {
    const access = placement.access?.(owner);
    const kubeconfig = await ensureKubeconfigSecret(
      { cluster: key, owner: ownerReference, endpoint, authorities: made.authorities, algorithm, ...pathOf(access) },
      context,
    );
    try {
      const serving = { ...plan, version: state.version ?? plan.version };
      const { addresses, recheckMs } = await apiAddresses(endpoint.host, planes.resolve);
      await prepare(serving, kubeconfig.text, access, context, planes, { ...state, addresses });
      renewAtMs = Math.min(renewAtMs, kubeconfig.renewAtMs, context.clock.now() + (recheckMs ?? Infinity));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await report(
        waiting("PreparingClusterFailed", `Writing what nodes need to join failed and is tried again: ${why}`),
      );
      throw error;
    }
  }
  const prepared = planes.prepared.has(owner);
  const backup =
    backups !== undefined && state.apiReady && prepared
      ? await reconcileBackups(object, plan, placement, backups, context)
      : {};
  const upgrade = notReachable === undefined ? (state.upgrade ?? withoutBackup(notFound)) : notReachable;
  const nodes = workload === undefined ? undefined : unsupportedNodes(workload, key, state.version ?? plan.version);
  await report({
    step: "running",
    state: { ...state, ...(upgrade === undefined ? {} : { upgrade }) },
    prepared,
    backup,
    authorities,
    ...(nodes === undefined ? {} : { nodes }),
  });
  const waitsForNodes = nodes !== undefined || (upgrade !== undefined && refused()?.reason === upgrade.reason);
  const nodesAtMs = waitsForNodes ? context.clock.now() + NODES_AGAIN_MS : Infinity;
  const nextAtMs = Math.min(state.recheckAtMs ?? Infinity, backup.recheckAtMs ?? Infinity, renewAtMs, nodesAtMs);
  return again(nextAtMs, context);
}

/** When to look again; a watch wakes it before. */
function again(atMs: number, { clock }: ReconcileContext): Result {
  const ms = atMs - clock.now();
  return Number.isFinite(ms) ? requeueAfter(Math.max(ms, 0)) : done();
}

/** Keeps a plan that became true; one that is half done is nothing to go back to. */
function remember(plan: ControlPlanePlan, state: PlacementState, planes: HostedControlPlanes): void {
  planes.settled ??= new Map();
  if (!state.apiReady || state.upgrade !== undefined || state.version !== plan.version) {
    planes.settled.delete(plan.owner);
    return;
  }
  const { restore: _restore, backUp: _backUp, openBackup: _open, upgradeRefusal: _refusal, ...kept } = plan;
  planes.settled.set(plan.owner, kept);
}

/** Fills the new API with what joining nodes read; once per change of what that is. */
async function prepare(
  plan: ControlPlanePlan,
  kubeconfig: string,
  access: PlacementAccess | undefined,
  context: ReconcileContext,
  planes: HostedControlPlanes,
  { konnectivity, addresses }: PlacementState & { addresses: readonly string[] },
): Promise<void> {
  const { owner } = plan;
  const input = {
    clusterName: plan.clusterName,
    version: plan.version,
    endpoint: plan.endpoint,
    network: plan.network,
    imageRepository: plan.spec.imageRepository ?? "registry.k8s.io",
    caPem: trusted(plan.authorities, "cluster"),
    spec: plan.spec,
    addresses,
    ...(access === undefined ? {} : { access }),
    ...(konnectivity === undefined ? {} : { konnectivity }),
  };
  // The objects follow from this alone; making them costs more than a look.
  const digest = inputDigest(input);
  if (planes.prepared.get(owner) === digest) return;
  const objects = clusterObjects(input);
  if (access !== undefined && !planes.prepared.has(owner)) {
    await access.fill(objects);
    planes.prepared.set(owner, digest);
    return;
  }
  const config = await kubeconfigFromText(kubeconfig, { clock: context.clock, gate: planes.gate });
  const transport = access?.connect() ?? planes.dial?.(config) ?? httpTransport(config, { clock: context.clock });
  try {
    const client = new Client(transport, { fieldManager: context.client.fieldManager, clock: context.clock });
    await applyObjects(client, objects, context.signal);
    await removeObjects(client, absentObjects(input), context.signal);
    planes.prepared.set(owner, digest);
  } finally {
    await transport.close();
  }
}

/** Why a running control plane does not go to the version that is wanted. */
function unreachable(
  running: string,
  wanted: string,
  type: PlacementType,
  refused: () => PlacementState["upgrade"],
): PlacementState["upgrade"] {
  const problem = upgradeProblem(running, wanted);
  if (problem !== undefined)
    return { reason: "InvalidVersion", message: `spec.version: ${problem}; ${running} goes on serving` };
  // It changes at once, where others have a beginning to ask at.
  return type === "Embedded" && running !== wanted ? refused() : undefined;
}

/** A backup that is gone may have been restored long ago, or never: only a person knows. */
function withoutBackup(problem: string | undefined): PlacementState["upgrade"] {
  if (problem === undefined) return undefined;
  const message = `${problem}; what was there goes on serving. Correct spec.etcd.restoreFrom, or remove it if the backup has been restored`;
  return { reason: "BackupNotFound", message };
}

/** When to tell that an authority ends soon, if that has not been told yet. */
function noticeMs(endMs: number, nowMs: number): number {
  const at = endMs - EXPIRY_NOTICE_MS;
  return at > nowMs ? at : Infinity;
}

function pathOf(access: PlacementAccess | undefined): { path?: string; serverName?: string } {
  return access === undefined ? {} : { path: access.path, serverName: access.serverName };
}

function ownerCluster(object: HostedControlPlane, context: ReconcileContext): Cluster | undefined {
  const reference = object.metadata.ownerReferences?.find(
    (owner) => owner.kind === Cluster.kind && owner.apiVersion.startsWith(`${Cluster.group}/`),
  );
  if (reference === undefined) return undefined;
  return context.cache.get(Cluster, { namespace: object.metadata.namespace, name: reference.name });
}

/** How long the Cluster's controller may take to make itself the owner before the wait is told. */
const OWNER_GRACE_MS = 5_000;

/** How much longer an owner may be expected: only for a new object that a Cluster of the same name refers to. */
function ownerDueMs(object: HostedControlPlane, context: ReconcileContext): number {
  const { namespace, name = "", creationTimestamp = "" } = object.metadata;
  const spec = context.cache.get(Cluster, { namespace, name })?.spec;
  const reference = spec?.controlPlaneRef;
  if (spec?.paused === true || reference?.kind !== HostedControlPlane.kind || reference.name !== name) return 0;
  return OWNER_GRACE_MS - (context.clock.now() - Date.parse(creationTimestamp));
}

/** What serves, with what keeps it from becoming what is wanted. What was known of it beside that is not forgotten. */
function serves(
  object: HostedControlPlane,
  { problem: _problem, ...state }: PlacementState,
  { reason, message }: { reason: string; message: string },
  backup: BackupReport = {},
): Progress {
  const known = (type: string): ConditionInput | undefined => findCondition(conditionsOf(object), type);
  const [backedUp, authorities, nodes] = ["BackedUp", "AuthoritiesCurrent", "NodesSupported"].map(known);
  return {
    step: "running",
    state: { ...state, upgrade: { reason, message: `${message}; what runs goes on serving as it is` } },
    prepared: true,
    backup: { ...(backedUp === undefined ? {} : { condition: backedUp }), ...backup },
    ...(authorities === undefined ? {} : { authorities }),
    ...(nodes === undefined ? {} : { nodes: { reason: nodes.reason, message: nodes.message } }),
  };
}

const waiting = (reason: string, message: string): Progress => ({ step: "waiting", reason, message });

async function reported(report: Promise<void>): Promise<Result> {
  await report;
  return done();
}
