import { clusterNetwork } from "@capstan/controlplane";
import {
  done,
  ensureFinalizer,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
  soonest,
} from "@capstan/runtime";
import { happenings } from "./happenings.ts";
import { identity } from "./identity.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { FINALIZER, type HostedControlPlanes } from "./planes.ts";
import { removeControlPlane } from "./remove.ts";
import { type ControlPlaneScope, readControlPlane } from "./scope.ts";
import { controlPlaneStatus } from "./status.ts";
import { awaitOwner } from "./steps/await-owner.ts";
import { chooseVersion } from "./steps/choose-version.ts";
import { collectFiles } from "./steps/collect-files.ts";
import { ensureKeys } from "./steps/ensure-keys.ts";
import { fillCluster } from "./steps/fill-cluster.ts";
import { findBackup } from "./steps/find-backup.ts";
import { hibernate } from "./steps/hibernate.ts";
import { Outcome } from "./steps/outcome.ts";
import { planComponents } from "./steps/plan-components.ts";
import { refuse } from "./steps/refuse.ts";
import { reportRunning } from "./steps/report-running.ts";
import { reserveEndpoint } from "./steps/reserve-endpoint.ts";
import { runComponents } from "./steps/run-components.ts";
import { specProblem } from "./validation.ts";

/** Reconciles a HostedControlPlane: takes the steps to a running control plane, and then writes its status. */
export async function reconcileHostedControlPlane(
  request: Request,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<Result> {
  const object = context.cache.get(HostedControlPlane, request);
  if (object === undefined) return done();
  const scope = readControlPlane(object, context, planes);
  if (object.metadata.deletionTimestamp !== undefined)
    return await removeControlPlane(object, scope.owner, scope.placement, context, planes);
  const outcome = await takeSteps(scope);
  const recheckMs = await writeStatus(scope, outcome);
  if (outcome.error !== undefined) throw outcome.error.cause;
  return recheckMs === undefined ? outcome.result : soonest(outcome.result, requeueAfter(recheckMs));
}

/** The steps in order. A step either returns what later ones build on, or the outcome that ends this reconcile. */
async function takeSteps(scope: ControlPlaneScope): Promise<Outcome> {
  if (scope.paused.status === "True") return new Outcome(scope, { step: "paused" });
  await ensureFinalizer(scope.context.client, scope.object, FINALIZER, scope.context.signal);
  const owned = awaitOwner(scope);
  if (owned instanceof Outcome) return owned;
  // A control plane that has served can be hibernated even if its spec is invalid.
  const stopped = owned.initialized ? await hibernate(owned) : undefined;
  if (stopped !== undefined) return stopped;
  const network = clusterNetwork(owned.cluster.spec?.clusterNetwork);
  const invalid = specProblem(owned.object.spec, network, owned.type);
  if (invalid !== undefined) return await refuse(owned, invalid);
  const backup = await findBackup(owned);
  if (backup instanceof Outcome) return backup;
  const { source } = backup;
  const reserved = await reserveEndpoint(owned, source);
  if (reserved instanceof Outcome) return reserved;
  const { scope: current, endpoint } = reserved;
  const neverStarted = await hibernate(current);
  if (neverStarted !== undefined) return neverStarted;
  const keys = await ensureKeys(current, source);
  if (keys instanceof Outcome) return keys;
  const inputs = await collectFiles(current, source);
  if (inputs instanceof Outcome) return inputs;
  const chosen = chooseVersion(current);
  const plan = planComponents(current, { source, endpoint, network, keys, inputs, chosen });
  const running = await runComponents(current, plan, source);
  if (running instanceof Outcome) return running;
  const filled = await fillCluster(current, running);
  if (filled instanceof Outcome) return filled;
  return await reportRunning(current, { running, keys, chosen, filled, backupProblem: backup.problem });
}

/** Writes the status and its events, and returns when it changes without an event. */
async function writeStatus(scope: ControlPlaneScope, { object, progress }: Outcome): Promise<number | undefined> {
  if (progress === undefined) return undefined;
  const { context, paused, type } = scope;
  const { namespace, name = "" } = scope.object.metadata;
  const nowMs = context.clock.now();
  const { status, recheckMs } = controlPlaneStatus({ object, progress, paused, placement: type, nowMs });
  const desired = { ...identity(object), status } as HostedControlPlane;
  await context.ensureStatus(desired, context.cache.get(HostedControlPlane, { namespace, name }));
  for (const { type: level, reason, action, note } of happenings(object, status, nowMs))
    context.recorder.event(scope.object, level, reason, action, note);
  return recheckMs;
}
