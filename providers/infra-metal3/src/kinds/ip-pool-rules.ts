import type { AdmissionProblem } from "@capstan/capi";
import { poolRanges } from "../ipam/pool-ranges.ts";
import type { IPPoolSpec } from "./ip-pool.ts";

type Spec = IPPoolSpec;

/** Validates an IPPool and changes to it; addresses in use must remain in the pool. */
export function ipPoolProblems(
  spec: Spec,
  old: Spec | undefined,
  inUse: Readonly<Record<string, string>>,
): AdmissionProblem[] {
  const ranges = poolRanges(spec);
  if ("problem" in ranges) {
    const [field = "spec"] = ranges.problem.split(": ");
    return [{ type: "FieldValueInvalid", field, detail: ranges.problem.slice(field.length + 2) }];
  }
  const strategy: AdmissionProblem[] =
    old !== undefined && (old.allocationStrategy ?? "sequential") !== (spec.allocationStrategy ?? "sequential")
      ? [{ type: "FieldValueForbidden", field: "spec.allocationStrategy", detail: "cannot change; make another pool" }]
      : [];
  const before = old === undefined ? undefined : poolRanges(old);
  const lost = Object.entries(inUse).filter(
    ([, address]) =>
      ranges.factsOf(address) === undefined &&
      before !== undefined &&
      !("problem" in before) &&
      before.factsOf(address) !== undefined,
  );
  return [
    ...strategy,
    ...lost.slice(0, 5).map(([claim, address]) => ({
      type: "FieldValueInvalid" as const,
      field: "spec.pools",
      detail: `${address} is in use by ${claim}; keep it in the pool or delete the claim first`,
    })),
  ];
}
