import { findCondition, formatTime, isReason } from "@capstan/apimachinery";
import {
  conditionsOf,
  deletionHooks,
  EXCLUDE_DRAIN_ANNOTATION,
  EXCLUDE_VOLUME_DETACH_ANNOTATION,
  hasDefinition,
  isExternallyManagedControlPlane,
  MACHINE_FINALIZER,
  Machine,
  type Node,
  PRE_DRAIN_HOOK,
  PRE_TERMINATE_HOOK,
  type Referenced,
  readReference,
  referenceText,
  WorkloadUnavailable,
} from "@capstan/capi";
import { type Client, type ReconcileContext, releaseFinalizer } from "@capstan/runtime";
import { clusterKey } from "../cluster/indexes.ts";
import { type DrainInput, drainNode, drainRuleProblems } from "../drain/drain.ts";
import { NodeKind } from "../drain/kinds.ts";
import { isUnreachable } from "../drain/pod-rules.ts";
import { attachedVolumes } from "../drain/volumes.ts";
import { BY_CONTROL_PLANE } from "../shared/indexes.ts";
import type { MachineDeps } from "./machine.reconcile.ts";
import type { MachineScope } from "./machine-scope.ts";

type Times = NonNullable<Machine["status"]>["deletion"];

/** Progress of the deletion of a Machine. */
export interface MachineDeletion {
  gone: boolean;
  reason: string;
  message: string;
  /** When its steps started; written to the status. */
  times: Times;
  retryMs?: number;
}

const DEFAULT_NODE_DELETION_SECONDS = 10;
/**
 * How long a manager tries to delete a Node before it gives up, however long the deletion of the Machine has taken before: it may have just
 * started and not be connected yet, or the endpoint may be moving. No other controller deletes the Node afterwards.
 */
const NODE_DELETION_TRY_MS = 10_000;
const POLL_MS = 2000;

/**
 * Deletes a Machine step by step: drains the Node, waits for volumes, deletes infrastructure, bootstrap config and Node, and removes the
 * finalizer.
 */
export async function deleteMachine(
  scope: MachineScope,
  context: ReconcileContext,
  deps: MachineDeps,
): Promise<MachineDeletion> {
  const pass = new Deletion(scope, context, deps);
  const touchNode = await pass.mayTouchNode();
  return (
    (touchNode ? ((await pass.hooks(PRE_DRAIN_HOOK)) ?? (await pass.drain()) ?? (await pass.volumes())) : undefined) ??
    (await pass.hooks(PRE_TERMINATE_HOOK)) ??
    (await pass.referenced(scope.infrastructure, "WaitingForInfrastructureDeletion")) ??
    (await pass.referenced(scope.bootstrap, "WaitingForBootstrapDeletion")) ??
    (touchNode ? await pass.deleteNode() : undefined) ??
    (await pass.finish())
  );
}

/** One pass; each step returns why it waits, or undefined once the next may start. */
class Deletion {
  readonly #scope: MachineScope;
  readonly #context: ReconcileContext;
  readonly #deps: MachineDeps;
  #times: Times;

  constructor(scope: MachineScope, context: ReconcileContext, deps: MachineDeps) {
    this.#scope = scope;
    this.#context = context;
    this.#deps = deps;
    this.#times = scope.machine.status?.deletion;
  }

  /** A Node need not be drained if its cluster is being deleted or has no control plane left to serve it. */
  async mayTouchNode(): Promise<boolean> {
    const { machine, cluster, node } = this.#scope;
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return false;
    if (machine.status?.nodeRef === undefined && node === undefined) return false;
    const namespace = machine.metadata.namespace ?? "";
    // Read once and not watched: only its current state matters, and later changes arrive through the Cluster.
    const controlPlane = await readReference(this.#context, namespace, cluster.spec?.controlPlaneRef, () => []);
    if (controlPlane.state === "missing") return false;
    if (controlPlane.state === "found") {
      if (controlPlane.object.metadata.deletionTimestamp !== undefined) return false;
      if (isExternallyManagedControlPlane(controlPlane.object)) return true;
    }
    return this.#context.cache
      .byIndex(Machine, BY_CONTROL_PLANE, clusterKey(namespace, machine.spec.clusterName))
      .some((other) => other.metadata.deletionTimestamp === undefined);
  }

  async hooks(prefix: string): Promise<MachineDeletion | undefined> {
    const names = deletionHooks(this.#scope.machine, prefix);
    if (names.length === 0) return undefined;
    const preDrain = prefix === PRE_DRAIN_HOOK;
    this.#begin(preDrain ? "waitForPreDrainHookStartTime" : "waitForPreTerminateHookStartTime");
    return this.#waiting(
      preDrain ? "WaitingForPreDrainHook" : "WaitingForPreTerminateHook",
      `Waiting for hooks (${names.join(", ")}) to be removed from the Machine's annotations`,
    );
  }

  async drain(): Promise<MachineDeletion | undefined> {
    const { machine, infrastructure, node, connection } = this.#scope;
    if (machine.metadata.annotations?.[EXCLUDE_DRAIN_ANNOTATION] !== undefined) return undefined;
    if (machine.status?.deletion?.waitForPreTerminateHookStartTime !== undefined) return undefined;
    // Without its infrastructure the Node is dead already: nothing could be moved off it in order.
    if (infrastructure.state !== "found" || infrastructure.object.metadata.deletionTimestamp !== undefined)
      return undefined;
    const first = this.#times?.nodeDrainStartTime === undefined;
    const since = this.#begin("nodeDrainStartTime");
    if (this.#exceeded(since, machine.spec.deletion?.nodeDrainTimeoutSeconds)) return undefined;
    if (connection.state !== "connected")
      return this.#unreachable("DrainingNode", connection.error, EXCLUDE_DRAIN_ANNOTATION);
    if (node === undefined) return undefined;
    if (first)
      for (const problem of this.#ruleProblems())
        this.#event("Warning", "InvalidMachineDrainRule", "DrainNode", problem);
    try {
      const outcome = await this.#call((signal) => drainNode(this.#drainInput(node, connection.client, signal)));
      if (!outcome.done) return this.#waiting("DrainingNode", this.#withRules(outcome.message), POLL_MS);
      const before = findCondition(conditionsOf(machine), "Deleting");
      if (before?.reason === "DrainingNode")
        this.#event(
          "Normal",
          "SuccessfulDrainNode",
          "DrainNode",
          `success draining Machine's node ${node.metadata.name}`,
        );
      return undefined;
    } catch (error) {
      if (error instanceof WorkloadUnavailable)
        return this.#unreachable("DrainingNode", error.message, EXCLUDE_DRAIN_ANNOTATION);
      const text = error instanceof Error ? error.message : String(error);
      this.#event("Warning", "FailedDrainNode", "DrainNode", `error draining Machine's node: ${text}`);
      return this.#waiting("DrainingNode", `Drain failed and will be retried: ${text}`, POLL_MS);
    }
  }

  async volumes(): Promise<MachineDeletion | undefined> {
    const { machine, node, connection, infrastructure } = this.#scope;
    if (machine.metadata.annotations?.[EXCLUDE_VOLUME_DETACH_ANNOTATION] !== undefined) return undefined;
    if (machine.status?.deletion?.waitForPreTerminateHookStartTime !== undefined) return undefined;
    if (infrastructure.state !== "found" || infrastructure.object.metadata.deletionTimestamp !== undefined)
      return undefined;
    if (node === undefined || isUnreachable(node)) return undefined;
    const since = this.#begin("waitForNodeVolumeDetachStartTime");
    if (this.#exceeded(since, machine.spec.deletion?.nodeVolumeDetachTimeoutSeconds)) return undefined;
    if (connection.state !== "connected") return undefined;
    try {
      const volumes = await this.#call((signal) => attachedVolumes(this.#drainInput(node, connection.client, signal)));
      if (volumes.length === 0) {
        if (findCondition(conditionsOf(machine), "Deleting")?.reason === "WaitingForVolumeDetach")
          this.#event(
            "Normal",
            "NodeVolumesDetached",
            "DetachVolumes",
            `volumes are detached from Machine's node ${node.metadata.name}`,
          );
        return undefined;
      }
      const shown = volumes.slice(0, 5).join(", ") + (volumes.length > 5 ? `, ... (${volumes.length - 5} more)` : "");
      const message = this.#withRules(`* Volumes still attached to the Node: ${shown}`);
      return this.#waiting("WaitingForVolumeDetach", message, POLL_MS);
    } catch (error) {
      if (error instanceof WorkloadUnavailable)
        return this.#unreachable("WaitingForVolumeDetach", error.message, EXCLUDE_VOLUME_DETACH_ANNOTATION);
      const text = error instanceof Error ? error.message : String(error);
      this.#event(
        "Warning",
        "FailedWaitForVolumeDetach",
        "DetachVolumes",
        `error looking for volumes attached to Machine's node: ${text}`,
      );
      const message = `Attached volumes cannot be determined, will retry: ${text}`;
      return this.#waiting("WaitingForVolumeDetach", message, POLL_MS);
    }
  }

  /** Deletes what the Machine refers to and waits for it. What never existed, or whose kind is not served, counts as deleted. */
  async referenced(referenced: Referenced, reason: string): Promise<MachineDeletion | undefined> {
    if (referenced.state === "none" || referenced.state === "missing") return undefined;
    const text = referenceText(referenced.reference);
    if (referenced.state === "unresolved")
      return hasDefinition(this.#context.cache, referenced.reference) &&
        !referenced.message.includes("belongs to Machine")
        ? this.#waiting(reason, `${text} cannot be read: ${referenced.message}`, 5 * POLL_MS)
        : undefined;
    if (referenced.object.metadata.deletionTimestamp === undefined) {
      await this.#context.client.delete(referenced.object);
      // Without finalizers it is deleted immediately, and no event would report it.
      const { kind, object } = referenced;
      const { namespace, name } = object.metadata;
      if (this.#context.cache.get(kind, { namespace, name: name ?? "" }) === undefined) return undefined;
    }
    return this.#waiting(reason, `Waiting for ${text} to be deleted`);
  }

  async deleteNode(): Promise<MachineDeletion | undefined> {
    const { machine, node, connection } = this.#scope;
    const name = node?.metadata.name ?? machine.status?.nodeRef?.name;
    if (name === undefined) return undefined;
    if (connection.state === "connected" && node === undefined) return undefined;
    const seconds = machine.spec.deletion?.nodeDeletionTimeoutSeconds ?? DEFAULT_NODE_DELETION_SECONDS;
    const givesUp = this.#exceeded(machine.metadata.deletionTimestamp, seconds) && this.#hasTriedNode();
    if (givesUp && connection.state !== "connected") return undefined;
    let problem: string;
    let retryMs = POLL_MS;
    if (connection.state === "connected") {
      try {
        await this.#call((signal) => connection.client.delete({ kind: NodeKind, name }, {}, signal));
        return undefined;
      } catch (error) {
        if (isReason(error, "NotFound")) return undefined;
        problem = error instanceof Error ? error.message : String(error);
        if (error instanceof WorkloadUnavailable) retryMs = error.retryMs;
        this.#event("Warning", "FailedDeleteNode", "DeleteNode", `error deleting Machine's node: ${problem}`);
        if (givesUp) return undefined;
      }
    } else problem = connection.error;
    return this.#waiting("DeletingNode", `Node ${name} cannot be deleted yet: ${problem}`, retryMs);
  }

  #hasTriedNode(): boolean {
    const { uid = "" } = this.#scope.machine.metadata;
    const nowMs = this.#context.clock.monotonic();
    const sinceMs = this.#deps.nodeDeletions.get(uid) ?? nowMs;
    this.#deps.nodeDeletions.set(uid, sinceMs);
    return nowMs - sinceMs >= NODE_DELETION_TRY_MS;
  }

  async finish(): Promise<MachineDeletion> {
    await releaseFinalizer(this.#context.client, this.#scope.machine, MACHINE_FINALIZER);
    this.#deps.nodeDeletions.delete(this.#scope.machine.metadata.uid ?? "");
    return { gone: true, reason: "DeletionCompleted", message: "", times: this.#times };
  }

  #drainInput(node: Node, client: Client, signal: AbortSignal): DrainInput {
    const { cache, clock } = this.#context;
    return { scope: this.#scope, node, client, cache, nowMs: clock.now(), signal };
  }

  #ruleProblems(): string[] {
    return drainRuleProblems({ scope: this.#scope, cache: this.#context.cache });
  }

  /** A rule with an invalid selector is reported where its effect is expected. */
  #withRules(message: string): string {
    return [message, ...this.#ruleProblems().map((problem) => `* Warning: ${problem}`)].join("\n");
  }

  #begin(step: keyof NonNullable<Times>): string {
    const before = this.#times?.[step];
    if (before !== undefined) return before;
    const now = formatTime(this.#context.clock.now());
    this.#times = { ...this.#times, [step]: now };
    return now;
  }

  /** No timeout, or 0, means no limit. */
  #exceeded(since: string | undefined, seconds: number | undefined): boolean {
    if (since === undefined || seconds === undefined || seconds === 0) return false;
    return this.#context.clock.now() - Date.parse(since) >= seconds * 1000;
  }

  #call<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { machine } = this.#scope;
    return this.#deps.calls.run({ namespace: machine.metadata.namespace ?? "", name: machine.spec.clusterName }, call);
  }

  #unreachable(reason: string, error: string, annotation: string): MachineDeletion {
    const cure = `set the annotation ${annotation} on the Machine to continue without it`;
    return this.#waiting(reason, `Cannot reach the workload cluster: ${error}; ${cure}`, 5 * POLL_MS);
  }

  #waiting(reason: string, message: string, retryMs?: number): MachineDeletion {
    return { gone: false, reason, message, times: this.#times, retryMs };
  }

  #event(type: "Normal" | "Warning", reason: string, action: string, note: string): void {
    this.#context.recorder.event(this.#scope.machine, type, reason, action, note);
  }
}
