import { type Clock, ownerReference } from "@capstan/apimachinery";
import {
  Cluster,
  KubeadmConfig,
  pausedCondition,
  Secret,
  type WorkloadCalls,
  type WorkloadClusters,
} from "@capstan/capi";
import { done, type ReconcileContext, type Request, type Result, requeueAfter } from "@capstan/runtime";
import { type DataInput, initData, joinData } from "./bootstrap-data.ts";
import { ensureToken, isHalfSpent, refreshToken, TOKEN_TTL_MS, type TokenScope } from "./bootstrap-token.ts";
import { clusterCa, lookupCertificates, wantedCertificates } from "./certificates.ts";
import { configOwner } from "./config-owner.ts";
import { dataSecret, restoreOwner, storeData, storedToken } from "./data-secret.ts";
import { completeDiscovery, needsToken } from "./discovery.ts";
import { releaseInitLock, takeInitLock } from "./init-lock.ts";
import { kubeadmConfigStatus } from "./kubeadm-config.status.ts";
import { ensureKubeconfig } from "./kubeconfig.ts";
import { type Progress, Stopped } from "./progress.ts";
import { withRestore } from "./restore.ts";
import { withKnownSettings, withoutDropped } from "./settings.ts";
import { afterCall } from "./workload-call.ts";

/** State that the controller keeps in memory between reconciles; losing it only costs one extra check of each token. */
export interface BootstrapState {
  workload: WorkloadClusters;
  tokenTtlMs?: number;
  calls: WorkloadCalls;
  /** When each config's token is checked next, by the config's uid. */
  checks: Map<string, number>;
  /** Clusters (by uid) whose init lock is known to be deleted. */
  unlocked: Set<string>;
}

/** Reconciles a KubeadmConfig: waits for its prerequisites, renders bootstrap data, or refreshes its token. */
export async function reconcileKubeadmConfig(
  request: Request,
  context: ReconcileContext,
  state: BootstrapState,
): Promise<Result> {
  const config = context.cache.get(KubeadmConfig, request);
  if (config === undefined || config.metadata.deletionTimestamp !== undefined) return done();
  const owner = configOwner(config, context.cache);
  const cluster =
    owner === undefined
      ? undefined
      : context.cache.get(Cluster, { namespace: request.namespace, name: owner.clusterName });
  // The appearance of either triggers a reconcile.
  if (owner === undefined || cluster === undefined) return done();

  const paused = pausedCondition(config, cluster);
  const progress = paused.status === "True" ? undefined : await advance({ config, owner, cluster }, context, state);
  if (progress?.step === "later") return requeueAfter(progress.afterMs);
  const status = kubeadmConfigStatus(config, progress, paused, context.clock.now());
  await context.ensureStatus(
    {
      apiVersion: KubeadmConfig.apiVersion,
      kind: KubeadmConfig.kind,
      metadata: { namespace: request.namespace, name: request.name },
      status,
    } as KubeadmConfig,
    context.cache.get(KubeadmConfig, request),
  );
  return requeue(progress);
}

function requeue(progress: Progress | undefined): Result {
  if (progress?.step === "failed" && progress.retryAfterMs !== undefined) return requeueAfter(progress.retryAfterMs);
  if (progress?.step === "created" && progress.checkAfterMs !== undefined) return requeueAfter(progress.checkAfterMs);
  return done();
}

async function advance(input: DataInput, context: ReconcileContext, state: BootstrapState): Promise<Progress> {
  try {
    await restoreOwner(input.config, context);
    return await next(input, context, state);
  } catch (error) {
    if (error instanceof Stopped) return error.progress;
    throw error;
  }
}

async function next(input: DataInput, context: ReconcileContext, state: BootstrapState): Promise<Progress> {
  const { config, owner, cluster } = input;
  const initialization = cluster.status?.initialization;
  if (initialization?.infrastructureProvisioned !== true)
    return {
      step: "waiting",
      message: "Waiting for Cluster status.initialization.infrastructureProvisioned to be true",
    };
  const created = config.status?.initialization?.dataSecretCreated === true;
  // After a move or a restore the status is lost while the Machine still names its data.
  if (owner.dataSecretName !== undefined && (!created || config.status?.dataSecretName === undefined))
    return { step: "created", dataSecretName: owner.dataSecretName };
  const initialized = initialization.controlPlaneInitialized === true;
  if (initialized && owner.controlPlane) await unlock(cluster, context, state);
  if (created && owner.controlPlane) await ensureKubeconfig(config, cluster, context);
  if (created) return await keepFresh(withoutDropped(input), context, state);
  const known = withKnownSettings(input);
  const restored = owner.controlPlane ? await withRestore(known.config, context) : undefined;
  if (restored !== undefined) return await init({ ...known, config: restored }, context);
  if (initialized) return await join(known, context, state);
  const message = "Waiting for Cluster status.initialization.controlPlaneInitialized to be true";
  return owner.controlPlane ? await init(known, context) : { step: "waiting", message };
}

async function unlock(cluster: Cluster, context: ReconcileContext, state: BootstrapState): Promise<void> {
  const uid = cluster.metadata.uid ?? "";
  if (state.unlocked.has(uid)) return;
  await releaseInitLock(cluster, context);
  state.unlocked.add(uid);
}

async function init(input: DataInput, context: ReconcileContext): Promise<Progress> {
  const { config, owner, cluster } = input;
  // Before the lock: a config that can never become data must not keep other Machines from initializing.
  await initData(input, [], context);
  const holder = await takeInitLock(cluster, owner.name, context);
  if (holder !== owner.name)
    return { step: "waiting", message: `Waiting for Machine ${holder} to initialize the control plane` };
  const clusterKey = keyOf(cluster);
  const pairs = await lookupCertificates(
    {
      cluster: clusterKey,
      wanted: wantedCertificates(config.spec?.clusterConfiguration),
      // Control plane providers make their own; Machines without one get them here.
      ...(cluster.spec?.controlPlaneRef === undefined
        ? {
            generate: {
              owner: ownerReference(config, { controller: true }),
              config: config.spec?.clusterConfiguration,
            },
          }
        : {}),
    },
    context,
  );
  const progress = await store(input, await initData(input, pairs, context), undefined, context);
  // Not earlier: the CA may have just been created.
  await ensureKubeconfig(config, cluster, context);
  return progress;
}

async function join(
  input: DataInput,
  context: ReconcileContext,
  state: BootstrapState,
  previousToken?: string,
): Promise<Progress> {
  const { config, owner, cluster } = input;
  const clusterKey = keyOf(cluster);
  const caPem = await clusterCa(clusterKey, context);
  const pairs = owner.controlPlane
    ? await lookupCertificates(
        { cluster: clusterKey, wanted: wantedCertificates(config.spec?.clusterConfiguration) },
        context,
      )
    : [];
  let made: string | undefined;
  const discovery = await completeDiscovery(config.spec?.joinConfiguration?.discovery, cluster, caPem, async () => {
    made =
      (previousToken === undefined ? storedToken(config, dataSecret(config, context)) : undefined) ??
      (await withTokens(input, context, state, (scope) => ensureToken(scope, previousToken)));
    return made;
  });
  const value = await joinData(input, discovery, caPem, pairs, context);
  const progress = await store(input, value, made, context);
  return made === undefined ? progress : { ...progress, ...scheduleCheck(config, context.clock, state) };
}

async function store(
  { config, cluster }: DataInput,
  value: string,
  token: string | undefined,
  context: ReconcileContext,
): Promise<Extract<Progress, { step: "created" }>> {
  const format = config.spec?.format ?? "cloud-config";
  const dataSecretName = await storeData(config, cluster.metadata.name ?? "", { value, format, token }, context);
  return { step: "created", dataSecretName };
}

/** The data exists: extends an unused token, and replaces that of a pool in time. */
async function keepFresh(input: DataInput, context: ReconcileContext, state: BootstrapState): Promise<Progress> {
  const { config, owner } = input;
  const dataSecretName = config.status?.dataSecretName ?? config.metadata.name ?? "";
  const token = needsToken(config) ? storedToken(config, dataSecret(config, context)) : undefined;
  const uid = config.metadata.uid ?? "";
  if (token === undefined || (owner.joined && owner.kind === "Machine")) {
    state.checks.delete(uid);
    return { step: "created", dataSecretName };
  }
  const due = state.checks.get(uid) ?? 0;
  const nowMs = context.clock.now();
  if (nowMs < due) return { step: "created", dataSecretName, checkAfterMs: due - nowMs };
  if (owner.kind === "MachinePool" && owner.joined) {
    const rotate = await withTokens(input, context, state, (scope) => isHalfSpent(scope, token));
    if (rotate) return await join(input, context, state, token);
  } else await withTokens(input, context, state, (scope) => refreshToken(scope, token));
  return { step: "created", dataSecretName, ...scheduleCheck(config, context.clock, state) };
}

/** Three times in a token's life, so that one look may fail. */
function scheduleCheck(config: KubeadmConfig, clock: Clock, state: BootstrapState): { checkAfterMs: number } {
  const checkAfterMs = (state.tokenTtlMs ?? TOKEN_TTL_MS) / 3;
  state.checks.set(config.metadata.uid ?? "", clock.now() + checkAfterMs);
  return { checkAfterMs };
}

/** Runs something with the workload cluster's tokens; without a connection it stops, and the connection triggers a reconcile. */
async function withTokens<T>(
  { config, cluster }: DataInput,
  context: ReconcileContext,
  state: BootstrapState,
  work: (scope: TokenScope) => Promise<T>,
): Promise<T> {
  const connection = state.workload.get(keyOf(cluster));
  if (connection.state !== "connected")
    throw new Stopped({
      step: "waiting",
      message: `Waiting for the connection to the workload cluster: ${connection.error}`,
      certificates: true,
    });
  const { namespace = "", name = "", uid = "" } = config.metadata;
  const { client } = connection;
  // Known, so that the first token of a cluster costs no discovery.
  client.mapper.register(Secret);
  const { clock, random } = context;
  const ttlMs = state.tokenTtlMs ?? TOKEN_TTL_MS;
  const call = (signal: AbortSignal): Promise<T> =>
    work({ client, clock, random, ttlMs, config: { namespace, name, uid }, signal });
  try {
    return await state.calls.run(keyOf(cluster), call);
  } catch (error) {
    throw afterCall(error);
  }
}

function keyOf(cluster: Cluster): { namespace: string; name: string } {
  return { namespace: cluster.metadata.namespace ?? "", name: cluster.metadata.name ?? "" };
}
