import { machineDrainRuleAdmission } from "../admission/health-checks.ts";
import { machineDrainRuleV1Beta1 } from "../conversion/others.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { labelSelector } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, documented, integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn } from "./columns.ts";

const unique = (field: string) => [
  { rule: "self.all(x, self.exists_one(y, x == y))", message: `entries in ${field} must be unique` },
];

const spec = object(
  {
    drain: object(
      {
        behavior: string({
          doc: "Drain: evict. Skip: ignore. WaitCompleted: wait until the Pod completes.",
          enum: ["Drain", "Skip", "WaitCompleted"],
        }),
        order: optional(integer({ doc: "Pods with a lower order are evicted first; only with Drain; default 0." })),
      },
      { doc: "How matching Pods are drained." },
    ),
    machines: optional(
      array(
        object(
          {
            selector: optional(documented(labelSelector, "Labels of the Machine.")),
            clusterSelector: optional(documented(labelSelector, "Labels of its Cluster.")),
          },
          { doc: "Machines that match both selectors.", minProperties: 1 },
        ),
        {
          doc: "Machines that the rule applies to; all if absent.",
          minItems: 1,
          maxItems: 32,
          listType: "atomic",
          rules: unique("machines"),
        },
      ),
    ),
    pods: optional(
      array(
        object(
          {
            selector: optional(documented(labelSelector, "Labels of the Pod.")),
            namespaceSelector: optional(documented(labelSelector, "Labels of its Namespace.")),
          },
          { doc: "Pods that match both selectors.", minProperties: 1 },
        ),
        {
          doc: "Pods that the rule applies to; all if absent.",
          minItems: 1,
          maxItems: 32,
          listType: "atomic",
          rules: unique("pods"),
        },
      ),
    ),
  },
  { doc: "Desired state of the MachineDrainRule." },
);

/** The v1beta2 schema of a MachineDrainRule's spec; the v1beta1 schema is derived from it. */
export const schema = object({ spec });

/** Declares which Pods are evicted, skipped or waited for when a Node is drained, and in which order. */
export const MachineDrainRule = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineDrainRule",
  plural: "machinedrainrules",
  doc: "Declares which Pods are evicted, skipped or waited for when a Node is drained, and in which order.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  status: false,
  schema,
  others: [v1beta1("cluster.x-k8s.io", "MachineDrainRule", schema, machineDrainRuleV1Beta1)],
  admission: machineDrainRuleAdmission,
  columns: [
    { name: "Behavior", type: "string", jsonPath: ".spec.drain.behavior" },
    { name: "Order", type: "string", jsonPath: ".spec.drain.order" },
    ageColumn,
  ],
});
export type MachineDrainRule = ObjectOf<typeof MachineDrainRule>;
