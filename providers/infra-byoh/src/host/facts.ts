import type { KubeObject } from "@capstan/apimachinery";
import type { HostFacts } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";

/** What lists of hosts show of a ByoHost. */
export function factsOf(object: KubeObject): HostFacts {
  const host = object as ByoHost;
  const { hostinfo, network, lastHeartbeatTime } = host.status ?? {};
  return {
    state: stateOf(host),
    machine: host.spec?.machineRef?.name,
    system: hostinfo?.osimage,
    architecture: hostinfo?.architecture,
    cpus: hostinfo?.cpus,
    memoryMiB: hostinfo?.memoryMiB,
    addresses: (network ?? []).flatMap(({ ipAddrs }) => ipAddrs ?? []),
    heartbeat: lastHeartbeatTime,
  };
}

function stateOf({ metadata, spec, status }: ByoHost): string {
  if (metadata.deletionTimestamp !== undefined) return "Deleting";
  if (status?.release?.phase === "Running") return "Releasing";
  if (status?.bootstrap?.phase === "Running") return "Bootstrapping";
  if (status?.bootstrap?.phase === "Failed") return "Failed";
  if (spec?.machineRef !== undefined) return "In use";
  return spec?.unschedulable === true ? "Cordoned" : "Free";
}
