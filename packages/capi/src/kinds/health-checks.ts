import { versionedReference } from "../schema/common.ts";
import { CONDITION_TYPE, RANGE } from "../schema/patterns.ts";
import { array, boolean, documented, integer, intOrString, object, optional, string } from "../schema/schema.ts";

const OURS = ["Ready", "Available", "HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated"];

const timeoutSeconds = integer({ doc: "How long it may last before the Machine counts as unhealthy.", minimum: 0 });

const unhealthyNodeConditions = array(
  object(
    {
      type: string({ doc: "Type of the Node's condition.", minLength: 1 }),
      status: string({ doc: "The bad status.", minLength: 1 }),
      timeoutSeconds,
    },
    { doc: "A Node condition that makes the Machine unhealthy when it persists." },
  ),
  { doc: "Conditions of the Node that make a Machine unhealthy.", minItems: 1, maxItems: 100, listType: "atomic" },
);

const unhealthyMachineConditions = array(
  object(
    {
      type: string({
        doc: "Type of the Machine's condition.",
        minLength: 1,
        maxLength: 316,
        pattern: CONDITION_TYPE,
        rules: [
          {
            rule: `!(self in [${OURS.map((type) => `'${type}'`).join(",")}])`,
            message: `type must not be one of: ${OURS.join(", ")}`,
          },
        ],
      }),
      status: string({ doc: "The bad status.", enum: ["True", "False", "Unknown"] }),
      timeoutSeconds,
    },
    { doc: "A Machine condition that makes the Machine unhealthy when it persists." },
  ),
  { doc: "Conditions of the Machine that make it unhealthy.", minItems: 1, maxItems: 100, listType: "atomic" },
);

/** What makes a Machine unhealthy. */
export const checks = object(
  {
    nodeStartupTimeoutSeconds: optional(
      integer({ doc: "How long a Machine may have no Node; 0 disables the timeout; default 600.", minimum: 0 }),
    ),
    unhealthyNodeConditions: optional(unhealthyNodeConditions),
    unhealthyMachineConditions: optional(unhealthyMachineConditions),
  },
  { doc: "What makes a Machine unhealthy.", minProperties: 1 },
);

/** Which unhealthy Machines are repaired, and how. */
export const remediationFields = {
  triggerIf: optional(
    object(
      {
        unhealthyLessThanOrEqualTo: optional(
          intOrString({
            doc: "Remediate only while at most this many (or this percentage of) Machines are unhealthy.",
          }),
        ),
        unhealthyInRange: optional(
          string({
            doc: "Remediate only while the number of unhealthy Machines is in [a-b]; takes precedence over the limit.",
            minLength: 1,
            maxLength: 32,
            pattern: RANGE,
          }),
        ),
      },
      {
        doc: "Limits within which unhealthy Machines are remediated; without limits all of them are.",
        minProperties: 1,
      },
    ),
  ),
  templateRef: optional(
    documented(
      versionedReference,
      "Template of the remediation request of an external provider; without it the owner of the Machine remediates.",
    ),
  ),
};

/** `healthCheck` of a control plane in topologies and classes. */
export const controlPlaneHealthCheck = {
  checks: optional(checks),
  remediation: optional(object(remediationFields, { doc: "How unhealthy Machines are remediated.", minProperties: 1 })),
};

/** `healthCheck` of a MachineDeployment in topologies and classes. */
export const machineDeploymentHealthCheck = {
  checks: optional(checks),
  remediation: optional(
    object(
      {
        maxInFlight: optional(intOrString({ doc: "How many Machines may be remediated at a time." })),
        ...remediationFields,
      },
      { doc: "How unhealthy Machines are remediated.", minProperties: 1 },
    ),
  ),
};

/** Whether a topology's health check is enabled. */
export const healthCheckEnabled = {
  enabled: optional(boolean({ doc: "Whether it is enabled; by default if the class or this object has checks." })),
};
