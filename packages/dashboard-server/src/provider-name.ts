/** Returns the short provider name of a kind: `ByoMachineTemplate` is `byo`, `Metal3Cluster` is `metal3`. */
export function providerName(kind: string): string {
  if (kind === "BareMetalHost") return "metal3";
  return kind
    .replace(/(ClusterTemplate|MachineTemplate|MachinePoolTemplate|MachinePool|Cluster|Machine|Host)$/, "")
    .toLowerCase();
}
