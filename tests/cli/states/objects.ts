import type { Condition } from "@capstan/apimachinery";

/** An object of a story; its owner is `Kind/name` of one that comes before it. */
export interface StoryObject {
  apiVersion: string;
  kind: string;
  name: string;
  owner?: string;
  labels: Record<string, string>;
  spec: object;
  status?: object;
}

const CORE = "cluster.x-k8s.io/v1beta2";
const INFRA = "infrastructure.cluster.x-k8s.io/v1beta2";
const CLUSTER = { "cluster.x-k8s.io/cluster-name": "demo" };

/** A condition in short: type, status, and how many seconds ago it changed; reason and message where they matter. */
export interface Said {
  type: string;
  status?: Condition["status"];
  ago?: number;
  reason?: string;
  message?: string;
}

/** Conditions as an object has them. */
export function conditions(nowMs: number, said: readonly Said[]): Condition[] {
  return said.map(({ type, status = "True", ago = 3600, reason = type, message = "" }) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: secondsAgo(nowMs, ago),
  }));
}

/** A time as the API writes it. */
export function secondsAgo(nowMs: number, seconds: number): string {
  return new Date(nowMs - seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

export function cluster(
  nowMs: number,
  said: readonly Said[] | undefined,
  more: { paused?: boolean; controlPlaneKind?: string } = {},
): StoryObject {
  return {
    apiVersion: CORE,
    kind: "Cluster",
    name: "demo",
    labels: {},
    spec: {
      ...(more.paused === true ? { paused: true } : {}),
      controlPlaneRef: {
        apiGroup: "controlplane.cluster.x-k8s.io",
        kind: more.controlPlaneKind ?? "HostedControlPlane",
        name: "demo",
      },
    },
    ...(said === undefined
      ? {}
      : {
          status: {
            conditions: conditions(nowMs, said),
            phase: "Provisioned",
            initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
          },
        }),
  };
}

export function controlPlane(
  nowMs: number,
  said: readonly Said[] | undefined,
  { replicas = 1, initialized = true, version = "v1.35.4" } = {},
): StoryObject {
  const available = said?.some(({ type, status }) => type === "Available" && status !== "False") === true ? 1 : 0;
  return {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "HostedControlPlane",
    name: "demo",
    owner: "Cluster/demo",
    labels: CLUSTER,
    spec: { version, replicas },
    ...(said === undefined
      ? {}
      : {
          status: {
            conditions: conditions(nowMs, said),
            replicas: available,
            readyReplicas: available,
            availableReplicas: available,
            upToDateReplicas: available,
            ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
          },
        }),
  };
}

/** A KubeadmControlPlane that replaces its Machines, with its Machines: how long ago each began what it does now. */
export function machinePlane(nowMs: number, said: readonly Said[], machines: readonly PlaneMachine[]): StoryObject[] {
  const joined = machines.filter(({ node }) => node).length;
  return [
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlane",
      name: "demo",
      owner: "Cluster/demo",
      labels: CLUSTER,
      spec: {
        version: "v1.35.4",
        replicas: 3,
        machineTemplate: {
          spec: {
            infrastructureRef: {
              apiGroup: "infrastructure.cluster.x-k8s.io",
              kind: "ByoMachineTemplate",
              name: "demo",
            },
          },
        },
      },
      status: {
        conditions: conditions(nowMs, said),
        replicas: machines.length,
        readyReplicas: joined,
        availableReplicas: joined,
        initialization: { controlPlaneInitialized: true },
      },
    },
    ...machines.map(({ name, said: own, node }) => ({
      apiVersion: CORE,
      kind: "Machine",
      name,
      owner: "KubeadmControlPlane/demo",
      labels: { ...CLUSTER, "cluster.x-k8s.io/control-plane": "" },
      spec: machineSpec(name),
      status: { conditions: conditions(nowMs, own), ...(node ? { nodeRef: { name } } : {}) },
    })),
  ];
}

/** A control plane Machine of a story; one with a Node has joined. */
interface PlaneMachine {
  name: string;
  said: readonly Said[];
  node: boolean;
}

interface GroupOptions {
  replicas: number;
  available: number;
  upToDate?: number;
  said?: readonly Said[];
}

export function deployment(nowMs: number, options: GroupOptions | undefined, owner = "Cluster/demo"): StoryObject {
  const { replicas = 3, available = 0, upToDate = replicas, said } = options ?? {};
  return {
    apiVersion: CORE,
    kind: "MachineDeployment",
    name: "workers",
    owner,
    labels: CLUSTER,
    spec: {
      clusterName: "demo",
      replicas,
      selector: { matchLabels: { pool: "workers" } },
      template: { metadata: { labels: { pool: "workers" } }, spec: machineSpec("workers") },
    },
    ...(options === undefined
      ? {}
      : {
          status: {
            conditions: conditions(nowMs, said ?? [{ type: "Available" }]),
            replicas,
            readyReplicas: available,
            availableReplicas: available,
            upToDateReplicas: upToDate,
          },
        }),
  };
}

export function pool(nowMs: number, { replicas, available, said }: GroupOptions): StoryObject {
  const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "ByoMachineTemplate", name: "own" };
  const configRef = { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "own" };
  return {
    apiVersion: "capstan.dev/v1alpha1",
    kind: "WorkerPool",
    name: "general",
    owner: "Cluster/demo",
    labels: CLUSTER,
    spec: {
      clusterName: "demo",
      replicas,
      template: { spec: { version: "v1.35.4" } },
      members: [{ name: "own", infrastructureRef: reference, bootstrap: { configRef } }],
    },
    status: {
      conditions: conditions(nowMs, said ?? [{ type: "Available" }]),
      replicas,
      readyReplicas: available,
      availableReplicas: available,
    },
  };
}

function machineSpec(name: string): object {
  return {
    clusterName: "demo",
    version: "v1.35.4",
    bootstrap: { dataSecretName: name },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "ByoMachine", name },
  };
}

/** A Machine of the deployment with its ByoMachine and, when it has claimed one, its host. */
export function machine(
  nowMs: number,
  name: string,
  said: readonly Said[],
  more: { infra?: readonly Said[]; host?: { name: string; heardAgo: number } } = {},
): StoryObject[] {
  const { infra = [{ type: "Ready" }], host } = more;
  return [
    {
      apiVersion: CORE,
      kind: "Machine",
      name,
      owner: "MachineDeployment/workers",
      labels: { ...CLUSTER, "cluster.x-k8s.io/deployment-name": "workers" },
      spec: machineSpec(name),
      status: { conditions: conditions(nowMs, said) },
    },
    {
      apiVersion: INFRA,
      kind: "ByoMachine",
      name,
      owner: `Machine/${name}`,
      labels: CLUSTER,
      spec: {},
      status: { conditions: conditions(nowMs, infra) },
    },
    ...(host === undefined ? [] : [hostOf(nowMs, name, host)]),
  ];
}

function hostOf(nowMs: number, machineName: string, host: { name: string; heardAgo: number }): StoryObject {
  const machineRef = { apiVersion: INFRA, kind: "ByoMachine", namespace: "any", name: machineName, uid: "u" };
  return {
    apiVersion: INFRA,
    kind: "ByoHost",
    name: host.name,
    labels: {},
    spec: { machineRef },
    status: {
      lastHeartbeatTime: secondsAgo(nowMs, host.heardAgo),
      conditions: conditions(nowMs, [{ type: "Ready" }]),
    },
  };
}
