import { controllerOf, type Unstructured } from "@capstan/apimachinery";
import {
  array,
  boolean,
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractObject,
  condition,
  defineKind,
  Machine,
  object,
  openObject,
  optional,
  string,
  type WorkloadClusters,
} from "@capstan/capi";
import {
  type Controller,
  controller,
  done,
  ensureFinalizer,
  kindRef,
  type Request,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";

const GROUP = "infrastructure.cluster.x-k8s.io";
const FINALIZER = "test.cluster.x-k8s.io";

const flags = optional(object({ provisioned: optional(boolean()), dataSecretCreated: optional(boolean()) }));
const conditions = optional(array(condition, { listType: "map", keys: ["type"] }));
const machineSpec = object({ providerID: optional(string()), never: optional(boolean()), size: optional(string()) });

/** The smallest machine a contract allows: boots at once, or never. */
export const TestMachine = defineKind({
  group: GROUP,
  version: "v1beta2",
  kind: "TestMachine",
  plural: "testmachines",
  doc: "A machine of tests.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: optional(machineSpec),
    status: optional(
      object({
        initialization: flags,
        failureDomain: optional(string()),
        addresses: optional(array(object({ type: string(), address: string() }), { listType: "atomic" })),
        conditions,
      }),
    ),
  }),
});

export const TestMachineTemplate = defineKind({
  group: GROUP,
  version: "v1beta2",
  kind: "TestMachineTemplate",
  plural: "testmachinetemplates",
  doc: "A template of machines of tests.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: object({ template: object({ metadata: optional(openObject()), spec: optional(machineSpec) }) }),
  }),
});

/** Bootstrap data that is there at once. */
export const TestConfig = defineKind({
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "TestConfig",
  plural: "testconfigs",
  doc: "Bootstrap data of tests.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: optional(openObject()),
    status: optional(object({ initialization: flags, dataSecretName: optional(string()) })),
  }),
});

export const TestConfigTemplate = defineKind({
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "TestConfigTemplate",
  plural: "testconfigtemplates",
  doc: "A template of bootstrap data of tests.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: object({ template: object({ metadata: optional(openObject()), spec: optional(openObject()) }) }),
  }),
});

/** A control plane without Machines, as it says of itself in its status. */
export const TestControlPlane = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "TestControlPlane",
  plural: "testcontrolplanes",
  doc: "A control plane of tests.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: optional(object({ version: optional(string()) })),
    status: optional(
      object({
        initialization: optional(object({ controlPlaneInitialized: optional(boolean()) })),
        externalManagedControlPlane: optional(boolean()),
        version: optional(string()),
      }),
    ),
  }),
});

export const TEST_KINDS = [TestMachine, TestMachineTemplate, TestConfig, TestConfigTemplate, TestControlPlane] as const;

const NodeKind = kindRef({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

/** A provider of machines whose Nodes join the workload cluster, and of their bootstrap data. */
export function testProvider(workload: WorkloadClusters): Controller[] {
  return [machines(workload), configs()];
}

function configs(): Controller {
  return controller("test-config")
    .for(TestConfig)
    .concurrency(20)
    .reconcile(async (request, { cache, client }) => {
      const config = cache.get(TestConfig, request);
      if (config === undefined || controllerOf(config)?.kind !== "Machine") return done();
      if (config.metadata.deletionTimestamp !== undefined || config.status !== undefined) return done();
      await client.patchStatus(config, {
        status: { initialization: { dataSecretCreated: true }, dataSecretName: request.name },
      });
      return done();
    });
}

function machines(workload: WorkloadClusters): Controller {
  return controller("test-machine")
    .for(TestMachine)
    .watches(Machine, (machine) => toMachine(machine.metadata.namespace, machine.spec.infrastructureRef.name))
    .watches(Cluster, () => [])
    .concurrency(50)
    .reconcile(async (request, { cache, client }) => {
      const object = cache.get(TestMachine, request);
      if (object === undefined) return done();
      const cluster = { namespace: request.namespace, name: object.metadata.labels?.[CLUSTER_NAME_LABEL] ?? "" };
      const connection = workload.get(cluster);
      if (object.metadata.deletionTimestamp !== undefined) {
        await releaseFinalizer(client, object, FINALIZER);
        return done();
      }
      const owner = controllerOf(object);
      const machine = owner === undefined ? undefined : cache.get(Machine, { ...request, name: owner.name });
      if (machine?.spec.bootstrap.dataSecretName === undefined || object.spec?.never === true) return done();
      const held = await ensureFinalizer(client, object, FINALIZER);
      const providerID = `test://${request.name}`;
      if (connection.state !== "connected") return requeueAfter(1000);
      if (connection.nodes.get(request.name) === undefined && machine.status?.nodeRef === undefined)
        await connection.client.apply(testNode(request.name, providerID, machine.spec.version));
      if (held.spec?.providerID === undefined) await client.patch(held, { spec: { providerID } });
      if (held.status?.initialization?.provisioned !== true)
        await client.patchStatus(held, {
          status: { initialization: { provisioned: true }, failureDomain: machine.spec.failureDomain ?? "fd-1" },
        });
      return done();
    });
}

function toMachine(namespace: string | undefined, name: string): Request[] {
  return [{ namespace: namespace ?? "", name }];
}

/** A Node that is ready from the start. */
export function testNode(name: string, providerID: string, version = "v1.34.4"): Unstructured {
  const good = (type: string, status: string): object => ({ type, status, reason: "R", message: "" });
  return {
    apiVersion: "v1",
    kind: NodeKind.kind,
    metadata: { name },
    spec: { providerID, taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }] },
    status: {
      conditions: [
        good("Ready", "True"),
        good("MemoryPressure", "False"),
        good("DiskPressure", "False"),
        good("PIDPressure", "False"),
      ],
      nodeInfo: { kubeletVersion: version },
    },
  } as ContractObject;
}
