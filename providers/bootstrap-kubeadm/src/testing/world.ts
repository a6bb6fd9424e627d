import type { Unstructured } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  CONTROL_PLANE_LABEL,
  KubeadmConfig,
  kindConverters,
  Machine,
  MachinePool,
  Secret,
} from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { Plane } from "../../../core/src/testing/plane.ts";
import { addBootstrapKubeadmIndexes, bootstrapKubeadmControllers } from "../index.ts";

/** Where everything of a test lives. */
export const namespace = "default";
/** The Cluster of a test. */
export const CLUSTER = "c";

/** A management plane with this provider's controllers alone. */
export async function startPlane(tokenTtlMs?: number): Promise<Plane> {
  return await Plane.start({
    crds: [Cluster, Machine, MachinePool, KubeadmConfig].map((kind) => kind.crd()),
    converters: kindConverters([KubeadmConfig]),
    indexes: addBootstrapKubeadmIndexes,
    controllers: ({ workload, calls, cache }) => bootstrapKubeadmControllers({ workload, calls, cache, tokenTtlMs }),
  });
}

/** The Cluster as the core controllers would leave it. */
export async function createCluster(
  plane: Plane,
  initialization: { infrastructureProvisioned?: boolean; controlPlaneInitialized?: boolean },
  spec: object = {},
): Promise<void> {
  await plane.user.create({
    apiVersion: Cluster.apiVersion,
    kind: "Cluster",
    metadata: { namespace, name: CLUSTER },
    spec: { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 }, ...spec },
  } as Cluster);
  if (Object.keys(initialization).length > 0) await initialize(plane, initialization);
}

/** What the Cluster controller reports. */
export async function initialize(plane: Plane, initialization: object): Promise<void> {
  await plane.user.patchStatus({ kind: Cluster, namespace, name: CLUSTER }, { status: { initialization } });
  await plane.settle();
}

/** A Secret of the cluster, or of a user. */
export function secretWith(name: string, data: Record<string, string>, labelled = true): Unstructured {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, ...(labelled ? { labels: { [CLUSTER_NAME_LABEL]: CLUSTER } } : {}) },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  };
}

/** What a Machine or pool and its config are like. */
export interface Wanted {
  /** Of the KubeadmConfig; the newest unless said. */
  apiVersion?: string;
  name: string;
  spec?: object;
  version?: string;
  controlPlane?: boolean;
  pool?: boolean;
  /** Of the KubeadmConfig. */
  annotations?: Record<string, string>;
}

/** A Machine (or MachinePool) and its KubeadmConfig, owned as the Machine controller does it. */
export async function createMachine(plane: Plane, wanted: Wanted): Promise<void> {
  const { name, controlPlane = false, pool = false, version = "v1.34.4" } = wanted;
  const machineSpec = {
    clusterName: CLUSTER,
    version,
    bootstrap: { configRef: { apiGroup: KubeadmConfig.group, kind: KubeadmConfig.kind, name } },
    infrastructureRef: { apiGroup: "x.io", kind: "Thing", name },
  };
  const labels = { [CLUSTER_NAME_LABEL]: CLUSTER, ...(controlPlane ? { [CONTROL_PLANE_LABEL]: "" } : {}) };
  const kind = pool ? MachinePool : Machine;
  const owner = await plane.user.create<Unstructured>({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { namespace, name, labels },
    spec: pool ? { clusterName: CLUSTER, replicas: 1, template: { spec: machineSpec } } : machineSpec,
  });
  await plane.user.create({
    apiVersion: `${KubeadmConfig.group}/${wanted.apiVersion ?? KubeadmConfig.version}`,
    kind: KubeadmConfig.kind,
    metadata: {
      namespace,
      name,
      ...(wanted.annotations === undefined ? {} : { annotations: wanted.annotations }),
      ownerReferences: [
        { apiVersion: kind.apiVersion, kind: kind.kind, name, uid: owner.metadata.uid ?? "", controller: true },
      ],
    },
    spec: wanted.spec ?? {},
  } as KubeadmConfig);
  await plane.settle();
}

/** A config and its data Secret as the server has them. */
export async function read(plane: Plane, name: string): Promise<{ config: KubeadmConfig; secret: Secret | undefined }> {
  const config = await plane.user.get(KubeadmConfig, { namespace, name });
  if (config === undefined) throw new Error(`no KubeadmConfig ${name}`);
  return { config, secret: await plane.user.get(Secret, { namespace, name }) };
}

/** The bootstrap tokens of a workload cluster. */
export async function tokens(client: Client): Promise<Secret[]> {
  const { items } = await client.list(Secret, { namespace: "kube-system" });
  return items.filter(({ metadata }) => metadata.name?.startsWith("bootstrap-token-"));
}

/** `Status Reason message` of a condition. */
export function conditionText(config: KubeadmConfig, type: string): string {
  const found = config.status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? "" : `${found.status} ${found.reason} ${found.message}`.trimEnd();
}
