import { formatTime } from "@capstan/apimachinery";
import type { KubeadmControlPlane, Machine } from "@capstan/capi";
import { REMEDIATION_FOR, REMEDIATION_IN_PROGRESS } from "../annotations.ts";
import { parseRecord } from "../remediation-record.ts";

/** Returns the remediation under way, or else the last one that a Machine was created for; what was reported before if there is none. */
export function lastRemediation(
  { metadata, status }: KubeadmControlPlane,
  machines: readonly Machine[],
): NonNullable<KubeadmControlPlane["status"]>["lastRemediation"] {
  const current = parseRecord(metadata.annotations?.[REMEDIATION_IN_PROGRESS]);
  const earlier = machines.flatMap((machine) => parseRecord(machine.metadata.annotations?.[REMEDIATION_FOR]) ?? []);
  const record = current ?? earlier.sort((a, b) => b.timeMs - a.timeMs)[0];
  if (record === undefined) return status?.lastRemediation;
  return { machine: record.machine, time: formatTime(record.timeMs), retryCount: record.retryCount };
}
