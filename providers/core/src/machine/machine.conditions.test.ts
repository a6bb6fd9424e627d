import { findCondition } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { type MachineConditionsInput, machineConditions } from "./machine.conditions.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const MINUTE_MS = 60_000;
const REFERENCE = { apiGroup: "x.cluster.x-k8s.io", kind: "FooMachine", name: "f" };
const NODE = {
  status: {
    nodeInfo: { kubeletVersion: "v1.36.1" },
    conditions: [
      { type: "Ready", status: "True" },
      ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({ type, status: "False" })),
    ],
  },
};

interface Given {
  spec?: object;
  status?: object;
  metadata?: object;
  scope?: object;
  deleting?: { reason: string; message: string };
}

const found = (object: object = {}, contract = "v1beta2") => ({
  state: "found",
  reference: REFERENCE,
  contract,
  object: { kind: "FooMachine", metadata: { name: "f" }, ...object },
});
const missing = { state: "missing", reference: REFERENCE };
const being = (sinceMs: number) => ({ deletionTimestamp: new Date(NOW - sinceMs).toISOString() });

function conditionOf({ spec = {}, status = {}, metadata = {}, scope = {}, deleting }: Given, type: string): string {
  const all = machineConditions({
    scope: {
      machine: { metadata: { name: "m", namespace: "ns", ...metadata }, spec: { clusterName: "c1", ...spec }, status },
      cluster: { metadata: { name: "c1" }, spec: {}, status: {} },
      bootstrap: { state: "none" },
      infrastructure: found({ spec: { providerID: "foo://1" }, status: { initialization: { provisioned: true } } }),
      connection: { state: "connected" },
      node: NODE,
      ...scope,
    },
    paused: { type: "Paused", status: "False", reason: "NotPaused", message: "" },
    deleting,
    nodeProblem: undefined,
    nowMs: NOW,
  } as unknown as MachineConditionsInput);
  const { status: value, reason, message } = findCondition(all as never, type) ?? {};
  return `${value} ${reason}${message === "" || message === undefined ? "" : `: ${message}`}`;
}

describe("BootstrapConfigReady", () => {
  const created = { status: { initialization: { bootstrapDataSecretCreated: true } } };
  const secret = { status: { dataSecretName: "s", initialization: { dataSecretCreated: true } } };
  test.each<[string, Given]>([
    ["True DataSecretProvided", {}],
    ["False NotReady: FooMachine status.initialization.dataSecretCreated is false", { scope: { bootstrap: found() } }],
    ["False NotReady: FooMachine status.ready is false", { scope: { bootstrap: found({}, "v1beta1") } }],
    ["True Ready", { scope: { bootstrap: found(secret) } }],
    ["True Ready", { scope: { bootstrap: found() }, ...created }],
    ["False ObjectDoesNotExist: FooMachine f does not exist", { scope: { bootstrap: missing } }],
    [
      "False ObjectDeleted: FooMachine f has been deleted while the Machine still exists",
      { scope: { bootstrap: missing }, ...created },
    ],
    [
      "False ObjectDeleted: FooMachine f has been deleted",
      { scope: { bootstrap: missing }, ...created, metadata: being(0) },
    ],
    ["False ObjectDoesNotExist: FooMachine f does not exist", { scope: { bootstrap: missing }, metadata: being(0) }],
    [
      "Unknown InvalidConditionReported: no such kind",
      { scope: { bootstrap: { state: "unresolved", reference: REFERENCE, message: "no such kind" } } },
    ],
    [
      "Unknown ObjectDoesNotExist: Cluster c1 does not exist; create it or correct spec.clusterName",
      { scope: { bootstrap: found(secret), cluster: undefined } },
    ],
    ["True Ready", { scope: { bootstrap: found(secret), cluster: undefined }, metadata: being(0) }],
    [
      "False Broken: of its own",
      {
        scope: {
          bootstrap: found({
            status: { conditions: [{ type: "Ready", status: "False", reason: "Broken", message: "of its own" }] },
          }),
        },
      },
    ],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, "BootstrapConfigReady")).toBe(expected);
  });
});

describe("InfrastructureReady", () => {
  const provisioned = { initialization: { provisioned: true } };
  const before = { status: { initialization: { infrastructureProvisioned: true } } };
  const of = (infrastructure: object): Given => ({ scope: { infrastructure } });
  test.each<[string, Given]>([
    ["True Ready", {}],
    ["False NotReady: FooMachine status.initialization.provisioned is false", of(found())],
    ["False NotReady: FooMachine status.ready is false", of(found({}, "v1beta1"))],
    [
      "False NotReady: FooMachine f reports that it is provisioned but has no spec.providerID",
      of(found({ status: provisioned })),
    ],
    ["True Ready", { ...of(found({ status: provisioned })), spec: { providerID: "foo://1" } }],
    ["True Ready", { ...of(found()), ...before }],
    ["False ObjectDoesNotExist: FooMachine f does not exist", of(missing)],
    [
      "False ObjectDeleted: FooMachine f has been deleted while the Machine still exists",
      { ...of(missing), ...before },
    ],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, "InfrastructureReady")).toBe(expected);
  });
});

describe("UpToDate", () => {
  const template = (version: string) => ({
    spec: { clusterName: "c1", version, bootstrap: {}, infrastructureRef: REFERENCE },
  });
  const owners = (of: { set?: string; deployment?: string; kubelet?: string; after?: string }): Given => ({
    spec: { version: of.set ?? "v1.36.1" },
    scope: {
      machineSet: {
        metadata: { creationTimestamp: "2025-01-01T00:00:00Z" },
        spec: { template: template(of.set ?? "v1.36.1") },
      },
      machineDeployment: {
        metadata: {},
        spec: {
          template: template(of.deployment ?? "v1.36.1"),
          ...(of.after === undefined ? {} : { rollout: { after: of.after } }),
        },
      },
      node: { status: { ...NODE.status, nodeInfo: { kubeletVersion: of.kubelet ?? "v1.36.1" } } },
    },
  });
  test.each<[string, Given]>([
    ["undefined undefined", {}],
    ["True UpToDate", owners({})],
    ["False NotUpToDate: * Version v1.36.1, v1.37.1 required", owners({ deployment: "v1.37.1" })],
    ["False NotUpToDate: * MachineDeployment spec.rollout.after expired", owners({ after: "2025-12-31T00:00:00Z" })],
    ["True UpToDate", owners({ after: "2026-06-01T00:00:00Z" })],
    ["True UpToDate: * Node runs v1.36.9, a different patch release of v1.36.1", owners({ kubelet: "v1.36.9" })],
    ["False Updating: * Node runs version v1.35.1, v1.36.1 required", owners({ kubelet: "v1.35.1" })],
    ["False Updating: * Node runs version v2.36.1, v1.36.1 required", owners({ kubelet: "v2.36.1" })],
    ["True UpToDate", owners({ kubelet: "" })],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, "UpToDate")).toBe(expected);
  });
});

describe("Ready", () => {
  const gate = (polarity?: string) => ({ readinessGates: [{ conditionType: "Gate", polarity }] });
  const reports = (type: string, status: string) => ({ conditions: [{ type, status, reason: "Why", message: "so" }] });
  const drains = { reason: "DrainingNode", message: "pods are left" };
  test.each<[string, Given]>([
    ["True Ready", {}],
    ["Unknown ReadyUnknown: * Gate: Condition Gate not yet reported", { spec: gate() }],
    ["True Ready", { spec: gate(), status: reports("Gate", "True") }],
    ["False NotReady: * Gate: so", { spec: gate(), status: reports("Gate", "False") }],
    ["False NotReady: * Gate: so", { spec: gate("Negative"), status: reports("Gate", "True") }],
    ["True Ready", { spec: gate("Negative"), status: reports("Gate", "False") }],
    ["False NotReady: * HealthCheckSucceeded: so", { status: reports("HealthCheckSucceeded", "False") }],
    [
      "False NotReady: * Deleting: Machine deletion in progress, stage: DrainingNode",
      { metadata: being(15 * MINUTE_MS), deleting: drains },
    ],
    [
      "False NotReady: * Deleting:\n  * Machine deletion in progress since more than 15m, stage: DrainingNode\n  * pods are left",
      { metadata: being(15 * MINUTE_MS + 1), deleting: drains },
    ],
    [
      "False NotReady: * Deleting: Machine deletion in progress since more than 15m, stage: DrainingNode",
      { metadata: being(16 * MINUTE_MS), deleting: { ...drains, message: "" } },
    ],
  ])("%s", (expected, given) => {
    expect(conditionOf(given, "Ready")).toBe(expected);
  });

  test("Deleting says its stage at once", () => {
    expect(conditionOf({ metadata: being(0), deleting: drains }, "Deleting")).toBe("True DrainingNode: pods are left");
    expect(conditionOf({}, "Deleting")).toBe("False NotDeleting");
    expect(conditionOf({}, "Updating")).toBe("False NotUpdating");
  });
});
