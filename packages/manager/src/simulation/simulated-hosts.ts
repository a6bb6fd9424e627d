import type { Unstructured } from "@capstan/apimachinery";
import { ByoHost } from "@capstan/host-agent";
import { SIMULATED_AGENT_ANNOTATION } from "@capstan/infra-byoh";
import { BareMetalHost } from "@capstan/infra-metal3";

/** Builds the objects of simulated hosts: ByoHosts `own-N`, and BareMetalHosts `metal-N` with their Secret. */
export function simulatedHosts(wanted: { namespace: string; own: number; metal: number }): Unstructured[] {
  const { namespace } = wanted;
  const own = Array.from({ length: wanted.own }, (_, i) => ({
    apiVersion: ByoHost.apiVersion,
    kind: ByoHost.kind,
    metadata: { namespace, name: `own-${i + 1}`, annotations: { [SIMULATED_AGENT_ANNOTATION]: "" } },
    spec: {},
  }));
  const metal = Array.from({ length: wanted.metal }, (_, i) => metalHost(namespace, `metal-${i + 1}`, i + 1));
  return [...own, ...metal.flat()];
}

function metalHost(namespace: string, name: string, number: number): Unstructured[] {
  const credentialsName = `${name}-bmc`;
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name: credentialsName },
      type: "Opaque",
      data: { username: btoa("admin"), password: btoa("simulated") },
    },
    {
      apiVersion: BareMetalHost.apiVersion,
      kind: BareMetalHost.kind,
      metadata: { namespace, name },
      spec: {
        online: false,
        bmc: { address: `memory://${name}`, credentialsName },
        bootMACAddress: `02:00:00:00:00:${number.toString(16).padStart(2, "0")}`,
      },
    },
  ];
}
