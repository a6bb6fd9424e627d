import type { schema as classSchema } from "../kinds/cluster-class.ts";
import type { AdmissionProblem, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { forbidden } from "./problems.ts";

type ClassSpec = KindObject<Infer<typeof classSchema>>["spec"];

interface Reference {
  apiVersion: string;
  kind: string;
}

/** Objects of a cluster keep their kinds: the kinds of a cluster's objects cannot be replaced. */
export function compatibilityProblems(before: ClassSpec, after: ClassSpec): AdmissionProblem[] {
  return [
    ...sameKind(before.infrastructure.templateRef, after.infrastructure.templateRef, "spec.infrastructure.templateRef"),
    ...sameKind(before.controlPlane.templateRef, after.controlPlane.templateRef, "spec.controlPlane.templateRef"),
    ...sameKind(
      before.controlPlane.machineInfrastructure?.templateRef,
      after.controlPlane.machineInfrastructure?.templateRef,
      "spec.controlPlane.machineInfrastructure.templateRef",
    ),
    ...(["machineDeployments", "machinePools"] as const).flatMap((list) =>
      (after.workers?.[list] ?? []).flatMap((now, index) => {
        const old = before.workers?.[list]?.find((one) => one.class === now.class);
        const path = `spec.workers.${list}[${index}].infrastructure.templateRef`;
        return old === undefined ? [] : sameKind(old.infrastructure.templateRef, now.infrastructure.templateRef, path);
      }),
    ),
  ];
}

function sameKind(before: Reference | undefined, after: Reference | undefined, field: string): AdmissionProblem[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined || after === undefined) return [forbidden(field, "cannot be added or removed")];
  const group = ({ apiVersion }: Reference): string => apiVersion.split("/")[0] ?? "";
  if (before.kind === after.kind && group(before) === group(after)) return [];
  const detail = `kind and group cannot change from ${before.kind}.${group(before)} to ${after.kind}.${group(after)}`;
  return [forbidden(before.kind === after.kind ? `${field}.apiVersion` : `${field}.kind`, detail)];
}
