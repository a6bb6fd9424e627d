import { formatTime, isObject } from "@capstan/apimachinery";
import type { RemediationRecord } from "./plan/view.ts";

/** Formats a record of a remediation as an annotation, as upstream does. */
export function formatRecord({ machine, timeMs, retryCount }: RemediationRecord): string {
  return JSON.stringify({ machine, timestamp: formatTime(timeMs), retryCount });
}

/** Reads a record of a remediation from an annotation; undefined without one, or if a person wrote something else. */
export function parseRecord(text: string | undefined): RemediationRecord | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { machine, timestamp, retryCount } = value;
  const timeMs = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  if (typeof machine !== "string" || Number.isNaN(timeMs) || typeof retryCount !== "number") return undefined;
  return { machine, timeMs, retryCount };
}
