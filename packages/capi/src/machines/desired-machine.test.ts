import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { CONTROL_PLANE_LABEL, PRE_TERMINATE_HOOK } from "../contract/constants.ts";
import type { Machine } from "../kinds/machine.ts";
import { newMachine, syncedMachine } from "./desired-machine.ts";
import type { MachinePart } from "./machine-part.ts";
import { changeableMetadata, fixedLabels, type MachinePlan, planProblem } from "./machine-plan.ts";

const HOOK = `${PRE_TERMINATE_HOOK}/kcp-cleanup`;

function part(group: string, kind: string, problem?: string): MachinePart {
  const describe = (): Unstructured => ({ apiVersion: `${group}/v1beta2`, kind, metadata: {} });
  return { reference: (name) => ({ apiGroup: group, kind, name }), existing: () => undefined, describe, problem };
}

/** The plan of a control plane, which picks a failure domain for each Machine and keeps a hook on it. */
const PLAN: MachinePlan = {
  owner: {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlane",
    metadata: { namespace: "ns", name: "cp", uid: "u1" },
  },
  clusterName: "c1",
  fieldManagers: { machine: "capi-kubeadmcontrolplane", metadata: "capi-kubeadmcontrolplane-metadata" },
  labels: { tier: "cp", [CONTROL_PLANE_LABEL]: "" },
  fixedLabels: new Set([CONTROL_PLANE_LABEL]),
  annotations: { note: "all" },
  kept: ({ metadata: { annotations } }): Record<string, string> =>
    annotations?.[HOOK] === undefined ? {} : { [HOOK]: "" },
  settings: { version: "v1.36.0", minReadySeconds: 3 },
  appliesFailureDomain: true,
  infrastructure: part("infrastructure.cluster.x-k8s.io", "MemoryMachine"),
  bootstrap: part("bootstrap.cluster.x-k8s.io", "KubeadmConfig"),
};

function existing(): Machine {
  const machine = newMachine(PLAN, { name: "cp-1", failureDomain: "a", annotations: { [HOOK]: "" } });
  return { ...machine, spec: { ...machine.spec, version: "v1.35.0" } };
}

describe("a new Machine", () => {
  test("references its own objects, and has its own failure domain and annotations", () => {
    const { metadata, spec } = newMachine(PLAN, { name: "cp-1", failureDomain: "a", annotations: { [HOOK]: "" } });
    expect(metadata.annotations).toEqual({ note: "all", [HOOK]: "" });
    expect(metadata.ownerReferences).toMatchObject([{ kind: "KubeadmControlPlane", name: "cp", controller: true }]);
    expect(spec).toEqual({
      clusterName: "c1",
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name: "cp-1" } },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryMachine", name: "cp-1" },
      version: "v1.36.0",
      failureDomain: "a",
      minReadySeconds: 3,
    });
  });

  test("has the given Secret with bootstrap data when there is nothing to create it from", () => {
    const plan = { ...PLAN, bootstrap: { dataSecretName: "given" } };
    expect(newMachine(plan, { name: "cp-1" }).spec.bootstrap).toEqual({ dataSecretName: "given" });
    expect(planProblem(plan)).toBeUndefined();
  });
});

describe("an existing Machine", () => {
  test("keeps its version, failure domain and hook, and gets changed settings", () => {
    const plan = { ...PLAN, annotations: {}, settings: { version: "v1.36.0", minReadySeconds: 9 } };
    const { metadata, spec } = syncedMachine(plan, existing());
    expect(metadata.annotations).toEqual({ [HOOK]: "" });
    expect(spec).toMatchObject({ version: "v1.35.0", failureDomain: "a", minReadySeconds: 9 });
  });

  test("loses a hook that was removed", () => {
    const machine = existing();
    delete machine.metadata.annotations?.[HOOK];
    expect(syncedMachine(PLAN, machine).metadata.annotations).toEqual({ note: "all" });
  });

  test("keeps a failure domain out of what an owner applies that does not place its Machines", () => {
    const plan = { ...PLAN, appliesFailureDomain: false };
    expect(syncedMachine(plan, existing()).spec.failureDomain).toBeUndefined();
  });
});

test("separates labels that referenced objects have from the start from those that change in place", () => {
  expect(fixedLabels(PLAN)).toEqual({ [CONTROL_PLANE_LABEL]: "" });
  expect(changeableMetadata(PLAN)).toEqual({ labels: { tier: "cp" }, annotations: { note: "all" } });
});

test("names the problem of the bootstrap config first", () => {
  const infrastructure = part("i", "I", "no machine template");
  expect(planProblem({ ...PLAN, infrastructure })).toBe("no machine template");
  expect(planProblem({ ...PLAN, infrastructure, bootstrap: part("b", "B", "no config") })).toBe("no config");
});
