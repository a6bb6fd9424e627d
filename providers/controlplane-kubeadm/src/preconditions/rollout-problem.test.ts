import { type Cluster, DROP_REMOVED_FLAGS_ANNOTATION, type KubeadmControlPlane } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { effectiveControlPlane } from "./effective.ts";
import { type RolloutFacts, rolloutProblem } from "./rollout-problem.ts";

const cluster = (annotations: Record<string, string> = {}): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { namespace: "default", name: "demo", annotations },
  spec: {},
});

function controlPlane(version: string, flags: Record<string, string> = {}): KubeadmControlPlane {
  const kubeletExtraArgs = Object.entries(flags).map(([name, value]) => ({ name, value }));
  return {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlane",
    metadata: { namespace: "default", name: "demo" },
    spec: {
      version,
      replicas: 3,
      machineTemplate: { spec: { infrastructureRef: { apiGroup: "g", kind: "K", name: "demo" } } },
      ...(kubeletExtraArgs.length === 0
        ? {}
        : { kubeadmConfigSpec: { joinConfiguration: { nodeRegistration: { kubeletExtraArgs } } } }),
    },
  };
}

const facts = (more: Partial<RolloutFacts>): RolloutFacts => ({
  controlPlane: controlPlane("v1.37.1"),
  replacing: true,
  machines: 3,
  free: undefined,
  skew: undefined,
  ...more,
});

describe("settings", () => {
  const old = controlPlane("v1.37.1", { "container-runtime": "remote" });

  test("stops the first Machine and names the field and the cure", () => {
    const problem = rolloutProblem(facts({ controlPlane: old, replacing: false, machines: 0 }));
    expect(problem).toEqual({
      reason: "SettingsNotSupported",
      message:
        'No Machine is created or replaced, because it would not start: spec.kubeadmConfigSpec.joinConfiguration.nodeRegistration.kubeletExtraArgs[container-runtime]: kubelet v1.37.1 has no flag --container-runtime: v1.27 removed it. Correct the settings of default/demo, or drop exactly these with the annotation capstan.dev/drop-removed-flags: "true"',
    });
  });

  test("the annotation on the control plane or its Cluster drops them", () => {
    const annotated = { [DROP_REMOVED_FLAGS_ANNOTATION]: "true" };
    const own = { ...old, metadata: { ...old.metadata, annotations: annotated } };
    for (const effective of [effectiveControlPlane(own, cluster()), effectiveControlPlane(old, cluster(annotated))]) {
      expect(effective.spec.kubeadmConfigSpec).toEqual({});
      expect(rolloutProblem(facts({ controlPlane: effective }))).toBeUndefined();
    }
    expect(effectiveControlPlane(old, cluster())).toBe(old);
  });
});

describe("free hosts", () => {
  test("a rollout with a surge needs one, and says how to do without", () => {
    expect(rolloutProblem(facts({ free: 0 }))).toMatchObject({
      reason: "NotEnoughFreeHosts",
      message: expect.stringContaining("maxSurge to 0"),
    });
    expect(rolloutProblem(facts({ free: 1 }))).toBeUndefined();
    expect(rolloutProblem(facts({ free: undefined }))).toBeUndefined();
  });

  test("none is needed once the additional Machine exists, without a surge, or without a rollout", () => {
    expect(rolloutProblem(facts({ free: 0, machines: 4 }))).toBeUndefined();
    expect(rolloutProblem(facts({ free: 0, replacing: false }))).toBeUndefined();
    const plane = controlPlane("v1.37.1");
    const rollout = { strategy: { type: "RollingUpdate" as const, rollingUpdate: { maxSurge: 0 } } };
    const inPlace = { ...plane, spec: { ...plane.spec, rollout } };
    expect(rolloutProblem(facts({ free: 0, controlPlane: inPlace }))).toBeUndefined();
  });
});

test("Nodes with kubelets that are too old stop a rollout", () => {
  const skew = { reason: "KubeletTooOld", message: "v1.37.1 supports kubelets from v1.34, but w has v1.33.0" };
  expect(rolloutProblem(facts({ skew }))).toEqual({
    reason: "KubeletTooOld",
    message: `The rollout does not start: ${skew.message}`,
  });
  expect(rolloutProblem(facts({ skew, replacing: false, machines: 0 }))).toBeUndefined();
});
