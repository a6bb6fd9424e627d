/** On a ByoHost: its agent is simulated in memory, for demos and tests; nothing runs anywhere. */
export const SIMULATED_AGENT_ANNOTATION = "memory.capstan.dev/agent";
/** Its value for a host that has died: neither its agent nor its Node reports any more. */
export const DEAD_AGENT = "dead";
/** On a simulated ByoHost: the version of the kubelet on it. Without it the host has the kubelet that its Machine needs. */
export const SIMULATED_KUBELET_ANNOTATION = "memory.capstan.dev/kubelet";
