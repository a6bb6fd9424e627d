import { clusterName, contractReference } from "../schema/common.ts";
import { CONDITION_TYPE, LABEL_VALUE, TAINT_KEY } from "../schema/patterns.ts";
import { array, documented, type Infer, integer, object, optional, string } from "../schema/schema.ts";

/** A condition of one's own that counts when readiness or availability is computed. */
const gate = object(
  {
    conditionType: string({ doc: "Type of the condition.", minLength: 1, maxLength: 316, pattern: CONDITION_TYPE }),
    polarity: optional(
      string({ doc: "Positive: True is the healthy status. Negative: False is.", enum: ["Positive", "Negative"] }),
    ),
  },
  { doc: "A condition that takes part in a summary condition." },
);

/** Schema of additional conditions that must be good for an object to be Ready. */
export const readinessGates = array(gate, {
  doc: "Additional conditions that Ready depends on.",
  minItems: 1,
  maxItems: 32,
  listType: "map",
  keys: ["conditionType"],
});
/** Schema of additional conditions that must be good for an object to be Available. */
export const availabilityGates = array(gate, {
  doc: "Additional conditions that Available depends on.",
  minItems: 1,
  maxItems: 32,
  listType: "map",
  keys: ["conditionType"],
});

/** Schema of a taint that a Machine's Node gets, and whether it is kept in sync or set only once. */
export const machineTaint = object(
  {
    key: string({ doc: "Taint key.", minLength: 1, maxLength: 317, pattern: TAINT_KEY }),
    value: optional(string({ doc: "Taint value.", minLength: 1, maxLength: 63, pattern: LABEL_VALUE })),
    effect: string({
      doc: "What happens to pods that do not tolerate it.",
      enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"],
    }),
    propagation: string({
      doc: "Whether the taint is kept in sync, or set once when the Node appears.",
      enum: ["Always", "OnInitialization"],
    }),
  },
  { doc: "A taint of the Node and how it is propagated." },
);

/** Schema of a Machine's list of taints, keyed by key and effect. */
export const machineTaints = array(machineTaint, {
  doc: "Taints for the Node.",
  minItems: 1,
  maxItems: 64,
  listType: "map",
  keys: ["key", "effect"],
});

/** Schemas of the timeouts for draining a Node, detaching its volumes and deleting it. */
export const deletionTimeouts = {
  nodeDrainTimeoutSeconds: optional(
    integer({ doc: "How long draining may take; no limit if 0 or absent.", minimum: 0 }),
  ),
  nodeVolumeDetachTimeoutSeconds: optional(
    integer({ doc: "How long detaching volumes may take; no limit if 0 or absent.", minimum: 0 }),
  ),
  nodeDeletionTimeoutSeconds: optional(
    integer({ doc: "How long deleting the Node may take; no limit if 0; default 10.", minimum: 0 }),
  ),
};

/** Schema of `deletion`, the deletion timeouts, in Machines and in the kinds that create them. */
export const machineDeletion = object(deletionTimeouts, {
  doc: "How long the steps of deleting a Machine may take.",
  minProperties: 1,
});

/** Schema of where a Machine's bootstrap data comes from: a bootstrap object or a Secret. */
export const bootstrap = object(
  {
    configRef: optional(
      documented(
        contractReference,
        "Reference to the bootstrap configuration, or to its template in MachineSets and MachineDeployments.",
      ),
    ),
    dataSecretName: optional(string({ doc: "Secret with the bootstrap data.", minLength: 0, maxLength: 253 })),
  },
  { doc: "Where the machine's bootstrap data comes from." },
);

/** Machine.spec; also what templates of Machines hold. */
export const machineSpec = object(
  {
    clusterName,
    bootstrap,
    infrastructureRef: documented(
      contractReference,
      "Reference to the infrastructure machine, to its template in MachineSets and MachineDeployments, or to the infrastructure machine pool in MachinePools.",
    ),
    version: optional(string({ doc: "Kubernetes version of the node.", minLength: 1, maxLength: 256 })),
    providerID: optional(
      string({ doc: "Identifies the machine at its provider and on its Node.", minLength: 1, maxLength: 512 }),
    ),
    failureDomain: optional(string({ doc: "Failure domain of the machine.", minLength: 1, maxLength: 256 })),
    minReadySeconds: optional(integer({ doc: "How long the Machine must be ready to be available.", minimum: 0 })),
    readinessGates: optional(readinessGates),
    deletion: optional(machineDeletion),
    taints: optional(machineTaints),
  },
  { doc: "Desired state of a Machine." },
);

/** Machine.spec: the Machine's cluster, version, bootstrap data and infrastructure. */
export type MachineSpec = Infer<typeof machineSpec>;
