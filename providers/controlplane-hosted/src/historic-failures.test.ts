import { ConfigMap } from "@capstan/capi";
import { clusterNetwork } from "@capstan/controlplane";
import { Client, kindRef } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ComponentContext } from "./components/context.ts";
import { kubeSchedulerArguments } from "./components/kube-scheduler.ts";
import { FakePlacement } from "./testing/fake-placement.ts";
import { HostedPlane } from "./testing/hosted-plane.ts";

/**
 * Known failures of earlier hosted control planes. `packages/manager/src/hosted-story.test.ts` has the first and the
 * third with all controllers, and the end-to-end test shows the same with real nodes.
 */
let hosted: HostedPlane;

beforeEach(async () => {
  hosted = await HostedPlane.start();
});

afterEach(async () => {
  await hosted.close();
});

test("historic failure 1, cluster-info and its RBAC: exist before workers may join, and anonymous users may read cluster-info only", async () => {
  await hosted.create();
  await hosted.eventually(async () => expect(hosted.placement.plans).not.toEqual([]));
  expect((await hosted.get()).status?.initialization?.controlPlaneInitialized).toBeUndefined();
  await hosted.ready();
  const inside = new Client(hosted.workload.admin(), { fieldManager: "test", clock: hosted.plane.clock });
  await hosted.eventually(async () =>
    expect((await hosted.get()).status?.initialization?.controlPlaneInitialized).toBe(true),
  );
  const info = await inside.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" });
  expect(info?.data?.["kubeconfig"]).toContain("server: https://10.0.0.1:6443");
  const named = { namespace: "kube-public", name: "kubeadm:bootstrap-signer-clusterinfo" };
  const rbac = (kind: string, plural: string) =>
    kindRef({ group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced: true });
  const role = await inside.get(rbac("Role", "roles"), named);
  expect(role?.["rules"]).toEqual([
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"], verbs: ["get"] },
  ]);
  const binding = await inside.get(rbac("RoleBinding", "rolebindings"), named);
  expect(binding?.["subjects"]).toMatchObject([{ kind: "User", name: "system:anonymous" }]);
});

test("historic failure 2, the scheduler: it runs, and the control plane is not healthy without it", async () => {
  const context = { clusterName: "c1", network: clusterNetwork(undefined), spec: { version: "v1.34.4" }, ports: {} };
  expect(kubeSchedulerArguments(context as unknown as ComponentContext)).toContain(
    "--kubeconfig=$FILES/scheduler.conf",
  );
  await hosted.create();
  await hosted.ready();
  const state = FakePlacement.ready();
  hosted.placement.report({
    ...state,
    components: state.components.map((component) =>
      component.name === "kube-scheduler" ? { ...component, ready: false, message: "exited by itself" } : component,
    ),
  });
  await hosted.told("ControlPlaneComponentsHealthy", /^False NotHealthy: \* kube-scheduler: exited by itself/);
});

test("historic failure 3, nodeRef: does not wait for a Machine or Node, and the contract status says so", async () => {
  await hosted.create();
  await hosted.ready();
  await hosted.told("Available", /^True/);
  const { status } = await hosted.get();
  expect(status).toMatchObject({
    externalManagedControlPlane: true,
    initialization: { controlPlaneInitialized: true },
  });
});
