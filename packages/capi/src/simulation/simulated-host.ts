import type { KubeObject } from "@capstan/apimachinery";
import { field } from "../contract/fields.ts";

/** On a ByoHost: its agent is played in memory, for demos and tests; nothing runs anywhere. */
export const SIMULATED_AGENT_ANNOTATION = "memory.capstan.dev/agent";
/** Its value for a host that has died: neither agent nor node say anything any more. */
export const SIMULATED_AGENT_DEAD = "dead";
/** On a simulated ByoHost: the kubelet it brings along. Without it the host has the kubelet that its Machine needs. */
export const SIMULATED_KUBELET_ANNOTATION = "memory.capstan.dev/kubelet";
/** On a BareMetalHost whose management controller is simulated: what is wrong with it, comma separated. */
export const BMC_FAULTS_ANNOTATION = "memory.capstan.dev/faults";

/** Whether a host that exists in memory alone was broken on request; undefined for a real one. */
export function simulatedHealth(host: KubeObject): "well" | "broken" | undefined {
  const annotations = host.metadata.annotations ?? {};
  if (host.kind === "ByoHost") {
    const agent = annotations[SIMULATED_AGENT_ANNOTATION];
    if (agent === undefined) return undefined;
    return agent === SIMULATED_AGENT_DEAD ? "broken" : "well";
  }
  const address = field(host, "spec", "bmc", "address");
  if (typeof address !== "string" || !address.startsWith("memory://")) return undefined;
  return (annotations[BMC_FAULTS_ANNOTATION] ?? "") === "" ? "well" : "broken";
}

/** The merge patch that lets such a host die, or brings it back. */
export function simulatedFault(kind: string, broken: boolean): { metadata: { annotations: Record<string, unknown> } } {
  const annotations =
    kind === "ByoHost"
      ? { [SIMULATED_AGENT_ANNOTATION]: broken ? SIMULATED_AGENT_DEAD : "" }
      : { [BMC_FAULTS_ANNOTATION]: broken ? "unreachable" : null };
  return { metadata: { annotations } };
}
