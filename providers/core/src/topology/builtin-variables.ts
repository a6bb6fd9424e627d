import type { Cluster, MachineDeployment, MachinePool } from "@capstan/capi";
import { field } from "@capstan/capi";
import type { Topology } from "./blueprint.ts";

/** Returns the builtin variables of the cluster, which all patches can use. */
export function clusterBuiltins(cluster: Cluster, topology: Topology): Record<string, unknown> {
  const { name, namespace, uid, labels, annotations } = cluster.metadata;
  const network = cluster.spec?.clusterNetwork;
  const classNamespace = topology.classRef.namespace ?? namespace;
  return {
    cluster: {
      name,
      namespace,
      uid,
      metadata: {
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations: visible(annotations) }),
      },
      topology: {
        version: topology.version,
        class: topology.classRef.name,
        classNamespace,
        classRef: { name: topology.classRef.name, namespace: classNamespace },
      },
      network: {
        ...(network?.serviceDomain === undefined ? {} : { serviceDomain: network.serviceDomain }),
        ...(network?.services === undefined ? {} : { services: network.services.cidrBlocks }),
        ...(network?.pods === undefined ? {} : { pods: network.pods.cidrBlocks }),
      },
    },
  };
}

/** kubectl's own annotations change with every apply and are irrelevant to patches. */
function visible(annotations: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => key !== "kubectl.kubernetes.io/last-applied-configuration"),
  );
}

/** Returns the builtin variables for templates of the control plane. */
export function controlPlaneBuiltins(
  controlPlane: { name: string; version: string; replicas: number | undefined; machineTemplate: string | undefined },
  metadata: object,
): Record<string, unknown> {
  const { name, version, replicas, machineTemplate } = controlPlane;
  return {
    controlPlane: {
      name,
      version,
      metadata,
      ...(replicas === undefined ? {} : { replicas }),
      ...(machineTemplate === undefined ? {} : { machineTemplate: { infrastructureRef: { name: machineTemplate } } }),
    },
  };
}

/** Returns the builtin variables for templates of a MachineDeployment or MachinePool. */
export function workerBuiltins(
  type: "machineDeployment" | "machinePool",
  worker: { name: string; topologyName: string; class: string; version: string; replicas: number | undefined },
  metadata: object,
  current: MachineDeployment | MachinePool | undefined,
): Record<string, unknown> {
  const { replicas, ...rest } = worker;
  const bootstrap = field(current, "spec", "template", "spec", "bootstrap", "configRef", "name");
  const infrastructure = field(current, "spec", "template", "spec", "infrastructureRef", "name");
  return {
    [type]: {
      ...rest,
      metadata,
      ...(replicas === undefined ? {} : { replicas }),
      ...(bootstrap === undefined ? {} : { bootstrap: { configRef: { name: bootstrap } } }),
      ...(infrastructure === undefined ? {} : { infrastructureRef: { name: infrastructure } }),
    },
  };
}
