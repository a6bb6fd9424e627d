import type { ClusterNetwork } from "@capstan/controlplane";
import type { RestoreSource } from "../backup/restore.ts";
import type { ControlPlanePlan } from "../placement/placement.ts";
import type { OwnedScope } from "../scope.ts";
import type { ChosenVersion } from "./choose-version.ts";
import type { ComponentInputs } from "./collect-files.ts";
import type { Keys } from "./ensure-keys.ts";

/** What the steps before have found. */
export interface PlanInput {
  source: RestoreSource | undefined;
  endpoint: { host: string; port: number };
  network: ClusterNetwork;
  keys: Keys;
  inputs: ComponentInputs;
  chosen: ChosenVersion;
}

/** Returns the plan that the placement runs. */
export function planComponents(
  { object, owner, cluster, initialized }: OwnedScope,
  input: PlanInput,
): ControlPlanePlan {
  const { source, endpoint, network, keys, inputs, chosen } = input;
  return {
    owner,
    objectUid: object.metadata.uid,
    clusterName: cluster.metadata.name ?? "",
    spec: object.spec,
    version: chosen.version,
    endpoint,
    network,
    authorities: keys.authorities,
    userFiles: inputs.userFiles,
    upgradeRefusal: chosen.nodesRefuse,
    encryption: inputs.encryption,
    restore: source,
    ...(initialized ? { initialized: true } : {}),
  };
}
