import type { KubeObject } from "@capstan/apimachinery";
import type { Service } from "@capstan/workloads";
import { nameOf, ownMetadata, type PodComponent, type PodNames, selectorLabels } from "./names.ts";
import { ETCD_PORTS } from "./objects.ts";

/** Returns the headless Service of etcd's members. It publishes unready addresses, because members must find each other to become ready. */
export function etcdService(names: PodNames): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: ownMetadata(names, nameOf(names, "etcd"), "etcd"),
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: selectorLabels(names, "etcd"),
      ports: [
        { name: "client", port: ETCD_PORTS.client, protocol: "TCP", targetPort: ETCD_PORTS.client },
        { name: "peer", port: ETCD_PORTS.peer, protocol: "TCP", targetPort: ETCD_PORTS.peer },
      ],
    },
  };
}

/** Returns the PodDisruptionBudget that lets a drain of the host cluster evict one pod of a component at a time. */
export function disruptionBudget(names: PodNames, component: PodComponent): KubeObject {
  const budget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: ownMetadata(names, nameOf(names, component), component),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(names, component) } },
  };
  return budget;
}

/** Returns the NetworkPolicy that allows only the control plane's own kube-apiservers and members to reach etcd. */
export function etcdNetworkPolicy(names: PodNames): KubeObject {
  const from = (component: PodComponent, port: number): object => ({
    from: [{ podSelector: { matchLabels: selectorLabels(names, component) } }],
    ports: [{ protocol: "TCP", port }],
  });
  const policy = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: ownMetadata(names, nameOf(names, "etcd"), "etcd"),
    spec: {
      podSelector: { matchLabels: selectorLabels(names, "etcd") },
      policyTypes: ["Ingress"],
      ingress: [
        from("kube-apiserver", ETCD_PORTS.client),
        from("etcd", ETCD_PORTS.client),
        from("etcd", ETCD_PORTS.peer),
      ],
    },
  };
  return policy;
}
