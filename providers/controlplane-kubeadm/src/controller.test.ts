import { KubeadmConfig, type Machine, Secret } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { conditionText, NAMESPACE, World } from "./testing/world.ts";

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.close();
});

test("creates the first Machine with kubeadm init, and reports the control plane as available", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  const [machine] = await world.machines();
  expect(machine?.metadata.annotations).toHaveProperty([
    "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup",
  ]);
  const [config] = await world.list(KubeadmConfig);
  expect(config?.spec?.joinConfiguration).toBeUndefined();
  for (const purpose of ["ca", "etcd", "proxy", "sa", "kubeconfig"])
    expect(await world.user.get(Secret, { namespace: NAMESPACE, name: `c1-${purpose}` }), purpose).toBeDefined();
  expect((await world.get()).status).toMatchObject({
    initialization: { controlPlaneInitialized: true },
    selector: "cluster.x-k8s.io/cluster-name=c1,cluster.x-k8s.io/control-plane",
    replicas: 1,
    readyReplicas: 1,
    upToDateReplicas: 1,
    version: "v1.36.2",
    versions: [{ version: "v1.36.2", replicas: 1 }],
  });
  expect(await world.condition("Available")).toBe("True Available: ");
  expect(await world.condition("EtcdClusterHealthy")).toBe("True Healthy: ");
  expect(await world.condition("Progressing")).toBe("True Complete: ");
  expect(conditionText(machine ?? {}, "APIServerPodHealthy")).toBe("True Running: ");
});

test("scales from 1 to 3 by joins, one at a time, and back", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  await world.patch({ replicas: 3 });
  await world.ready(3);
  expect(world.side.members).toHaveLength(3);
  const joined = (await world.list(KubeadmConfig)).filter(
    ({ spec }) => spec?.joinConfiguration?.controlPlane !== undefined,
  );
  expect(joined).toHaveLength(2);
  await world.patch({ replicas: 1 });
  await world.ready(1);
  expect(world.side.members).toHaveLength(1);
  const [machine] = await world.machines();
  expect(world.side.members[0]?.node).toBe(machine?.status?.nodeRef?.name);
});

test("asks etcd again before a Machine is deleted, so that a member that has failed since is not forgotten", async () => {
  await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.ready(3);
  const { side } = world;
  // Not the oldest, which is the one to be deleted.
  const born = ({ metadata }: Machine): string => `${metadata.creationTimestamp} ${metadata.name}`;
  const newest = (await world.machines()).sort((a, b) => (born(a) < born(b) ? -1 : 1)).at(-1);
  side.frozen = true;
  side.broken.add(newest?.status?.nodeRef?.name ?? "");
  await world.patch({ replicas: 1 });
  await world.plane.settle(120_000);
  expect(side.members).toHaveLength(3);
  expect((await world.machines()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
  expect(await world.condition("ScalingDown")).toContain("waiting for etcd cluster to become healthy");
});
