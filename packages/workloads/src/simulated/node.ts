import type { MachineAddress, Node, NodeTaint } from "@capstan/capi";

/** What a simulated kubelet knows about its machine. */
export interface NodeFacts {
  readonly name: string;
  /** Empty when the cluster's operator sets it later. */
  readonly providerID: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly version: string;
  readonly addresses: readonly MachineAddress[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly failureDomain: string | undefined;
  readonly taints: readonly NodeTaint[];
  /** When it booted, RFC 3339. */
  readonly since: string;
}

type NodeCondition = NonNullable<NonNullable<Node["status"]>["conditions"]>[number];

/** Builds the Node object that a kubelet registers. */
export function nodeOf(facts: NodeFacts): Node {
  const pressure = (type: string, reason: string): NodeCondition => ({
    type,
    status: "False",
    reason,
    message: `kubelet has no ${type}`,
    lastTransitionTime: facts.since,
  });
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: facts.name,
      labels: {
        "kubernetes.io/hostname": facts.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        ...(facts.failureDomain === undefined ? {} : { "topology.kubernetes.io/zone": facts.failureDomain }),
        ...facts.labels,
      },
    },
    spec: {
      ...(facts.providerID === "" ? {} : { providerID: facts.providerID }),
      ...(facts.taints.length === 0 ? {} : { taints: [...facts.taints] }),
    },
    status: {
      addresses: [...facts.addresses],
      nodeInfo: {
        machineID: facts.providerID,
        systemUUID: facts.providerID,
        bootID: facts.since,
        kernelVersion: "6.1.0-memory",
        osImage: "Capstan memory machine",
        containerRuntimeVersion: "memory://1.0.0",
        kubeletVersion: facts.version,
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
      conditions: [
        pressure("MemoryPressure", "KubeletHasSufficientMemory"),
        pressure("DiskPressure", "KubeletHasNoDiskPressure"),
        pressure("PIDPressure", "KubeletHasSufficientPID"),
        readyCondition(true, facts.since),
      ],
      capacity: { ...facts.capacity },
      allocatable: { ...facts.capacity },
    } as NonNullable<Node["status"]>,
  };
}

/** Builds the Ready condition as a kubelet posts it, or as the node lifecycle controller sets it for a silent one. */
export function readyCondition(alive: boolean, since: string): NodeCondition {
  return alive
    ? {
        type: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "kubelet is posting ready status",
        lastTransitionTime: since,
      }
    : {
        type: "Ready",
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status.",
        lastTransitionTime: since,
      };
}
