import { KubeadmControlPlane } from "@capstan/capi";
import { expect, test } from "vitest";
import { kubeadmControlPlaneNotice } from "./kubeadm-control-plane-notice.ts";
import { NAMESPACE, put } from "./testing/objects.ts";
import { Plane } from "./testing/plane.ts";

test("whoever applies a KubeadmControlPlane is told what to use instead, once", async () => {
  const plane = await Plane.start({
    crds: [KubeadmControlPlane.crd()],
    controllers: () => [kubeadmControlPlaneNotice()],
  });
  try {
    const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "T", name: "t" };
    await put(plane.user, {
      apiVersion: KubeadmControlPlane.apiVersion,
      kind: KubeadmControlPlane.kind,
      metadata: { namespace: NAMESPACE, name: "c" },
      spec: { version: "v1.34.4", machineTemplate: { spec: { infrastructureRef } } },
    });
    await plane.settle();
    const read = () => plane.user.get(KubeadmControlPlane, { namespace: NAMESPACE, name: "c" });
    const told = await read();
    expect(told?.status?.conditions).toMatchObject([{ type: "Available", status: "False", reason: "NotSupportedYet" }]);
    expect(told?.status?.conditions?.[0]?.message).toContain("HostedControlPlane");
    await plane.settle();
    expect((await read())?.metadata.resourceVersion).toBe(told?.metadata.resourceVersion);
  } finally {
    await plane.close();
  }
});
