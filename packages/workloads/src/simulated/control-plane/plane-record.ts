import type { Unstructured } from "@capstan/apimachinery";
import { configMap } from "@capstan/controlplane";
import type { EmbeddedCluster } from "../../embedded/embedded-clusters.ts";
import type { EtcdRecord } from "../simulated-etcd.ts";

const CONFIG_MAPS = { group: "", plural: "configmaps" };
const NAMESPACE = "kube-system";
const NAME = "capstan-simulated-control-plane";
const MANAGER = "capstan-simulation";

/** What a simulated control plane keeps over a restart of this process, next to its API's data. */
export interface PlaneRecord {
  /** The machine that ran `kubeadm init`. */
  readonly initMachine: string;
  /** Machines whose disk has a member's data: machine, and id of the member. */
  readonly disks: readonly (readonly [string, string])[];
  readonly etcd: EtcdRecord;
}

/** The record as an object of the cluster. */
export function recordObject(record: PlaneRecord): Unstructured {
  return configMap(NAME, { record: JSON.stringify(record) });
}

/** Reads the record of a cluster; undefined before `kubeadm init`. */
export function readRecord({ server }: EmbeddedCluster): PlaneRecord | undefined {
  const data = server.internal.get(CONFIG_MAPS, NAMESPACE, NAME) as { data?: { record?: string } } | undefined;
  return data?.data?.record === undefined ? undefined : (JSON.parse(data.data.record) as PlaneRecord);
}

/** Updates the record. */
export async function writeRecord({ server }: EmbeddedCluster, record: PlaneRecord): Promise<void> {
  const text = JSON.stringify(record);
  await server.internal.update(CONFIG_MAPS, NAMESPACE, NAME, MANAGER, (object) => {
    const config = object as { data?: Record<string, string> };
    if (config.data?.["record"] === text) return false;
    config.data = { ...config.data, record: text };
    return undefined;
  });
}
