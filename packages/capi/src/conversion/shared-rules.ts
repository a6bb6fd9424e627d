import { duration, list, reference, versionedReference } from "./codecs.ts";
import { move, optionalInOld, type Rule, recode } from "./rules.ts";

/** Conditions: v1beta1 kept its own in `conditions` and the new ones in `v1beta2`. */
export const CONDITIONS: readonly Rule[] = [
  move("status.conditions", "status.deprecated.v1beta1.conditions"),
  move("status.v1beta2.conditions", "status.conditions"),
];

/** Terminal failures of an object. */
export const FAILURE: readonly Rule[] = [
  move("status.failureReason", "status.deprecated.v1beta1.failureReason"),
  move("status.failureMessage", "status.deprecated.v1beta1.failureMessage"),
];

/** Counters whose meaning changed: the old ones are kept apart, the new ones were in `v1beta2`. */
export function counters(old: readonly string[], changed: readonly string[]): Rule[] {
  return [
    ...old.map((name) => move(`status.${name}`, `status.deprecated.v1beta1.${name}`)),
    ...changed.map((name) => move(`status.v1beta2.${name}`, `status.${name}`)),
  ];
}

/** Timeouts of deleting a Machine. */
export const TIMEOUTS: readonly Rule[] = [
  move("nodeDrainTimeout", "deletion.nodeDrainTimeoutSeconds", duration),
  move("nodeVolumeDetachTimeout", "deletion.nodeVolumeDetachTimeoutSeconds", duration),
  move("nodeDeletionTimeout", "deletion.nodeDeletionTimeoutSeconds", duration),
];

/** Machine.spec, here and in templates. */
export const MACHINE_SPEC: readonly Rule[] = [
  recode("bootstrap.configRef", reference),
  recode("infrastructureRef", reference),
  ...TIMEOUTS,
];

const TIMEOUT = list([move("timeout", "timeoutSeconds", duration)]);

/** Health checks of MachineHealthChecks, topologies and classes. */
const CHECKS: readonly (readonly [old: string, target: string, codec?: typeof TIMEOUT])[] = [
  ["nodeStartupTimeout", "checks.nodeStartupTimeoutSeconds", duration],
  ["unhealthyConditions", "checks.unhealthyNodeConditions", TIMEOUT],
  ["unhealthyMachineConditions", "checks.unhealthyMachineConditions", TIMEOUT],
  ["maxUnhealthy", "remediation.triggerIf.unhealthyLessThanOrEqualTo"],
  ["unhealthyRange", "remediation.triggerIf.unhealthyInRange"],
  ["remediationTemplate", "remediation.templateRef", versionedReference],
];

/** Rules of health checks whose fields are below these paths. */
export function healthCheck(old: string, target: string): Rule[] {
  return CHECKS.map(([from, to, codec]) => move(`${old}.${from}`, `${target}.${to}`, codec));
}

/** How a MachineDeployment rolls out: `remediation` is where its limit of repairs went. */
export function rolloutStrategy(remediation: string): Rule[] {
  return [
    move("strategy.rollingUpdate.deletePolicy", "deletion.order"),
    move("strategy.remediation.maxInFlight", remediation),
    move("strategy", "rollout.strategy"),
    optionalInOld("strategy.type"),
  ];
}
