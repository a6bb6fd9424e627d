import { seededRandom, type Unstructured } from "@capstan/apimachinery";
import { KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";
import { createCertificateAuthority } from "@capstan/pki";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { REMEDIATION_FOR, REMEDIATION_IN_PROGRESS } from "./annotations.ts";
import { conditionText, NAMESPACE, World } from "./testing/world.ts";

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.close();
});

const names = async (): Promise<string[]> => (await world.machines()).map(({ metadata }) => metadata.name ?? "");
const nodeOf = ({ status }: Machine): string => status?.nodeRef?.name ?? "";
const KEY = { namespace: NAMESPACE, name: "c1" };

async function withReplicas(replicas: number, spec: object = {}): Promise<void> {
  await world.addCluster();
  await world.addPlane({ replicas, ...spec });
  await world.ready(replicas);
}

describe("rollouts", () => {
  test("replaces all Machines one at a time for a new version, with an additional one", async () => {
    await withReplicas(3);
    const before = await names();
    await world.patch({ version: "v1.37.0" });
    await world.until(async () => (await world.machines()).every(({ spec }) => spec.version === "v1.37.0"));
    await world.ready(3);
    expect(world.seen.mostMachines).toBe(4);
    expect([...world.seen.rollingOut][0]).toBe(
      "Rolling out 3 not up-to-date replicas\n* Version v1.36.2, v1.37.0 required",
    );
    expect((await names()).filter((name) => before.includes(name))).toEqual([]);
    expect(world.side.calls).toContain("prepare v1.37.0");
    expect(world.side.calls.at(-1)).toBe("addons v1.37.0");
    expect((await world.get()).status).toMatchObject({ version: "v1.37.0", upToDateReplicas: 3 });
    expect(world.side.members).toHaveLength(3);
  });

  test("Progressing says what is done now and how many Machines are replaced or have joined, without a running time", async () => {
    await withReplicas(1);
    await world.patch({ replicas: 3 });
    await world.ready(3);
    const joins = [...world.seen.progressing].filter((message) => message.endsWith(" Machines joined)"));
    expect(joins.map((message) => /\((\d of 3)/.exec(message)?.[1])).toEqual(
      expect.arrayContaining(["1 of 3", "2 of 3"]),
    );
    await world.patch({ version: "v1.37.0" });
    await world.until(async () => (await world.machines()).every(({ spec }) => spec.version === "v1.37.0"));
    await world.ready(3);
    const rolls = [...world.seen.progressing].filter((message) => message.endsWith(" Machines replaced)"));
    const counts = rolls.map((message) => /\((\d of 3)/.exec(message)?.[1]);
    expect(counts).toEqual(expect.arrayContaining(["0 of 3", "1 of 3", "2 of 3"]));
    for (const message of world.seen.progressing) expect(message).not.toMatch(/\bfor \d+ ?[smh]/);
  });

  test("a rollout that waits writes nothing while the time passes", async () => {
    await withReplicas(3);
    world.side.mute = true;
    await world.patch({ version: "v1.37.0" });
    await world.plane.settle(30_000);
    expect(await world.condition("Progressing")).toContain("of 3 Machines replaced)");
    const before = world.plane.requests.length;
    await world.plane.settle(300_000);
    expect(world.plane.requests.length - before).toBeLessThan(5);
  });

  test("never exceeds the replicas with maxSurge 0", async () => {
    await withReplicas(3, { rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } } });
    const before = await names();
    await world.addTemplate("t2");
    await world.patch({
      machineTemplate: {
        spec: {
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachineTemplate", name: "t2" },
        },
      },
    });
    await world.until(async () => !(await names()).some((name) => before.includes(name)));
    await world.ready(3);
    expect(world.seen.mostMachines).toBe(3);
    expect([...world.seen.rollingOut][0]).toBe(
      "Rolling out 3 not up-to-date replicas\n* TestMachine is not up-to-date",
    );
  });

  test("changes labels, taints and timeouts in place", async () => {
    await withReplicas(1);
    const before = await names();
    await world.patch({
      machineTemplate: {
        metadata: { labels: { team: "a" }, annotations: { note: "b" } },
        spec: {
          deletion: { nodeDrainTimeoutSeconds: 60 },
          taints: [{ key: "k", effect: "NoSchedule", propagation: "Always" }],
          readinessGates: [{ conditionType: "Mine" }],
        },
      },
    });
    await world.until(async () => (await world.machines())[0]?.metadata.labels?.["team"] === "a");
    const [machine] = await world.machines();
    expect(machine?.spec).toMatchObject({ deletion: { nodeDrainTimeoutSeconds: 60 }, taints: [{ key: "k" }] });
    expect(machine?.spec.readinessGates?.at(-1)).toEqual({ conditionType: "Mine" });
    const [config] = await world.list(KubeadmConfig);
    expect(config?.metadata.labels).toHaveProperty("team", "a");
    expect(await names()).toEqual(before);
  });

  test("replaces Machines whose certificates expire soon", async () => {
    await withReplicas(1, { rollout: { before: { certificatesExpiryDays: 30 } } });
    const [name = ""] = await names();
    world.side.expiries.set(name, world.plane.clock.now() + 31 * 86_400_000);
    await world.plane.settle(70_000);
    expect(await names()).toEqual([name]);
    await world.plane.clock.advance(86_400_000);
    await world.until(async () => !(await names()).includes(name));
    await world.ready(1);
  }, 60_000);

  test("does not start with settings that the version refuses", async () => {
    await withReplicas(1);
    const before = await names();
    await world.patch({
      kubeadmConfigSpec: {
        clusterConfiguration: { encryptionAlgorithm: "ECDSA-P256" },
        initConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "container-runtime", value: "remote" }] } },
        joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "container-runtime", value: "remote" }] } },
      },
    });
    await world.plane.settle(30_000);
    expect(await names()).toEqual(before);
    expect(await world.condition("ChangesPossible")).toMatch(/^False SettingsNotSupported: .*container-runtime/);
  });
});

describe("remediation", () => {
  test("replaces a failed Machine of three, and records it", async () => {
    await withReplicas(3);
    const [failed] = await world.machines();
    if (failed === undefined) throw new Error("no machine");
    world.side.broken.add(nodeOf(failed));
    await world.failHealthCheck(failed);
    await world.until(async () => !(await names()).includes(failed.metadata.name ?? ""));
    await world.ready(3);
    const object = await world.get();
    expect(object.metadata.annotations?.[REMEDIATION_IN_PROGRESS]).toBeUndefined();
    expect(object.status?.lastRemediation).toMatchObject({ machine: failed.metadata.name, retryCount: 0 });
    const replacements = (await world.machines()).filter(({ metadata }) => metadata.annotations?.[REMEDIATION_FOR]);
    expect(replacements).toHaveLength(1);
    expect(world.side.members.some(({ node }) => node === nodeOf(failed))).toBe(false);
  });

  test("does not remediate the only Machine, and says why", async () => {
    await withReplicas(1);
    const [machine] = await world.machines();
    if (machine === undefined) throw new Error("no machine");
    await world.failHealthCheck(machine);
    await world.plane.settle(30_000);
    const [same] = await world.machines();
    expect(same?.metadata.name).toBe(machine.metadata.name);
    expect(conditionText(same ?? {}, "OwnerRemediated")).toBe(
      "False CannotBeRemediated: KubeadmControlPlane can't remediate if current replicas are less or equal to 1",
    );
    expect(await world.condition("Remediating")).toMatch(/^True Remediating: \* Machine c1-/);
  });

  test("stops after the permitted retries, and says how to continue", async () => {
    await world.addCluster();
    await world.addPlane({ replicas: 3, remediation: { maxRetry: 0 } });
    await world.ready(3);
    const fail = async (machine: Machine | undefined): Promise<void> => {
      if (machine === undefined) throw new Error("no machine");
      world.side.broken.add(nodeOf(machine));
      await world.failHealthCheck(machine);
    };
    const [first] = await world.machines();
    await fail(first);
    await world.until(async () => !(await names()).includes(first?.metadata.name ?? ""));
    await world.ready(3);
    const replacement = (await world.machines()).find(({ metadata }) => metadata.annotations?.[REMEDIATION_FOR]);
    const name = replacement?.metadata.name ?? "";
    await fail(replacement);
    const said = async (): Promise<string> =>
      conditionText((await world.machines()).find(({ metadata }) => metadata.name === name) ?? {}, "OwnerRemediated");
    await world.until(async () => (await said()).includes("MaxRetry"), "the refusal");
    expect(await said()).toBe(
      `False CannotBeRemediated: KubeadmControlPlane can't remediate this machine because the operation already failed 0 times (MaxRetry). Repair the cause, then delete the Machine, which the control plane replaces: kubectl delete machine ${name} -n default; or raise spec.remediation.maxRetry`,
    );
    await world.user.delete({ kind: Machine, namespace: "default", name });
    await world.until(async () => !(await names()).includes(name));
    await world.ready(3);
  });

  test("removes a member of etcd that belongs to no Machine", async () => {
    await withReplicas(3);
    world.side.members.push({ id: "99", node: "stranger" });
    await world.plane.settle(70_000);
    expect(world.side.calls).toContain("remove stranger");
    expect(world.side.members).toHaveLength(3);
  });
});

describe("deletion", () => {
  test("deletes all Machines in parallel without touching etcd, and then the control plane", async () => {
    await withReplicas(3);
    await world.user.delete({ kind: KubeadmControlPlane, ...KEY });
    await world.until(async () => (await world.user.get(KubeadmControlPlane, KEY)) === undefined);
    expect(await names()).toEqual([]);
    expect(world.side.calls.filter((call) => call.startsWith("remove"))).toEqual([]);
    expect(world.side.calls).toContain("forget");
  });

  test("waits for workers first, and names them", async () => {
    await withReplicas(1);
    await world.addWorker("w1");
    await world.user.delete({ kind: KubeadmControlPlane, ...KEY });
    await world.plane.settle(5_000);
    expect(await world.condition("Deleting")).toBe(
      "True WaitingForWorkersDeletion: KubeadmControlPlane deletion blocked because following objects still exist:\n* Machines: w1",
    );
    expect((await names()).length).toBe(2);
    await world.user.delete({ kind: Machine, namespace: NAMESPACE, name: "w1" });
    await world.until(async () => (await world.user.get(KubeadmControlPlane, KEY)) === undefined);
  });

  test("replaces a Machine that a person deletes, after its member has left etcd", async () => {
    await withReplicas(3);
    const [machine] = await world.machines();
    await world.user.delete({ kind: Machine, namespace: NAMESPACE, name: machine?.metadata.name ?? "" });
    await world.until(async () => !(await names()).includes(machine?.metadata.name ?? ""));
    expect(world.side.calls).toContain(`remove ${nodeOf(machine as Machine)}`);
    await world.ready(3);
  });

  test("keeps the last healthy data: the only Machine goes after another one has joined", async () => {
    await withReplicas(1);
    const [only] = await names();
    await world.user.delete({ kind: Machine, namespace: NAMESPACE, name: only ?? "" });
    await world.until(async () => !(await names()).includes(only ?? ""));
    await world.ready(1);
    expect(world.side.members).toHaveLength(1);
    expect((await world.list(KubeadmConfig))[0]?.spec?.joinConfiguration?.controlPlane).toBeDefined();
  });

  test("holds the deletion of a second failed Machine of three, and says how to go on", async () => {
    await withReplicas(3);
    const [a, b] = await world.machines();
    if (a === undefined || b === undefined) throw new Error("no machines");
    world.side.broken.add(nodeOf(a));
    await world.plane.settle(70_000);
    await world.user.delete({ kind: Machine, namespace: NAMESPACE, name: b.metadata.name ?? "" });
    await world.plane.settle(70_000);
    expect(await names()).toContain(b.metadata.name);
    expect(await world.condition("ChangesPossible")).toMatch(
      /^False QuorumWouldBeLost: .* is kept: etcd could lose its quorum without it/,
    );
  });
});

test("joins another Machine also when a move to another management cluster has dropped the status", async () => {
  await withReplicas(1);
  const [first] = await names();
  await world.plane.stopControllers();
  await world.user.patchStatus({ kind: KubeadmControlPlane, ...KEY }, { status: null });
  await world.patch({ replicas: 3 });
  await world.plane.startControllers();
  await world.ready(3);
  const others = (await world.list(KubeadmConfig)).filter(({ metadata }) => metadata.name !== first);
  expect(others.map(({ spec }) => spec?.joinConfiguration?.controlPlane)).toEqual([{}, {}]);
});

describe("waits", () => {
  test("waits for an endpoint, and says who sets it", async () => {
    await world.addCluster({ controlPlaneEndpoint: undefined });
    await world.addPlane();
    await world.until(async () => (await world.condition("Available")).startsWith("False WaitingForEndpoint"));
    expect(await world.condition("Available")).toMatch(/address of a load balancer or virtual IP/);
    expect(await world.condition("EtcdClusterHealthy")).toMatch(/^Unknown InspectionFailed/);
  });

  test("waits for the template, and continues when it appears", async () => {
    await world.addCluster();
    await world.addPlane({
      machineTemplate: {
        spec: {
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachineTemplate", name: "late" },
        },
      },
    });
    await world.until(async () =>
      (await world.condition("Available")).startsWith("False InfrastructureTemplateNotFound"),
    );
    expect(await world.condition("ScalingUp")).toMatch(/TestMachineTemplate late does not exist/);
    await world.addTemplate("late");
    await world.ready(1);
  });

  test("changes nothing while it is paused", async () => {
    await withReplicas(1);
    await world.user.patch(
      { kind: KubeadmControlPlane, ...KEY },
      { metadata: { annotations: { "cluster.x-k8s.io/paused": "" } }, spec: { replicas: 3 } },
    );
    await world.plane.settle(10_000);
    expect(await names()).toHaveLength(1);
    expect(await world.condition("Paused")).toMatch(/^True Paused/);
    expect(await world.condition("Available")).toBe("True Available: ");
    await world.user.patch(
      { kind: KubeadmControlPlane, ...KEY },
      { metadata: { annotations: { "cluster.x-k8s.io/paused": null } } },
    );
    await world.ready(3);
  });

  test("spreads Machines over failure domains for control planes", async () => {
    await world.addCluster();
    await world.setDomains(["a", "b", "c"]);
    await world.addPlane({ replicas: 3 });
    await world.ready(3);
    const domains = (await world.machines()).map(({ spec }) => spec.failureDomain);
    expect(new Set(domains)).toEqual(new Set(["a", "b", "c"]));
  });

  test("names Machines by the naming template", async () => {
    await withReplicas(1, { machineNaming: { template: "{{ .cluster.name }}-cp-{{ .random }}" } });
    expect((await names())[0]).toMatch(/^c1-cp-[a-z0-9]{5}$/);
  });
});

describe("adoption", () => {
  test("adopts control plane Machines that have no owner", async () => {
    await withReplicas(3);
    await world.plane.stopControllers();
    await world.user.patch({ kind: KubeadmControlPlane, ...KEY }, { metadata: { finalizers: null } });
    for (const machine of await world.machines())
      await world.user.patch(machine, { metadata: { ownerReferences: null } });
    await world.user.delete({ kind: KubeadmControlPlane, ...KEY }, { propagationPolicy: "Orphan" });
    const before = await names();
    await world.plane.startControllers();
    await world.addPlane({ replicas: 3 });
    await world.ready(3);
    expect(await names()).toEqual(before);
    expect(world.plane.events.filter(({ reason }) => reason === "SuccessfulAdopt")).toHaveLength(3);
  });

  test("refuses to change control plane Machines of another owner", async () => {
    await withReplicas(1);
    await world.user.create({
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: {
        namespace: NAMESPACE,
        name: "other",
        labels: { "cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/control-plane": "" },
        ownerReferences: [{ apiVersion: "x.io/v1", kind: "Other", name: "o", uid: "1", controller: true }],
      },
      spec: {
        clusterName: "c1",
        bootstrap: { dataSecretName: "x" },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachine", name: "other" },
      },
    } as Machine);
    await world.patch({ replicas: 3 });
    await world.plane.settle(10_000);
    expect(await names()).toHaveLength(2);
    expect(await world.condition("ChangesPossible")).toMatch(/^False MachinesOfAnotherOwner: .*: other/);
  });
});

describe("external etcd", () => {
  const external = {
    kubeadmConfigSpec: {
      clusterConfiguration: {
        encryptionAlgorithm: "ECDSA-P256" as const,
        etcd: { external: { endpoints: ["https://etcd:2379"], caFile: "/a", certFile: "/b", keyFile: "/c" } },
      },
    },
  };
  const secret = (name: string, data: Record<string, string>): Unstructured => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: NAMESPACE, name },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  });

  test("waits for the certificates that the user brings, and looks at no members", async () => {
    await world.addCluster();
    const ca = await createCertificateAuthority({
      commonName: "etcd",
      algorithm: "ECDSA-P256",
      notBeforeMs: world.plane.clock.now() - 1_000,
      validMs: 86_400_000,
      random: seededRandom(1),
    });
    await world.user.create(secret("c1-etcd", { "tls.crt": ca.certPem }));
    await world.addPlane({ replicas: 2, ...external });
    await world.until(async () => (await world.condition("Available")).startsWith("False CertificatesNotAvailable"));
    expect(await world.condition("Available")).toMatch(/c1-apiserver-etcd-client .* is missing; create it/);
    await world.user.create(secret("c1-apiserver-etcd-client", { "tls.crt": "crt", "tls.key": "key" }));
    await world.ready(2);
    expect(await world.condition("EtcdClusterHealthy")).toBe("none");
    const [machine] = await world.machines();
    expect(machine?.spec.readinessGates?.map(({ conditionType }) => conditionType)).not.toContain("EtcdMemberHealthy");
    await world.patch({ replicas: 1 });
    await world.ready(1);
    expect(world.side.calls.filter((call) => call.startsWith("remove"))).toEqual([]);
  });
});
