import {
  cluster,
  controlPlane,
  deployment,
  machine,
  machinePlane,
  pool,
  type Said,
  type StoryObject,
} from "./objects.ts";

/** A cluster at one moment of its life. */
export interface Story {
  /** How long its objects have existed. */
  ageSeconds: number;
  objects(nowMs: number): StoryObject[];
}

const OLD = 7200;
const UP: Said[] = [{ type: "Available" }, { type: "RemoteConnectionProbe" }, { type: "Paused", status: "False" }];
const PLANE: Said[] = [{ type: "Available" }, { type: "UpToDate" }];
const READY: Said[] = [{ type: "Available" }, { type: "Ready" }, { type: "UpToDate" }, { type: "NodeHealthy" }];
const outdated = (ago: number): Said => ({
  type: "UpToDate",
  status: "False",
  ago,
  reason: "NotUpToDate",
  message: "* spec.version v1.34.4, v1.35.4 required",
});

/** An upgrade of seven machines of which three are done; the last change was this long ago. */
function upgrade(ago: number): Story {
  return {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, UP),
      controlPlane(now, PLANE),
      deployment(now, {
        replicas: 7,
        available: 7,
        upToDate: 3,
        said: [{ type: "Available" }, { type: "RollingOut", ago: 1800, message: "Rolling out 4 replicas" }],
      }),
      ...Array.from({ length: 7 }, (_, i) =>
        machine(
          now,
          `m${i}`,
          i < 3 ? [...READY.slice(0, 2), { type: "UpToDate", ago }] : [...READY.slice(0, 2), outdated(1800)],
        ),
      ).flat(),
    ],
  };
}

export const STORIES: Readonly<Record<string, Story>> = {
  "five-seconds-old": {
    ageSeconds: 5,
    objects: (now) => [cluster(now, undefined), controlPlane(now, undefined), deployment(now, undefined)],
  },
  provisioning: {
    ageSeconds: 90,
    objects: (now) => [
      {
        ...cluster(now, [
          { type: "Available", status: "False", ago: 85, reason: "NotAvailable" },
          {
            type: "RemoteConnectionProbe",
            status: "False",
            ago: 85,
            reason: "ProbeFailed",
            message: "Waiting for the control plane to be initialized",
          },
          { type: "ControlPlaneAvailable", status: "False", ago: 85, reason: "ComponentsNotReady" },
          { type: "WorkersAvailable", status: "False", ago: 85, reason: "NotAvailable" },
        ]),
      },
      controlPlane(
        now,
        [
          {
            type: "Available",
            status: "False",
            ago: 20,
            reason: "ComponentsNotReady",
            message: "* kube-apiserver: waits for etcd",
          },
        ],
        { initialized: false },
      ),
      deployment(now, { replicas: 1, available: 0, said: [{ type: "Available", status: "False", ago: 80 }] }),
      ...machine(
        now,
        "m0",
        [
          { type: "Ready", status: "False", ago: 80, reason: "NotReady" },
          {
            type: "NodeHealthy",
            status: "Unknown",
            ago: 80,
            reason: "InspectionFailed",
            message: "Waiting for Cluster control plane to be initialized",
          },
        ],
        { infra: [] },
      ),
    ],
  },
  healthy: {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, UP),
      controlPlane(now, PLANE),
      deployment(now, { replicas: 1, available: 1 }),
      ...machine(now, "m0", READY, { host: { name: "own-1", heardAgo: 30 } }),
    ],
  },
  "upgrade-3-of-7": upgrade(30),
  "upgrade-stuck": upgrade(1200),
  "upgrade-past-its-deadline": {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, UP),
      controlPlane(now, PLANE),
      deployment(now, {
        replicas: 1,
        available: 1,
        upToDate: 0,
        said: [
          { type: "Available" },
          {
            type: "Progressing",
            status: "False",
            ago: 10,
            reason: "ProgressDeadlineExceeded",
            message: "no machine became available for 600 s",
          },
        ],
      }),
      ...machine(now, "m0", [...READY.slice(0, 2), outdated(30)]),
    ],
  },
  "dead-host-and-pending-upgrade": {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, UP),
      controlPlane(now, PLANE),
      deployment(now, { replicas: 2, available: 1, upToDate: 1 }),
      ...machine(
        now,
        "m0",
        [
          { type: "Ready", status: "Unknown", ago: 240, reason: "ReadyUnknown" },
          outdated(60),
          {
            type: "NodeHealthy",
            status: "Unknown",
            ago: 240,
            reason: "NodeHealthyUnknown",
            message: "* Node.Ready: Kubelet stopped posting node status.",
          },
        ],
        { host: { name: "own-1", heardAgo: 300 } },
      ),
      ...machine(now, "m1", READY, { host: { name: "own-2", heardAgo: 30 } }),
    ],
  },
  hibernated: {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, [
        { type: "Available", status: "False", reason: "NotAvailable" },
        { type: "RemoteConnectionProbe", status: "False", reason: "ProbeFailed", message: "connection refused" },
        { type: "ControlPlaneAvailable", status: "False", reason: "Hibernated" },
      ]),
      controlPlane(
        now,
        [
          {
            type: "Available",
            status: "False",
            reason: "Hibernated",
            message: "spec.replicas is 0: the data is kept; set it to 1 to start again",
          },
        ],
        { replicas: 0 },
      ),
      deployment(now, { replicas: 1, available: 0, said: [{ type: "Available", status: "False" }] }),
      ...machine(
        now,
        "m0",
        [
          { type: "Ready", status: "Unknown", reason: "ReadyUnknown" },
          {
            type: "NodeHealthy",
            status: "Unknown",
            reason: "ConnectionDown",
            message: "Cannot reach the workload cluster",
          },
        ],
        { host: { name: "own-1", heardAgo: 7200 } },
      ),
    ],
  },
  paused: {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, [...UP.slice(0, 2), { type: "Paused", ago: 120, message: "Cluster spec.paused is set to true" }], {
        paused: true,
      }),
      controlPlane(now, PLANE),
      deployment(now, {
        replicas: 1,
        available: 0,
        said: [{ type: "Available", status: "False" }, { type: "Paused" }],
      }),
    ],
  },
  "pool-5-of-7": {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, UP),
      controlPlane(now, PLANE),
      pool(now, { replicas: 7, available: 5 }),
      deployment(now, { replicas: 7, available: 5, said: [{ type: "Available", ago: 60 }] }, "WorkerPool/general"),
      ...Array.from({ length: 5 }, (_, i) =>
        machine(now, `m${i}`, [{ ...READY[0], ago: 45 } as Said, ...READY.slice(1)]),
      ).flat(),
    ],
  },
  unreachable: {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, [
        { type: "Available", status: "False", ago: 60, reason: "NotAvailable" },
        {
          type: "RemoteConnectionProbe",
          status: "False",
          ago: 60,
          reason: "ProbeFailed",
          message: "Cannot reach the workload cluster's API: connect ETIMEDOUT 10.0.0.1:6443",
        },
      ]),
      controlPlane(now, PLANE),
      deployment(now, { replicas: 1, available: 1 }),
      ...machine(now, "m0", [
        { type: "Ready", status: "Unknown", ago: 30, reason: "ReadyUnknown" },
        {
          type: "NodeHealthy",
          status: "Unknown",
          ago: 30,
          reason: "ConnectionDown",
          message: "Cannot reach the workload cluster",
        },
      ]),
    ],
  },
  "kubeadm-upgrade-1-of-3": {
    ageSeconds: OLD,
    objects: (now) => [
      cluster(now, UP, { controlPlaneKind: "KubeadmControlPlane" }),
      ...machinePlane(
        now,
        [{ type: "Available" }, { type: "RollingOut", ago: 300, message: "Rolling out 2 not up-to-date replicas" }],
        [
          { name: "cp-new-1", node: true, said: READY },
          {
            name: "cp-new-2",
            node: false,
            said: [
              { type: "Ready", status: "False", ago: 90, reason: "NotReady", message: "* NodeHealthy: no Node yet" },
              { type: "UpToDate", ago: 90 },
              { type: "BootstrapConfigReady", ago: 80 },
              { type: "InfrastructureReady", ago: 40 },
              { type: "NodeHealthy", status: "Unknown", ago: 90, reason: "InspectionFailed", message: "no Node yet" },
            ],
          },
          { name: "cp-old-1", node: true, said: [...READY.slice(0, 2), outdated(300)] },
          { name: "cp-old-2", node: true, said: [...READY.slice(0, 2), outdated(300)] },
        ],
      ),
    ],
  },
};
