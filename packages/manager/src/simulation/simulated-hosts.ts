import type { Unstructured } from "@capstan/apimachinery";
import { ByoHost } from "@capstan/host-agent";
import { BareMetalHost } from "@capstan/infra-metal3";
import { SIMULATED_AGENT_ANNOTATION } from "./simulated-agents.ts";

/** Hosts that exist in memory alone, as objects to create: own hosts `own-N` and bare-metal hosts `metal-N` with their Secret. */
export function simulatedHosts(wanted: { namespace: string; own: number; metal: number }): Unstructured[] {
  const { namespace } = wanted;
  const own = Array.from({ length: wanted.own }, (_, i) => ({
    apiVersion: ByoHost.apiVersion,
    kind: ByoHost.kind,
    metadata: { namespace, name: `own-${i + 1}`, annotations: { [SIMULATED_AGENT_ANNOTATION]: "" } },
    spec: {},
  }));
  if (wanted.metal === 0) return own;
  const credentials = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: "metal-bmc" },
    type: "Opaque",
    data: { username: btoa("admin"), password: btoa("simulated") },
  };
  const metal = Array.from({ length: wanted.metal }, (_, i) => ({
    apiVersion: BareMetalHost.apiVersion,
    kind: BareMetalHost.kind,
    metadata: { namespace, name: `metal-${i + 1}` },
    spec: {
      online: false,
      bmc: { address: `memory://metal-${i + 1}`, credentialsName: "metal-bmc" },
      bootMACAddress: `02:00:00:00:00:${(i + 1).toString(16).padStart(2, "0")}`,
    },
  }));
  return [...own, credentials, ...metal];
}
