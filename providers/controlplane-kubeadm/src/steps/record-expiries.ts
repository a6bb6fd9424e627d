import { formatTime } from "@capstan/apimachinery";
import type { Machine } from "@capstan/capi";
import { CERTIFICATES_EXPIRY } from "../annotations.ts";
import { configOf, type OwnedScope } from "../scope.ts";
import type { WorkloadObservation } from "../workload/workload-side.ts";

/** Records on KubeadmConfigs when the certificates of their Machines expire; the Machine controller reports that. */
export async function recordExpiries(
  scope: OwnedScope,
  machines: readonly Machine[],
  { machines: observed }: WorkloadObservation,
): Promise<void> {
  for (const machine of machines) {
    const endMs = observed.get(machine.metadata.name ?? "")?.certificatesExpireMs;
    const config = configOf(scope, machine);
    if (endMs === undefined || config === undefined || machine.metadata.deletionTimestamp !== undefined) continue;
    if (config.metadata.annotations?.[CERTIFICATES_EXPIRY] !== undefined) continue;
    const annotations = { [CERTIFICATES_EXPIRY]: formatTime(endMs) };
    await scope.context.client.patch(config, { metadata: { annotations } });
  }
}
