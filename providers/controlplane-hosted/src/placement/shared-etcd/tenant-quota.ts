import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import type { SharedEtcdRecord } from "./record.ts";

const MIB = 1024 ** 2;

/** Maximum size of a shared etcd, which is etcd's recommended maximum. */
export const STORE_BYTES = 8192 * MIB;
/** How much of it is promised to tenants; the rest is for old revisions and unused space. */
const PROMISED_BYTES = 6144 * MIB;
const DEFAULT_TENANT_BYTES = 256 * MIB;
const CALM_CHECK_MS = 60_000;
const CROWDED_CHECK_MS = 15_000;
/** Measuring reads all data, so it may take at most a hundredth of the time. */
const MEASURE_SHARE = 100;

/** Returns the quota for a tenant's keys and values. */
export function tenantQuota(spec: HostedControlPlaneSpec["etcd"]): number {
  return spec?.quotaBytes ?? DEFAULT_TENANT_BYTES;
}

/** Returns why a shared etcd cannot grant a tenant this quota, or undefined if it can. */
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
    message: `the shared etcd ${name} has reserved ${mebibytes(others)} of ${mebibytes(PROMISED_BYTES)} for other control planes and cannot reserve another ${mebibytes(quotaBytes)}; lower spec.etcd.quotaBytes, or choose another name in spec.etcd.shared of a new control plane`,
  };
}

/** Returns the problem to report for a tenant that exceeds its quota. */
export function quotaTrouble(bytes: number, quotaBytes: number): { reason: string; message: string } {
  return {
    reason: "QuotaExceeded",
    message: `The objects of this control plane use ${mebibytes(bytes)} of at most ${mebibytes(quotaBytes)} in the shared etcd, which is read-only now. Raise spec.etcd.quotaBytes, delete objects that are not needed, and lower it again`,
  };
}

/** Returns when to measure a tenant again; sooner if it uses more than half of its quota. */
export function nextMeasureMs(nowMs: number, bytes: number, quotaBytes: number, tookMs: number): number {
  const pause = bytes * 2 >= quotaBytes ? CROWDED_CHECK_MS : CALM_CHECK_MS;
  return nowMs + Math.max(pause, tookMs * MEASURE_SHARE);
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
