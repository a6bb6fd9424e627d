import { findCondition } from "@capstan/apimachinery";
import type { ByoHost } from "@capstan/host-agent";

/**
 * Describes a bootstrap that failed, followed by what to read. A wrong clock of the host is named first, because certificates and tokens
 * fail with it in programs that do not say so.
 */
export function bootstrapFailure({ metadata, status }: ByoHost, then: string): string {
  const skew = findCondition(status?.conditions ?? [], "ClockInSync");
  const clock = skew?.status === "False" ? `${skew.message}; ` : "";
  return `host ${metadata.name}: ${clock}${status?.bootstrap?.message ?? "failed"}; ${then}: capstan host logs ${metadata.name}`;
}
