import type { MachineTrouble } from "@capstan/workloads";
import { FAULTS, type Fault, type MemoryMachine } from "./kinds/memory-machine.ts";

/** Annotation that makes a machine fail like `spec.fault` does; the machine recovers when the annotation is removed. */
export const FAULT_ANNOTATION = "memory.infrastructure.cluster.x-k8s.io/fault";
/** Annotation that overrides `spec.bootSeconds` of a machine that has not been created yet. */
export const BOOT_SECONDS_ANNOTATION = "memory.infrastructure.cluster.x-k8s.io/boot-seconds";

/** As the schema has it for `spec.bootSeconds`: timers know no longer times. */
const MAX_BOOT_SECONDS = 86_400;

/** The fault and boot time that apply to a machine. */
export interface Behaviour {
  readonly fault: Fault | undefined;
  readonly bootMs: number;
}

/**
 * Computes a machine's behaviour from its spec and annotations; `share` in [0, 1) scales the boot jitter. Unknown values count as absent.
 */
export function behaviourOf(object: MemoryMachine, share: number): Behaviour {
  const { annotations } = object.metadata;
  const named = annotations?.[FAULT_ANNOTATION];
  const text = annotations?.[BOOT_SECONDS_ANNOTATION] ?? "";
  const seconds = /^\d/.test(text) ? Number(text) : Number.NaN;
  const base = seconds <= MAX_BOOT_SECONDS ? seconds : (object.spec?.bootSeconds ?? 0);
  return {
    fault: FAULTS.find((fault) => fault === named) ?? (named === undefined ? object.spec?.fault : undefined),
    bootMs: 1000 * base + Math.floor(1000 * share * (object.spec?.bootJitterSeconds ?? 0)),
  };
}

/** What a fault does to a control plane machine. */
export function troubleOf(fault: Fault | undefined): MachineTrouble {
  switch (fault) {
    case "NodeDies":
      return { off: true };
    case "NoNode":
      return { noNode: true };
    case "NeverPromoted":
      return { neverPromoted: true };
    case "EtcdPartitioned":
      return { isolated: true };
    case "EtcdNoSpace":
      return { noSpace: true };
    case "APIServerCrashes":
      return { crashing: "kube-apiserver" };
    case "ControllerManagerCrashes":
      return { crashing: "kube-controller-manager" };
    default:
      return {};
  }
}
