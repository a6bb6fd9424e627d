import { conditions, observedGeneration, templateMetadata } from "../schema/common.ts";
import { integer, object, optional, string } from "../schema/schema.ts";
import { machineSpec } from "./machine-spec.ts";
import { versionCounts } from "./shared-status.ts";

/** Template of Machines. */
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
  replicas: optional(integer({ doc: "Number of Machines that exist." })),
  readyReplicas: optional(integer({ doc: "Number of Machines whose Ready condition is True." })),
  availableReplicas: optional(integer({ doc: "Number of Machines whose Available condition is True." })),
  upToDateReplicas: optional(integer({ doc: "Number of Machines whose UpToDate condition is True." })),
  versions: optional(versionCounts),
  observedGeneration: optional(observedGeneration),
};
