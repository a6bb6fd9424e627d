import type { Unstructured } from "@capstan/apimachinery";
import { SIMULATED_AGENT_ANNOTATION } from "./annotations.ts";

/** Builds ByoHosts `own-1`, `own-2` … whose agents are simulated. */
export function simulatedByoHosts(namespace: string, count: number): Unstructured[] {
  return Array.from({ length: count }, (_, i) => ({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "ByoHost",
    metadata: { namespace, name: `own-${i + 1}`, annotations: { [SIMULATED_AGENT_ANNOTATION]: "" } },
    spec: {},
  }));
}
