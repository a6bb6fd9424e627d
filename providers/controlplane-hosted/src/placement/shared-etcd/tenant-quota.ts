import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import type { SharedEtcdRecord } from "./record.ts";

const MIB = 1024 ** 2;

/** How far a shared etcd may grow: etcd's own advice for the most. */
export const STORE_BYTES = 8192 * MIB;
/** How much of it is promised to tenants; the rest is for old revisions and unused space. */
const PROMISED_BYTES = 6144 * MIB;
const DEFAULT_TENANT_BYTES = 256 * MIB;
const CALM_CHECK_MS = 60_000;
const CROWDED_CHECK_MS = 15_000;
/** Measuring reads everything: it may take a hundredth of the time. */
const MEASURE_SHARE = 100;

/** What a tenant's keys and values may take. */
export function tenantQuota(spec: HostedControlPlaneSpec["etcd"]): number {
  return spec?.quotaBytes ?? DEFAULT_TENANT_BYTES;
}

/** Why a tenant cannot be promised so much, or undefined when it can. */
export function promiseProblem(
  record: SharedEtcdRecord,
  name: string,
  owner: string,
  quotaBytes: number,
): { reason: string; message: string } | undefined {
  const others = Object.entries(record.tenants).reduce(
    (sum, [other, tenant]) => (other === owner || tenant.gone === true ? sum : sum + tenant.quotaBytes),
    0,
  );
  if (others + quotaBytes <= PROMISED_BYTES) return undefined;
  return {
    reason: "SharedEtcdFull",
    message: `the shared etcd ${name} has promised ${mebibytes(others)} of ${mebibytes(PROMISED_BYTES)} to others and has no ${mebibytes(quotaBytes)} left; lower spec.etcd.quotaBytes, or choose another name in spec.etcd.shared of a new control plane`,
  };
}

/** A tenant with more than it may have. */
export function quotaTrouble(bytes: number, quotaBytes: number): { reason: string; message: string } {
  return {
    reason: "QuotaExceeded",
    message: `The objects of this control plane take ${mebibytes(bytes)} of at most ${mebibytes(quotaBytes)} in the shared etcd, so that it can only be read. Raise spec.etcd.quotaBytes, delete objects that are not needed, and lower it again`,
  };
}

/** When to measure again; sooner for those that have used more than half. */
export function nextMeasureMs(nowMs: number, bytes: number, quotaBytes: number, tookMs: number): number {
  const pause = bytes * 2 >= quotaBytes ? CROWDED_CHECK_MS : CALM_CHECK_MS;
  return nowMs + Math.max(pause, tookMs * MEASURE_SHARE);
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
