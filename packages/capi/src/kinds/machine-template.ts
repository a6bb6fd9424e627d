import { conditions, observedGeneration, templateMetadata } from "../schema/common.ts";
import { integer, object, optional, string } from "../schema/schema.ts";
import { machineSpec } from "./machine-spec.ts";
import { versionCounts } from "./shared-status.ts";

/** What Machines are made from. */
export const machineTemplate = object(
  { metadata: optional(templateMetadata), spec: machineSpec },
  { doc: "Template that Machines are created from." },
);

/** How Machines are named. */
export const machineNaming = object(
  {
    template: optional(
      string({ doc: "Go template of Machine names; must contain {{ .random }}.", minLength: 1, maxLength: 256 }),
    ),
  },
  { doc: "How Machines are named.", minProperties: 1 },
);

/** Status that everything that keeps Machines shares. */
export const replicasStatus = {
  conditions: optional(conditions),
  selector: optional(string({ doc: "Selector as text, for the scale subresource.", minLength: 1, maxLength: 4096 })),
  replicas: optional(integer({ doc: "Machines that exist." })),
  readyReplicas: optional(integer({ doc: "Machines with Ready True." })),
  availableReplicas: optional(integer({ doc: "Machines with Available True." })),
  upToDateReplicas: optional(integer({ doc: "Machines with UpToDate True." })),
  versions: optional(versionCounts),
  observedGeneration: optional(observedGeneration),
};
