import type { PrinterColumnDefinition } from "../schema/kind.ts";
import { optionalInOld, type Rule } from "./rules.ts";
import { CONDITIONS } from "./shared-rules.ts";

type Column = PrinterColumnDefinition;
const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const pool: readonly Column[] = [
  { name: "Pool Name", type: "string", jsonPath: ".spec.poolRef.name" },
  { name: "Pool Kind", type: "string", jsonPath: ".spec.poolRef.kind" },
];
const unchanged: readonly Rule[] = [];

/** MachineDrainRule: the versions are equal. */
export const machineDrainRuleV1Beta1 = {
  rules: unchanged,
  columns: [
    { name: "Behavior", type: "string", jsonPath: ".spec.drain.behavior" },
    { name: "Order", type: "string", jsonPath: ".spec.drain.order" },
    age,
  ] satisfies Column[],
};

/** ClusterResourceSet. */
export const clusterResourceSetV1Beta1 = {
  rules: [...CONDITIONS, optionalInOld("spec.resources")],
  columns: [age],
};

/** ClusterResourceSetBinding. */
export const clusterResourceSetBindingV1Beta1 = { rules: [optionalInOld("spec.clusterName")], columns: [age] };

/** IPAddress. */
export const ipAddressV1Beta1 = {
  rules: [optionalInOld("spec.poolRef.apiGroup")],
  columns: [{ name: "Address", type: "string", jsonPath: ".spec.address" }, ...pool, age] satisfies Column[],
};

/** IPAddressClaim. */
export const ipAddressClaimV1Beta1 = {
  rules: [...CONDITIONS, optionalInOld("spec.poolRef.apiGroup")],
  columns: [...pool, age],
};
