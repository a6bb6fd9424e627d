import { parseGroupVersion } from "@capstan/apimachinery";
import { CONTROL_PLANE_LABEL, type KubeadmConfig, Machine, MachinePool } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";

/** The Machine or MachinePool that the bootstrap data is rendered for. */
export interface ConfigOwner {
  kind: "Machine" | "MachinePool";
  name: string;
  clusterName: string;
  version: string | undefined;
  controlPlane: boolean;
  /** The data Secret that the owner's spec already names; needed after a move, when the config's status is lost. */
  dataSecretName: string | undefined;
  /** Whether a node has joined with the data. */
  joined: boolean;
}

/** Returns the Machine or MachinePool that owns a config, or undefined while there is none. */
export function configOwner(config: KubeadmConfig, cache: Cache): ConfigOwner | undefined {
  const namespace = config.metadata.namespace ?? "";
  for (const reference of config.metadata.ownerReferences ?? []) {
    if (parseGroupVersion(reference.apiVersion).group !== Machine.group) continue;
    const key = { namespace, name: reference.name };
    if (reference.kind === "Machine") return machineOwner(cache.get(Machine, key));
    if (reference.kind === "MachinePool") return poolOwner(cache.get(MachinePool, key));
  }
  return undefined;
}

function machineOwner(machine: Machine | undefined): ConfigOwner | undefined {
  if (machine === undefined) return undefined;
  return {
    kind: "Machine",
    name: machine.metadata.name ?? "",
    clusterName: machine.spec.clusterName,
    version: machine.spec.version,
    controlPlane: machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined,
    dataSecretName: machine.spec.bootstrap.dataSecretName,
    joined: machine.status?.nodeRef !== undefined,
  };
}

function poolOwner(pool: MachinePool | undefined): ConfigOwner | undefined {
  if (pool === undefined) return undefined;
  const { spec } = pool.spec.template;
  return {
    kind: "MachinePool",
    name: pool.metadata.name ?? "",
    clusterName: pool.spec.clusterName,
    version: spec.version,
    controlPlane: false,
    dataSecretName: spec.bootstrap.dataSecretName,
    joined: (pool.status?.nodeRefs ?? []).length > 0,
  };
}
