import { deepEqual, type KubeObject } from "@capstan/apimachinery";
import type { AdmissionProblem } from "@capstan/capi";
import { bytesOf } from "./size.ts";

interface Shape {
  spec?: {
    resources?: { cpu?: number; memory?: string; disk?: string; dockerVolumeSize?: string };
    kubeletVolumeSize?: string;
    additionalDisks?: { name: string; size: string }[];
  };
}

const REPLACE = "change its template instead, which replaces machines one by one";

/** Refuses changes of a machine's size except disks that grow: everything else needs another machine. */
export function growthProblems(object: KubeObject, old: KubeObject | undefined): AdmissionProblem[] {
  if (old === undefined) return [];
  const [now, before] = [(object as Shape).spec ?? {}, (old as Shape).spec ?? {}];
  const fixed = ["cpu", "memory"] as const;
  return [
    ...fixed.flatMap((name) =>
      deepEqual(now.resources?.[name], before.resources?.[name])
        ? []
        : [forbidden(`spec.resources.${name}`, `it cannot change while the machine exists: ${REPLACE}`)],
    ),
    ...grown("spec.resources.disk", now.resources?.disk, before.resources?.disk),
    ...grown("spec.resources.dockerVolumeSize", now.resources?.dockerVolumeSize, before.resources?.dockerVolumeSize),
    ...grown("spec.kubeletVolumeSize", now.kubeletVolumeSize, before.kubeletVolumeSize),
    ...disks(now.additionalDisks ?? [], before.additionalDisks ?? []),
  ];
}

function disks(now: { name: string; size: string }[], before: { name: string; size: string }[]): AdmissionProblem[] {
  const field = "spec.additionalDisks";
  const names = (list: { name: string }[]): string[] => list.map(({ name }) => name);
  if (!deepEqual(names(now), names(before)))
    return [forbidden(field, `disks cannot be added or removed while the machine exists: ${REPLACE}`)];
  return now.flatMap(({ size }, index) => grown(`${field}[${index}].size`, size, before[index]?.size));
}

function grown(field: string, now: string | undefined, before: string | undefined): AdmissionProblem[] {
  if (now === before) return [];
  if (now === undefined || before === undefined)
    return [forbidden(field, `it cannot be set or removed while the machine exists: ${REPLACE}`)];
  return (bytesOf(now) ?? 0) >= (bytesOf(before) ?? 0)
    ? []
    : [forbidden(field, `a disk of ${before} cannot shrink to ${now}: its content would be cut off`)];
}

function forbidden(field: string, detail: string): AdmissionProblem {
  return { type: "FieldValueForbidden", field, detail };
}
