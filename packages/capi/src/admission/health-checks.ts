import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import type { schema as drainRuleSchema } from "../kinds/machine-drain-rule.ts";
import type { schema as healthCheckSchema } from "../kinds/machine-health-check.ts";
import type { AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { amountProblems, immutable, invalid, parseSelector, required } from "./problems.ts";

type MachineHealthCheck = KindObject<Infer<typeof healthCheckSchema>>;
type MachineDrainRule = KindObject<Infer<typeof drainRuleSchema>>;

const NODE_STARTUP_TIMEOUT_SECONDS = 600;
const MIN_NODE_STARTUP_TIMEOUT_SECONDS = 30;

interface HealthCheck {
  checks?: { nodeStartupTimeoutSeconds?: number };
  remediation?: { triggerIf?: { unhealthyLessThanOrEqualTo?: number | string }; maxInFlight?: number | string };
}

/** Health checks of MachineHealthChecks, topologies and classes. */
export function healthCheckProblems(healthCheck: HealthCheck | undefined, path: string): AdmissionProblem[] {
  const timeout = healthCheck?.checks?.nodeStartupTimeoutSeconds;
  const { triggerIf, maxInFlight } = healthCheck?.remediation ?? {};
  return [
    ...(timeout !== undefined && timeout !== 0 && timeout < MIN_NODE_STARTUP_TIMEOUT_SECONDS
      ? [
          invalid(
            `${path}.checks.nodeStartupTimeoutSeconds`,
            timeout,
            "must be at least 30 seconds, or 0 to disable it",
          ),
        ]
      : []),
    ...amountProblems(
      triggerIf?.unhealthyLessThanOrEqualTo,
      `${path}.remediation.triggerIf.unhealthyLessThanOrEqualTo`,
    ),
    ...amountProblems(maxInFlight, `${path}.remediation.maxInFlight`),
  ];
}

/** MachineHealthCheck: upstream's rules. */
export const machineHealthCheckAdmission: KindAdmission<MachineHealthCheck> = {
  default: (check) => {
    check.metadata.labels = { ...check.metadata.labels, [CLUSTER_NAME_LABEL]: check.spec.clusterName };
    check.spec.checks = { nodeStartupTimeoutSeconds: NODE_STARTUP_TIMEOUT_SECONDS, ...check.spec.checks };
  },
  validate: ({ spec }, old) => {
    const { selector, problems } = parseSelector(spec.selector, "spec.selector");
    const other = spec.selector.matchLabels?.[CLUSTER_NAME_LABEL];
    return [
      ...problems,
      ...(selector?.empty === true ? [required("spec.selector", "selector must not be empty")] : []),
      ...(other !== undefined && other !== spec.clusterName
        ? [
            invalid(
              "spec.selector",
              spec.selector,
              "cannot specify a cluster selector other than the one specified by spec.clusterName",
            ),
          ]
        : []),
      ...(old === undefined ? [] : immutable("spec.clusterName", old.spec.clusterName, spec.clusterName)),
      ...healthCheckProblems(spec, "spec"),
    ];
  },
};

/** MachineDrainRule: upstream's rules. */
export const machineDrainRuleAdmission: KindAdmission<MachineDrainRule> = {
  validate: ({ spec }) => [
    ...(spec.drain.behavior !== "Drain" && spec.drain.order !== undefined
      ? [
          invalid(
            "spec.drain.order",
            spec.drain.order,
            'order must not be set if drain behavior is "Skip" or "WaitCompleted"',
          ),
        ]
      : []),
    ...(spec.machines ?? []).flatMap(({ selector, clusterSelector }, i) => [
      ...parseSelector(selector, `spec.machines[${i}].selector`).problems,
      ...parseSelector(clusterSelector, `spec.machines[${i}].clusterSelector`).problems,
    ]),
    ...(spec.pods ?? []).flatMap(({ selector, namespaceSelector }, i) => [
      ...parseSelector(selector, `spec.pods[${i}].selector`).problems,
      ...parseSelector(namespaceSelector, `spec.pods[${i}].namespaceSelector`).problems,
    ]),
  ],
};
