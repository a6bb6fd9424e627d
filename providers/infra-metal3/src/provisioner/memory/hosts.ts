import type { Unstructured } from "@capstan/apimachinery";

/** Builds BareMetalHosts `metal-1`, `metal-2` … whose management controllers are simulated, each with its Secret. */
export function simulatedMetalHosts(namespace: string, count: number): Unstructured[] {
  return Array.from({ length: count }, (_, i) => metalHost(namespace, `metal-${i + 1}`, i + 1)).flat();
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
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      metadata: { namespace, name },
      spec: {
        online: false,
        bmc: { address: `memory://${name}`, credentialsName },
        bootMACAddress: `02:00:00:00:00:${number.toString(16).padStart(2, "0")}`,
      },
    },
  ];
}
