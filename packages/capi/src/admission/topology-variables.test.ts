import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { Cluster } from "../kinds/cluster.ts";
import { ClusterClass } from "../kinds/cluster-class.ts";
import type { AdmissionLookup } from "../schema/kind.ts";
import { kindAdmissionPlugins } from "./plugins.ts";

type Fields = Record<string, unknown>;

const template = (kind: string): Fields => ({ apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind, name: "t" });
const variables = [
  { name: "size", schema: { openAPIV3Schema: { type: "string", enum: ["small", "large"], default: "small" } } },
  {
    name: "disk",
    required: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { gigabytes: { type: "integer", minimum: 1 }, fast: { type: "boolean", default: false } },
        "x-kubernetes-validations": [{ rule: "self.gigabytes >= oldSelf.gigabytes", message: "disks do not shrink" }],
      },
    },
  },
];

function classNamed(name: string, more: Fields = {}): Unstructured {
  return {
    apiVersion: ClusterClass.apiVersion,
    kind: "ClusterClass",
    metadata: { namespace: "ns", name, uid: name, generation: 2 },
    spec: {
      infrastructure: { templateRef: template("FooClusterTemplate") },
      controlPlane: { templateRef: template("FooControlPlaneTemplate") },
      workers: {
        machineDeployments: [
          {
            class: "w",
            bootstrap: { templateRef: template("FooConfigTemplate") },
            infrastructure: { templateRef: template("FooMachineTemplate") },
          },
        ],
      },
      variables,
      ...more,
    },
  };
}

const discovering = { variables: undefined, patches: [{ name: "p", external: { discoverVariablesExtension: "x" } }] };
const classes = [
  classNamed("k"),
  classNamed("compatible"),
  classNamed("other-kinds", { infrastructure: { templateRef: template("BarClusterTemplate") } }),
  classNamed("no-workers", { workers: undefined }),
  classNamed("discovering", discovering),
  {
    ...classNamed("discovered", discovering),
    status: {
      observedGeneration: 2,
      conditions: [{ type: "VariablesReady", status: "True" }],
      variables: [{ name: "size", definitions: [{ from: "p", required: false, schema: variables[0]?.schema }] }],
    },
  } as Unstructured,
];

const lookup: AdmissionLookup = {
  get: async (_kind, namespace, name) =>
    classes.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  list: async () => [],
};

function cluster(topology: Fields, classRef = "k"): Unstructured {
  const metadata = { namespace: "ns", name: "c" };
  const spec = { topology: { classRef: { name: classRef }, version: "v1.34.4", ...topology } };
  return { apiVersion: Cluster.apiVersion, kind: "Cluster", metadata, spec };
}

async function admit(object: Unstructured, oldObject?: Unstructured): Promise<{ error: string; warnings: string[] }> {
  const [plugin] = kindAdmissionPlugins([Cluster], { lookup });
  const warnings: string[] = [];
  const operation = oldObject === undefined ? "CREATE" : "UPDATE";
  const type = { group: Cluster.group, version: Cluster.version, kind: "Cluster" };
  const request = { operation, type, object, oldObject, warn: (text: string) => warnings.push(text) };
  try {
    await plugin?.mutate(request);
    await plugin?.validate(request);
    return { error: "", warnings };
  } catch (error) {
    return { error: (error as Error).message, warnings };
  }
}

const disk = (value: unknown): Fields => ({ name: "disk", value });
const DISK = disk({ gigabytes: 10 });
const workers = (overrides: Fields[]): Fields => ({
  machineDeployments: [{ class: "w", name: "a", variables: { overrides } }],
});
const variablesOf = (object: Unstructured): unknown =>
  (object as unknown as { spec: { topology: Fields } }).spec.topology["variables"];

describe("variables of a Cluster with a topology", () => {
  test("get the defaults of the class, also inside", async () => {
    const created = cluster({ variables: [DISK], workers: workers([disk({ gigabytes: 20 })]) });
    expect(await admit(created)).toEqual({ error: "", warnings: [] });
    expect(variablesOf(created)).toEqual([disk({ gigabytes: 10, fast: false }), { name: "size", value: "small" }]);
    expect(created).toMatchObject({
      spec: {
        topology: {
          workers: { machineDeployments: [{ variables: { overrides: [disk({ gigabytes: 20, fast: false })] } }] },
        },
      },
    });
    // Once complete, nothing is left to change: writes of controllers change nothing else.
    const again = structuredClone(created);
    expect((await admit(again, created)).error).toBe("");
    expect(again).toEqual(created);
  });

  test.each<[string, Fields, string]>([
    ["missing", {}, 'spec.topology.variables: Required value: required variable "disk" must be set'],
    ["of another type", { variables: [disk("x")] }, "spec.topology.variables[disk].value: Invalid value"],
    [
      "out of range",
      { variables: [disk({ gigabytes: 0 })] },
      "spec.topology.variables[disk].value.gigabytes: Invalid value",
    ],
    [
      "not allowed",
      { variables: [DISK, { name: "size", value: "huge" }] },
      'spec.topology.variables[size].value: Unsupported value: "huge"',
    ],
    [
      "unknown",
      { variables: [DISK, { name: "shape", value: 1 }] },
      'spec.topology.variables[shape]: Invalid value: "1": variable is not defined',
    ],
    [
      "with a field the schema does not know",
      { variables: [disk({ gigabytes: 1, colour: "red" })] },
      'spec.topology.variables[disk]: Invalid value: "{\\"gigabytes\\":1,\\"colour\\":\\"red\\",\\"fast\\":false}": failed validation: "colour" field(s) are not specified',
    ],
    [
      "overridden wrongly",
      { variables: [DISK], workers: workers([disk({ gigabytes: -1 })]) },
      "spec.topology.workers.machineDeployments[a].variables.overrides[disk].value.gigabytes",
    ],
    [
      "overridden wrongly for the control plane",
      { variables: [DISK], controlPlane: { variables: { overrides: [{ name: "size", value: 1 }] } } },
      "spec.topology.controlPlane.variables.overrides[size].value",
    ],
  ])("%s are refused", async (_, topology, expected) => {
    expect((await admit(cluster(topology))).error).toContain(expected);
  });

  test("rules about changes see the value before", async () => {
    const old = cluster({ variables: [disk({ gigabytes: 10, fast: false }), { name: "size", value: "small" }] });
    expect((await admit(cluster({ variables: [disk({ gigabytes: 5 })] }), old)).error).toContain("disks do not shrink");
    expect((await admit(cluster({ variables: [disk({ gigabytes: 15 })] }), old)).error).toBe("");
  });

  test("that a changed class would refuse do not hold up writes to the rest of the Cluster", async () => {
    const old = cluster({ variables: [{ name: "size", value: "huge" }] });
    expect((await admit({ ...old, metadata: { ...old.metadata, finalizers: ["x"] } }, old)).error).toBe("");
  });

  test("cannot be checked without the class, which a warning says", async () => {
    expect(await admit(cluster({ variables: [{ name: "what", value: 1 }] }, "missing"))).toEqual({
      error: "",
      warnings: [
        "Cluster refers to ClusterClass ns/missing, but this ClusterClass does not exist. Cluster topology has not been fully validated. The ClusterClass must be created to reconcile the Cluster",
      ],
    });
    const unready = await admit(cluster({ variables: [{ name: "what", value: 1 }] }, "discovering"));
    expect(unready).toEqual({ error: "", warnings: [expect.stringContaining("hasn't been successfully reconciled")] });
    const ready = await admit(cluster({ variables: [{ name: "what", value: 1 }] }, "discovered"));
    expect(ready.error).toContain("variable is not defined");
  });
});

describe("a Cluster that moves to another class", () => {
  const complete = {
    variables: [disk({ gigabytes: 10, fast: false }), { name: "size", value: "small" }],
    workers: workers([]),
  };

  test.each([
    ["compatible", ""],
    ["other-kinds", "spec.infrastructure.templateRef.kind"],
    ["no-workers", "spec.topology.workers.machineDeployments[0].class"],
    ["missing", "spec.topology.classRef"],
  ])("%s: %s", async (name, expected) => {
    const { error } = await admit(cluster(complete, name), cluster(complete));
    if (expected === "") expect(error).toBe("");
    else expect(error).toContain(expected);
  });

  test("is rejected if the previous class does not exist, because the compatibility is unknown", async () => {
    const { error } = await admit(cluster(complete, "k"), cluster(complete, "gone"));
    expect(error).toContain("spec.topology.classRef: Forbidden: ClusterClass ns/gone does not exist");
  });
});

describe("replicas with an autoscaler", () => {
  const limits = { annotations: { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "1" } };
  const group = (more: Fields): Fields => ({
    variables: [DISK],
    workers: { machineDeployments: [{ class: "w", name: "a", ...more }] },
  });

  test("are refused in a topology", async () => {
    expect((await admit(cluster(group({ replicas: 2, metadata: limits })))).error).toContain(
      'spec.topology.workers.machineDeployments[a].replicas: Invalid value: 2: cannot be set for cluster "c" in namespace "ns" if the same MachineDeploymentTopology has autoscaler annotations',
    );
    expect((await admit(cluster(group({ metadata: limits })))).error).toBe("");
  });

  test("are refused when the class asks for the autoscaler, on either side", async () => {
    const spec = {
      workers: {
        machineDeployments: [
          {
            class: "w",
            metadata: limits,
            bootstrap: { templateRef: template("FooConfigTemplate") },
            infrastructure: { templateRef: template("FooMachineTemplate") },
          },
        ],
      },
    };
    classes.push(classNamed("scaled", spec));
    const user = cluster(group({ replicas: 2 }), "scaled");
    expect((await admit(user)).error).toContain(
      'if the source class "w" of this MachineDeploymentTopology has autoscaler annotations',
    );

    const [plugin] = kindAdmissionPlugins([ClusterClass], { lookup: { ...lookup, list: async () => [user] } });
    const type = { group: ClusterClass.group, version: ClusterClass.version, kind: "ClusterClass" };
    const request = { operation: "UPDATE", type, object: classNamed("scaled", spec), oldObject: classNamed("scaled") };
    await expect(plugin?.validate(request)).rejects.toThrow(/has autoscaler annotations/);
  });
});
