import { findCondition, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  ClusterClass,
  conditionsOf,
  defineKind,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MachinePool,
  MachineSet,
  object,
  openObject,
  optional,
  WorkerPool,
} from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import { addClusterIndexes } from "../cluster/indexes.ts";
import { addMachineHealthCheckIndexes } from "../machine-health-check/machine-health-check.controller.ts";
import { addMachineIndexes } from "../shared/indexes.ts";
import { machine, NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, Plane } from "../testing/plane.ts";
import { addTopologyIndexes } from "./indexes.ts";
import { topologyControllers } from "./topology.controllers.ts";

const kind = (group: string, name: string) =>
  defineKind({
    group: `${group}.cluster.x-k8s.io`,
    version: "v1beta2",
    kind: name,
    plural: `${name.toLowerCase()}s`,
    doc: "A kind of tests.",
    contracts: { v1beta2: "v1beta2" },
    schema: object({ spec: optional(openObject()), status: optional(openObject()) }),
  });
const Infra = kind("infrastructure", "TopoCluster");
const InfraTemplate = kind("infrastructure", "TopoClusterTemplate");
const MachineTemplate = kind("infrastructure", "TopoMachineTemplate");
const ControlPlane = kind("controlplane", "TopoControlPlane");
const ControlPlaneTemplate = kind("controlplane", "TopoControlPlaneTemplate");
const ConfigTemplate = kind("bootstrap", "TopoConfigTemplate");
const TEMPLATES = [InfraTemplate, MachineTemplate, ControlPlaneTemplate, ConfigTemplate];

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<Plane> {
  const kinds = [
    Cluster,
    ClusterClass,
    Machine,
    MachineDeployment,
    MachineSet,
    MachinePool,
    WorkerPool,
    MachineHealthCheck,
  ];
  const plane = await Plane.start({
    crds: [...kinds, Infra, ControlPlane, ...TEMPLATES].map((one) => one.crd()),
    indexes: (cache) => {
      addClusterIndexes(cache);
      addMachineIndexes(cache);
      addMachineHealthCheckIndexes(cache);
      addTopologyIndexes(cache);
    },
    controllers: () => topologyControllers(),
  });
  planes.push(plane);
  return plane;
}

type AnyKind = typeof Infra;
const template = (of: AnyKind, spec: object): Unstructured => ({
  apiVersion: of.apiVersion,
  kind: of.kind,
  metadata: { namespace: NAMESPACE, name: "t" },
  spec: { template: { spec } },
});
const reference = (of: AnyKind) => ({ templateRef: { apiVersion: of.apiVersion, kind: of.kind, name: "t" } });

const clusterClass = (): Unstructured => ({
  apiVersion: ClusterClass.apiVersion,
  kind: ClusterClass.kind,
  metadata: { namespace: NAMESPACE, name: "class" },
  spec: {
    infrastructure: reference(InfraTemplate),
    controlPlane: { ...reference(ControlPlaneTemplate), machineInfrastructure: reference(MachineTemplate) },
    workers: {
      machineDeployments: [
        {
          class: "worker",
          metadata: { labels: { tier: "class" } },
          bootstrap: reference(ConfigTemplate),
          infrastructure: reference(MachineTemplate),
          healthCheck: { checks: { nodeStartupTimeoutSeconds: 300 } },
        },
      ],
    },
    variables: [{ name: "size", required: false, schema: { openAPIV3Schema: { type: "string", default: "small" } } }],
    patches: [
      {
        name: "size",
        definitions: [
          {
            selector: {
              apiVersion: MachineTemplate.apiVersion,
              kind: MachineTemplate.kind,
              matchResources: { machineDeploymentClass: { names: ["*"] } },
            },
            jsonPatches: [
              {
                op: "add",
                path: "/spec/template/spec/size",
                valueFrom: {
                  template: "{{ .size }}-{{ .builtin.cluster.name }}-{{ .builtin.machineDeployment.topologyName }}",
                },
              },
            ],
          },
        ],
      },
    ],
  },
});

const worker = (name: string, over: object = {}): object => ({ class: "worker", name, replicas: 2, ...over });
const cluster = (topology: object = {}): Unstructured => ({
  apiVersion: Cluster.apiVersion,
  kind: Cluster.kind,
  metadata: { namespace: NAMESPACE, name: "c" },
  spec: {
    topology: {
      classRef: { name: "class" },
      version: "v1.33.0",
      controlPlane: { replicas: 3 },
      workers: { machineDeployments: [worker("a"), worker("b")] },
      ...topology,
    },
  },
});

async function fill(plane: Plane): Promise<void> {
  await plane.user.create(template(InfraTemplate, { region: "x" }));
  await plane.user.create(template(MachineTemplate, { image: "i" }));
  await plane.user.create(template(ControlPlaneTemplate, { flavour: "f" }));
  await plane.user.create(template(ConfigTemplate, {}));
  await plane.user.create(clusterClass());
  await plane.user.create(cluster());
  await plane.settle();
}

const list = async (plane: Plane, of: AnyKind): Promise<Unstructured[]> => (await plane.user.list(of as never)).items;
const deployments = async (plane: Plane): Promise<MachineDeployment[]> =>
  (await plane.user.list(MachineDeployment)).items.sort((a, b) =>
    (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1,
  );
const owned = async (plane: Plane, of: AnyKind): Promise<Unstructured[]> =>
  (await list(plane, of)).filter(({ metadata }) => metadata.name !== "t");
const reconciled = async (plane: Plane) =>
  findCondition(
    conditionsOf((await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" })) ?? {}),
    "TopologyReconciled",
  );

/** Everything is where the control plane should be. */
async function settleControlPlane(plane: Plane): Promise<void> {
  const [found] = await list(plane, ControlPlane);
  if (found === undefined) throw new Error("no control plane");
  const { version } = found["spec"] as { version: string };
  await plane.user.patchStatus(found, { status: { version } });
  await plane.settle();
}

describe("a topology", () => {
  test("becomes objects: class, variables and patches put together, owned and named", async () => {
    const plane = await start();
    await fill(plane);
    const [infra] = await list(plane, Infra);
    const [controlPlane] = await list(plane, ControlPlane);
    const found = await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" });
    expect(found?.spec?.infrastructureRef).toMatchObject({ kind: "TopoCluster", name: infra?.metadata.name });
    expect(found?.spec?.controlPlaneRef).toMatchObject({ kind: "TopoControlPlane", name: controlPlane?.metadata.name });
    expect(infra?.metadata.name).toMatch(/^c-[a-z0-9]{5}$/);
    expect(infra).toMatchObject({
      spec: { region: "x" },
      metadata: { ownerReferences: [{ kind: "Cluster", name: "c", controller: true }] },
    });
    const machines = await owned(plane, MachineTemplate);
    expect(machines).toHaveLength(3);
    expect(controlPlane?.["spec"]).toMatchObject({ flavour: "f", version: "v1.33.0", replicas: 3 });
    const [a] = await deployments(plane);
    expect(a).toMatchObject({
      metadata: {
        labels: {
          tier: "class",
          "topology.cluster.x-k8s.io/owned": "",
          "topology.cluster.x-k8s.io/deployment-name": "a",
        },
      },
      spec: { replicas: 2, clusterName: "c", template: { spec: { version: "v1.33.0" } } },
    });
    const used = machines.find(({ metadata }) => metadata.name === a?.spec.template.spec.infrastructureRef.name);
    expect(used?.["spec"]).toEqual({ template: { spec: { image: "i", size: "small-c-a" } } });
    const check = await plane.user.get(MachineHealthCheck, { namespace: NAMESPACE, name: a?.metadata.name ?? "" });
    expect(check?.spec).toMatchObject({
      checks: { nodeStartupTimeoutSeconds: 300 },
      selector: { matchLabels: { "topology.cluster.x-k8s.io/deployment-name": "a" } },
    });
    expect(await reconciled(plane)).toMatchObject({ status: "True", reason: "ReconcileSucceeded" });
    const published = await plane.user.get(ClusterClass, { namespace: NAMESPACE, name: "class" });
    expect(published?.status).toMatchObject({ variables: [{ name: "size", definitions: [{ from: "inline" }] }] });
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("rotates templates when their content changes, and removes the old ones", async () => {
    const plane = await start();
    await fill(plane);
    const before = await deployments(plane);
    const untouched = before[0]?.spec.template.spec.bootstrap.configRef?.name;
    await plane.user.patch(cluster(), { spec: { topology: { variables: [{ name: "size", value: "large" }] } } });
    await plane.settle();
    const after = await deployments(plane);
    expect(after[0]?.spec.template.spec.infrastructureRef.name).not.toBe(
      before[0]?.spec.template.spec.infrastructureRef.name,
    );
    expect(after[0]?.spec.template.spec.bootstrap.configRef?.name).toBe(untouched);
    expect(after[0]?.metadata.name).toBe(before[0]?.metadata.name);
    expect(await owned(plane, MachineTemplate)).toHaveLength(3);
    // Back again: the same content has the same name.
    await plane.user.patch(cluster(), { spec: { topology: { variables: null } } });
    await plane.settle();
    expect((await deployments(plane))[0]?.spec.template.spec.infrastructureRef.name).toBe(
      before[0]?.spec.template.spec.infrastructureRef.name,
    );
  });

  test("takes a control plane that lists its versions for as old as the oldest of them", async () => {
    const plane = await start();
    await fill(plane);
    const running = async (...versions: string[]): Promise<(string | undefined)[]> => {
      const [found] = await list(plane, ControlPlane);
      if (found === undefined) throw new Error("no control plane");
      await plane.user.patchStatus(found, {
        status: { versions: versions.map((version) => ({ version, replicas: 1 })) },
      });
      await plane.settle();
      return [
        ...(await list(plane, ControlPlane)).map((one) => (one["spec"] as { version: string }).version),
        (await deployments(plane))[0]?.spec.template.spec.version,
      ];
    };
    await running("v1.33.0");
    await plane.user.patch(cluster(), { spec: { topology: { version: "v1.34.0" } } });
    expect(await running("v1.33.0")).toEqual(["v1.34.0", "v1.33.0"]);
    expect(await running("v1.34.0", "v1.33.0")).toEqual(["v1.34.0", "v1.33.0"]);
    expect(await running("v1.34.0")).toEqual(["v1.34.0", "v1.34.0"]);
  });

  test("upgrades the control plane first, then one group of workers after the other", async () => {
    const plane = await start();
    await fill(plane);
    await settleControlPlane(plane);
    const names = (await deployments(plane)).map(({ metadata }) => metadata.name ?? "");
    for (const name of names)
      await plane.user.create({
        ...machine("c", `${name}-m`, undefined, {
          "cluster.x-k8s.io/deployment-name": name,
          "topology.cluster.x-k8s.io/owned": "",
        }),
        spec: { ...(machine("c", `${name}-m`)["spec"] as object), version: "v1.33.0" },
      } as Unstructured);
    await plane.user.patch(cluster(), { spec: { topology: { version: "v1.34.0" } } });
    await plane.settle();
    const versions = async (): Promise<(string | undefined)[]> => [
      ...(await list(plane, ControlPlane)).map((one) => (one["spec"] as { version: string }).version),
      ...(await deployments(plane)).map(({ spec }) => spec.template.spec.version),
    ];
    expect(await versions()).toEqual(["v1.34.0", "v1.33.0", "v1.33.0"]);
    expect((await reconciled(plane))?.message).toContain("TopoControlPlane upgrading to version v1.34.0");
    await settleControlPlane(plane);
    expect(await versions()).toEqual(["v1.34.0", "v1.34.0", "v1.33.0"]);
    await plane.user.patch(machine("c", `${names[0]}-m`), { spec: { version: "v1.34.0" } });
    await plane.settle();
    expect(await versions()).toEqual(["v1.34.0", "v1.34.0", "v1.34.0"]);
    expect(await reconciled(plane)).toMatchObject({ status: "False", reason: "ClusterUpgrading" });
    await plane.user.patch(machine("c", `${names[1]}-m`), { spec: { version: "v1.34.0" } });
    await plane.settle();
    expect(await reconciled(plane)).toMatchObject({ status: "True" });
  });

  test("does not begin an upgrade while a hook on the Cluster asks to wait", async () => {
    const plane = await start();
    await fill(plane);
    await settleControlPlane(plane);
    const hook = "before-upgrade.hook.cluster.cluster.x-k8s.io/backup";
    const version = async (): Promise<unknown> =>
      (await list(plane, ControlPlane)).map((one) => (one["spec"] as { version: string }).version);
    await plane.user.patch(cluster(), {
      metadata: { annotations: { [hook]: "" } },
      spec: { topology: { version: "v1.34.0" } },
    });
    await plane.settle();
    expect(await version()).toEqual(["v1.33.0"]);
    expect((await reconciled(plane))?.message).toContain(`BeforeClusterUpgrade: ${hook} set on the Cluster; remove it`);
    await plane.user.patch(cluster(), { metadata: { annotations: { [hook]: null } } });
    await plane.settle();
    expect(await version()).toEqual(["v1.34.0"]);
  });

  test("deletes what it no longer has, health checks that are switched off included", async () => {
    const plane = await start();
    await fill(plane);
    await settleControlPlane(plane);
    const off = worker("a", { healthCheck: { enabled: false } });
    await plane.user.patch(cluster(), { spec: { topology: { workers: { machineDeployments: [off] } } } });
    await plane.settle();
    expect(
      (await deployments(plane)).map(({ metadata }) => metadata.labels?.["topology.cluster.x-k8s.io/deployment-name"]),
    ).toEqual(["a"]);
    expect(await owned(plane, MachineTemplate)).toHaveLength(2);
    expect((await plane.user.list(MachineHealthCheck)).items).toEqual([]);
  });

  test("says what a person must correct, and continues when it is corrected", async () => {
    const plane = await start();
    await plane.user.create(cluster({ variables: [{ name: "size", value: 5 }] }));
    await plane.settle();
    expect(await reconciled(plane)).toMatchObject({
      reason: "ReconcileFailed",
      message: "ClusterClass default/class does not exist; create it",
    });
    await plane.user.create(clusterClass());
    await plane.settle();
    expect((await reconciled(plane))?.message).toContain("default/t does not exist; create it");
    for (const of of TEMPLATES) await plane.user.create(template(of, {}));
    await plane.settle();
    expect((await reconciled(plane))?.message).toMatch(
      /^spec\.topology\.variables\[size\]\.value: Invalid value: "5": .*must be of type string/,
    );
    await plane.user.patch(cluster(), { spec: { topology: { variables: null } } });
    await plane.settle();
    expect(await reconciled(plane)).toMatchObject({ status: "True" });
    await plane.user.patch(cluster(), {
      spec: { topology: { workers: { machineDeployments: [worker("a", { class: "none" })] } } },
    });
    await plane.settle();
    expect((await reconciled(plane))?.message).toContain("MachineDeployment class none of a not found in ClusterClass");
    expect(plane.failures).toEqual([]);
  });

  test("moves to a class of the same kinds: objects stay, templates are replaced, nothing is left over", async () => {
    const plane = await start();
    await fill(plane);
    await settleControlPlane(plane);
    const names = async (of: AnyKind): Promise<string[]> =>
      (await list(plane, of)).map(({ metadata }) => metadata.name ?? "");
    const before = {
      infra: await names(Infra),
      controlPlane: await names(ControlPlane),
      workers: await deployments(plane),
    };
    const oldTemplates = (await owned(plane, MachineTemplate)).map(({ metadata }) => metadata.name);
    const next = (of: AnyKind) => ({ templateRef: { apiVersion: of.apiVersion, kind: of.kind, name: "t2" } });
    for (const [of, spec] of [
      [InfraTemplate, { region: "y" }],
      [MachineTemplate, { image: "j" }],
      [ControlPlaneTemplate, { flavour: "g" }],
    ] as const)
      await plane.user.create({ ...template(of, spec), metadata: { namespace: NAMESPACE, name: "t2" } });
    const other = clusterClass() as unknown as { metadata: object; spec: Record<string, unknown> };
    other.metadata = { namespace: NAMESPACE, name: "other" };
    other.spec["infrastructure"] = next(InfraTemplate);
    other.spec["controlPlane"] = { ...next(ControlPlaneTemplate), machineInfrastructure: next(MachineTemplate) };
    other.spec["workers"] = {
      machineDeployments: [
        { class: "worker", bootstrap: reference(ConfigTemplate), infrastructure: next(MachineTemplate) },
      ],
    };
    delete other.spec["patches"];
    delete other.spec["variables"];
    await plane.user.create(other as unknown as Unstructured);
    await plane.user.patch(cluster(), { spec: { topology: { classRef: { name: "other" } } } });
    await plane.settle();
    await settleControlPlane(plane);

    expect(await reconciled(plane)).toMatchObject({ status: "True" });
    expect(await names(Infra)).toEqual(before.infra);
    expect(await names(ControlPlane)).toEqual(before.controlPlane);
    expect((await list(plane, Infra))[0]).toMatchObject({ spec: { region: "y" } });
    expect((await list(plane, ControlPlane))[0]).toMatchObject({ spec: { flavour: "g", version: "v1.33.0" } });
    const after = await deployments(plane);
    expect(after.map(({ metadata }) => metadata.name)).toEqual(before.workers.map(({ metadata }) => metadata.name));
    // Labels and health checks of the class before are gone with it.
    expect(after.map(({ metadata }) => metadata.labels?.["tier"])).toEqual([undefined, undefined]);
    expect((await plane.user.list(MachineHealthCheck)).items).toEqual([]);
    const templates = (await owned(plane, MachineTemplate)).filter(({ metadata }) => metadata.name !== "t2");
    expect(templates).toHaveLength(3);
    for (const { metadata, ...rest } of templates) {
      expect(oldTemplates).not.toContain(metadata.name);
      expect(rest["spec"]).toEqual({ template: { spec: { image: "j" } } });
    }
    const writes = plane.writes;
    await plane.settle(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("that would swap kinds is reported and changes nothing, should it get past the API", async () => {
    const plane = await start();
    await fill(plane);
    const other = clusterClass() as unknown as { metadata: object; spec: Record<string, unknown> };
    other.metadata = { namespace: NAMESPACE, name: "other" };
    other.spec["infrastructure"] = reference(MachineTemplate);
    await plane.user.create(other as unknown as Unstructured);
    const [infra] = await list(plane, Infra);
    await plane.user.patch(cluster(), { spec: { topology: { classRef: { name: "other" } } } });
    await plane.settle();
    expect(await reconciled(plane)).toMatchObject({
      status: "False",
      reason: "ReconcileFailed",
      message: expect.stringContaining("use a class with the same kinds in spec.topology.classRef"),
    });
    expect((await list(plane, Infra))[0]).toEqual(infra);
    expect(plane.failures).toEqual([]);
  });

  test("rests while the Cluster is paused", async () => {
    const plane = await start();
    await fill(plane);
    await plane.user.patch(cluster(), { spec: { paused: true, topology: { version: "v1.34.0" } } });
    await plane.settle();
    expect(await reconciled(plane)).toMatchObject({ reason: "Paused" });
    expect((await list(plane, ControlPlane))[0]?.["spec"]).toMatchObject({ version: "v1.33.0" });
  });

  test("ends the same when killed after any write, with nothing left over", async () => {
    const writes = await crashAtEveryWrite({
      start,
      act: fill,
      wait: async (plane) => {
        await plane.clock.advance(3000);
        // A group of workers that came late waits for the control plane.
        if ((await list(plane, ControlPlane)).length > 0) await settleControlPlane(plane).catch(() => undefined);
        await plane.clock.advance(1000);
      },
      state: async (plane) => ({
        infra: (await list(plane, Infra)).length,
        controlPlanes: (await list(plane, ControlPlane)).length,
        machineTemplates: (await owned(plane, MachineTemplate)).length,
        configTemplates: (await owned(plane, ConfigTemplate)).length,
        deployments: (await deployments(plane)).map(
          ({ metadata }) => metadata.labels?.["topology.cluster.x-k8s.io/deployment-name"],
        ),
        checks: (await plane.user.list(MachineHealthCheck)).items.length,
        condition: (await reconciled(plane))?.status,
      }),
      check: (actual, expected, k) => expect(actual, `crashed after write ${k}`).toEqual(expected),
    });
    expect(writes).toBeGreaterThan(12);
  });

  test("leaves no replaced template behind when killed after any write", async () => {
    const writes = await crashAtEveryWrite({
      start: async () => {
        const plane = await start();
        await fill(plane);
        await settleControlPlane(plane);
        return plane;
      },
      act: async (plane) =>
        void (await plane.user.patch(cluster(), {
          spec: { topology: { variables: [{ name: "size", value: "large" }], controlPlane: { replicas: 5 } } },
        })),
      wait: (plane) => plane.clock.advance(5000),
      state: async (plane) => {
        const templates = await owned(plane, MachineTemplate);
        return {
          used: (await deployments(plane)).map(({ spec }) => {
            const { name } = spec.template.spec.infrastructureRef;
            return templates.find(({ metadata }) => metadata.name === name)?.["spec"];
          }),
          templates: templates.length,
          configTemplates: (await owned(plane, ConfigTemplate)).length,
          controlPlanes: (await list(plane, ControlPlane)).map(({ spec }) => spec),
          condition: (await reconciled(plane))?.status,
        };
      },
      check: (actual, expected, k) => {
        expect(actual, `crashed after write ${k}`).toEqual(expected);
        expect(actual.used).toContainEqual({ template: { spec: { image: "i", size: "large-c-a" } } });
        expect(actual.templates).toBe(3);
      },
    });
    expect(writes).toBeGreaterThan(5);
  }, 300_000);
});
