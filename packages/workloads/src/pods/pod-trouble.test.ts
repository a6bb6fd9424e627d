import { expect, test } from "vitest";
import type { PersistentVolumeClaim, Pod } from "./kinds.ts";
import { podRestarts, podTrouble } from "./pod-trouble.ts";

const pod = (status: Pod["status"], rest: Partial<Pod> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  ...rest,
  ...(status === undefined ? {} : { status }),
});
const container = (state: object, more: object = {}): NonNullable<Pod["status"]> => ({
  phase: "Running",
  containerStatuses: [{ name: "etcd", ready: false, restartCount: 4, state, ...more }],
});
const unschedulable = {
  phase: "Pending",
  conditions: [
    { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/2 nodes: Insufficient cpu." },
  ],
};
const withClaim: Partial<Pod> = {
  spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-p" } }] },
};
const claim = (phase: string, storageClassName?: string): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data-p" },
  spec: storageClassName === undefined ? {} : { storageClassName },
  status: { phase },
});

test.each<[string, Pod, PersistentVolumeClaim | undefined, RegExp | undefined]>([
  ["ready", pod({ conditions: [{ type: "Ready", status: "True" }] }), undefined, undefined],
  ["no room", pod(unschedulable), undefined, /^Unschedulable: 0\/2 nodes: Insufficient cpu\.; add nodes/],
  [
    "no class",
    pod(unschedulable, withClaim),
    claim("Pending"),
    /data-p is Pending: .*no default StorageClass.*EmptyDir/,
  ],
  [
    "no volume",
    pod(unschedulable, withClaim),
    claim("Pending", "fast"),
    /StorageClass fast; see kubectl describe pvc data-p/,
  ],
  ["volume there", pod(unschedulable, withClaim), claim("Bound", "fast"), /^Unschedulable/],
  [
    "no image",
    pod(container({ waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "x"' } })),
    undefined,
    /^etcd: ImagePullBackOff: Back-off pulling image "x"; correct spec\.imageRepository/,
  ],
  [
    "crash loop in its own words",
    pod(
      container(
        { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting" } },
        { lastState: { terminated: { exitCode: 1, message: "starting\nError: unknown flag: --nonsense\n\n" } } },
      ),
    ),
    undefined,
    /^etcd: CrashLoopBackOff: Error: unknown flag: --nonsense$/,
  ],
  [
    "crash loop in its own words, before the usage",
    pod(
      container(
        { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting" } },
        {
          lastState: {
            terminated: { message: "flag provided but not defined: -nonsense\nUsage:\n\n  etcd [flags]\n" },
          },
        },
      ),
    ),
    undefined,
    /^etcd: CrashLoopBackOff: flag provided but not defined: -nonsense$/,
  ],
  [
    "exited and not yet in back-off",
    pod(container({ terminated: { exitCode: 137, reason: "OOMKilled" } })),
    undefined,
    /^etcd: exited with code 137 \(OOMKilled\)$/,
  ],
  [
    "evicted",
    pod({ phase: "Failed", reason: "Evicted", message: "The node was low on resource" }),
    undefined,
    /^Evicted: The node was low/,
  ],
  [
    "on its way out",
    pod({}, { metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    undefined,
    /stopping/,
  ],
  [
    "creating",
    pod(container({ waiting: { reason: "ContainerCreating" } }), { spec: { nodeName: "n1" } }),
    undefined,
    /^starting on node n1$/,
  ],
  [
    "probed",
    pod(container({ running: {} }), { spec: { nodeName: "n1" } }),
    undefined,
    /^etcd: running and not ready yet$/,
  ],
])("%s", (_name, given, volume, expected) => {
  const trouble = podTrouble(given, new Map(volume === undefined ? [] : [["data-p", volume]]));
  if (expected === undefined) expect(trouble).toBeUndefined();
  else expect(trouble).toMatch(expected);
});

test("restarts of all containers count", () => {
  expect(podRestarts(pod(container({ running: {} })))).toBe(4);
});
