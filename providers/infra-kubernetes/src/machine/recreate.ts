import { findCondition, formatDuration, parseDuration } from "@capstan/apimachinery";
import {
  conditionsOf,
  failed,
  isControlPlaneMachine,
  type Outcome,
  REMEDIATE_MACHINE_ANNOTATION,
  wait,
} from "@capstan/capi";
import type { Pod } from "@capstan/workloads";
import type { Place } from "../backend.ts";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import type { Key } from "../names.ts";
import { missingClaims } from "./claims.ts";
import type { Scope } from "./ensure.ts";
import { recreationProblem, wantsRecreation } from "./kept-data.ts";
import { awaitsReplacement } from "./outer-drain.ts";
import type { PodState } from "./pod-state.ts";

type Ended = Extract<PodState, { type: "ended" }>;

const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 300_000;
const RECHECK_MS = 60_000;
const REPLACE = "Delete the Machine, or let a MachineHealthCheck do it, to have it replaced";

/** Decides what happens when a machine's pod is lost. */
export interface Recreation {
  /** Returns why a pod that does not exist must not be created; undefined when it may. */
  lost(place: Place, key: Key): Promise<Outcome | undefined>;
  /** What to do about a pod that will not run again. */
  ended(place: Place, pod: Pod, state: Ended): Promise<Outcome>;
  /** Returns a failure, and has the machine replaced, if a pod that was created again takes too long. */
  timeout(message: string): Promise<Outcome | undefined>;
  /** When to see whether it does. */
  readonly recheckMs: number | undefined;
}

/** Returns how long a pod that was lost may take to be ready again. */
export function recreationLimitMs({ spec }: KubernetesMachine): number {
  return parseDuration(spec?.recreationTimeout ?? "15m");
}

/** Returns what the machine's policy says about its lost pod. */
export function recreation(scope: Scope): Recreation {
  const { object, machine, backend, clock, signal } = scope;
  const had = object.status?.podRef?.uid !== undefined || object.spec?.providerID !== undefined;
  const wasBootstrapped = findCondition(conditionsOf(object), "BootstrapSucceeded")?.status === "True";
  // Of a machine that never was ready there is nothing to return to but a new try.
  const sinceMs = wasBootstrapped ? notReadySince(object) : undefined;

  const problem = recreationProblem(scope);
  const recreates = wantsRecreation(object) && problem === undefined;
  const because = problem === undefined ? "" : `. ${problem}`;

  const timeout = async (message: string): Promise<Outcome | undefined> => {
    const limitMs = recreationLimitMs(object);
    if (!recreates || sinceMs === undefined || clock.now() - sinceMs < limitMs) return undefined;
    return await lostForGood(
      "RecreationTimeout",
      `The pod is not ready ${formatDuration(limitMs)} after it was lost: ${message}`,
    );
  };

  const recheckMs = recreates && sinceMs !== undefined ? RECHECK_MS : undefined;
  return {
    recheckMs,
    timeout,
    lost: async ({ host }, key) => {
      if (!had) return undefined;
      // A new volume is empty: with it the pod of a control plane would start an empty cluster behind the same endpoint.
      const missing = recreates && isControlPlaneMachine(machine) ? missingClaims(host, object, key) : [];
      if (missing.length > 0)
        return await lostForGood(
          "ClaimLost",
          `The claims with the data of the machine are deleted: ${missing.join(", ")}`,
        );
      if (recreates) return (await timeout("there is no pod")) ?? pause();
      return await lostForGood("PodLost", `The pod was deleted in the outer cluster${because}`);
    },
    ended: async ({ host, signal }, pod, state) => {
      const { deletionTimestamp } = pod.metadata;
      // What failed the first time is left as it is, for a person to see.
      if (state.bootstrap === true && !wasBootstrapped) return failed("BootstrapFailed", state.message, REPLACE);
      if (!recreates) return await lostForGood(state.reason, state.message + because);
      const tooLong = await timeout(state.message);
      if (tooLong !== undefined) return tooLong;
      // Its replacement has the same name.
      if (deletionTimestamp === undefined) await host.client.delete(pod, {}, signal);
      return wait("Recreating", `the pod is created again: ${state.message}`, recheckMs ?? RECHECK_MS);
    },
  };

  /**
   * A MachineHealthCheck sees only that the machine is not ready, as one is that starts: the annotation says that it never will be. A
   * Machine that was taken out of its MachineSet is selected by no health check and has its replacement on the way.
   */
  async function lostForGood(reason: string, message: string): Promise<Outcome> {
    const { annotations, deletionTimestamp } = machine.metadata;
    if (deletionTimestamp !== undefined) return failed(reason, message, REPLACE);
    if (awaitsReplacement(machine)) await backend.client.delete(machine, {}, signal);
    else if (annotations?.[REMEDIATE_MACHINE_ANNOTATION] === undefined)
      await backend.client.patch(
        machine,
        { metadata: { annotations: { [REMEDIATE_MACHINE_ANNOTATION]: "" } } },
        {},
        signal,
      );
    return failed(reason, message, REPLACE);
  }

  /** Lives that are short follow each other at growing intervals; after one that was long the next begins at once. */
  function pause(): Outcome | undefined {
    const { restarts = 0, podRef } = object.status ?? {};
    const createdMs = Date.parse(podRef?.creationTimestamp ?? "");
    if (restarts === 0 || Number.isNaN(createdMs)) return undefined;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (restarts - 1), LONGEST_PAUSE_MS);
    const leftMs = createdMs + pauseMs - clock.now();
    if (leftMs <= 0) return undefined;
    return wait("Recreating", `the pod was lost ${restarts} times before; it is created again after a pause`, leftMs);
  }
}

/** Since when a machine is not ready, as its status says. */
function notReadySince(object: KubernetesMachine): number | undefined {
  const condition = findCondition(conditionsOf(object), "Ready");
  if (condition?.status !== "False") return undefined;
  return Date.parse(condition.lastTransitionTime ?? "");
}
