import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { ALL_KINDS } from "../kinds/all.ts";
import { CONVERSION_DATA_ANNOTATION } from "./converter.ts";

type Fields = Record<string, unknown>;

function converterOf(kind: string) {
  const found = ALL_KINDS.find((known) => known.kind === kind);
  return found?.versions[1]?.convert ?? expect.fail(`${kind} has one version`);
}

function object(kind: string, version: string, parts: Fields): Unstructured {
  const group = ALL_KINDS.find((known) => known.kind === kind)?.group;
  return { apiVersion: `${group}/${version}`, kind, metadata: { name: "x", namespace: "ns" }, ...parts };
}

const oldRef = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "Foo", name: "f", namespace: "ns" };
const newRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "Foo", name: "f" };

describe("fields of v1beta1 and where they went", () => {
  it.each<[string, Fields, Fields]>([
    ["Machine", { spec: { nodeDrainTimeout: "1m30s" } }, { spec: { deletion: { nodeDrainTimeoutSeconds: 90 } } }],
    ["Machine", { spec: { infrastructureRef: oldRef } }, { spec: { infrastructureRef: newRef } }],
    [
      "Machine",
      { status: { nodeRef: { apiVersion: "v1", kind: "Node", name: "n" }, bootstrapReady: true } },
      { status: { nodeRef: { name: "n" }, initialization: { bootstrapDataSecretCreated: true } } },
    ],
    [
      "MachineDeployment",
      {
        spec: {
          minReadySeconds: 5,
          rolloutAfter: "2026-01-01T00:00:00Z",
          strategy: {
            type: "RollingUpdate",
            rollingUpdate: { maxSurge: 1, deletePolicy: "Oldest" },
            remediation: { maxInFlight: 2 },
          },
        },
      },
      {
        spec: {
          template: { spec: { minReadySeconds: 5 } },
          rollout: {
            after: "2026-01-01T00:00:00Z",
            strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
          },
          deletion: { order: "Oldest" },
          remediation: { maxInFlight: 2 },
        },
      },
    ],
    [
      "MachineHealthCheck",
      { spec: { maxUnhealthy: "40%", unhealthyConditions: [{ type: "Ready", status: "False", timeout: "5m0s" }] } },
      {
        spec: {
          remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "40%" } },
          checks: { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 300 }] },
        },
      },
    ],
    [
      "Cluster",
      {
        spec: { topology: { class: "k", classNamespace: "n", version: "v1.34.0" } },
        status: { failureDomains: { a: { controlPlane: true } } },
      },
      {
        spec: { topology: { classRef: { name: "k", namespace: "n" }, version: "v1.34.0" } },
        status: { failureDomains: [{ name: "a", controlPlane: true }] },
      },
    ],
    [
      "KubeadmConfig",
      {
        spec: {
          clusterConfiguration: { apiServer: { extraArgs: { a: "1", v: "2" }, timeoutForControlPlane: "20m0s" } },
        },
      },
      {
        spec: {
          clusterConfiguration: {
            apiServer: {
              extraArgs: [
                { name: "a", value: "1" },
                { name: "v", value: "2" },
              ],
            },
          },
          initConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: 1200 } },
          joinConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: 1200 } },
        },
      },
    ],
    [
      "KubeadmControlPlane",
      {
        spec: {
          machineTemplate: { infrastructureRef: oldRef, nodeDrainTimeout: "10s" },
          rolloutBefore: { certificatesExpiryDays: 10 },
          remediationStrategy: { maxRetry: 2, retryPeriod: "1h0m0s" },
        },
        status: { initialized: true },
      },
      {
        spec: {
          machineTemplate: { spec: { infrastructureRef: newRef, deletion: { nodeDrainTimeoutSeconds: 10 } } },
          rollout: { before: { certificatesExpiryDays: 10 } },
          remediation: { maxRetry: 2, retryPeriodSeconds: 3600 },
        },
        status: { initialization: { controlPlaneInitialized: true } },
      },
    ],
  ])("%s %j", (kind, old, stored) => {
    const { toStored, fromStored } = converterOf(kind);
    expect(toStored(object(kind, "v1beta1", old))).toEqual(object(kind, "v1beta2", stored));
    expect(fromStored(object(kind, "v1beta2", stored))).toEqual(object(kind, "v1beta1", old));
  });
});

describe("what a version cannot say", () => {
  it("is kept in an annotation and merged with what was edited meanwhile", () => {
    const { toStored, fromStored } = converterOf("Machine");
    const stored = object("Machine", "v1beta2", { spec: { clusterName: "c", minReadySeconds: 7, failureDomain: "a" } });
    const shown = fromStored(stored);
    expect(shown["spec"]).toEqual({ clusterName: "c", failureDomain: "a" });
    expect(shown.metadata.annotations?.[CONVERSION_DATA_ANNOTATION]).toContain('"minReadySeconds":7');
    const edited = { ...shown, spec: { clusterName: "c", failureDomain: "b" } };
    expect(toStored(edited)).toEqual({ ...stored, spec: { clusterName: "c", minReadySeconds: 7, failureDomain: "b" } });
  });

  it("of the old version survives changes in the new one", () => {
    const { toStored, fromStored } = converterOf("MachineDeployment");
    const stored = toStored(object("MachineDeployment", "v1beta1", { spec: { replicas: 1, revisionHistoryLimit: 3 } }));
    const scaled = { ...stored, spec: { ...(stored["spec"] as Fields), replicas: 5 } };
    const shown = fromStored(scaled);
    expect(shown["spec"]).toEqual({ replicas: 5, revisionHistoryLimit: 3 });
    expect(shown.metadata.annotations).toBeUndefined();
  });

  it("references get the version that the management API knows", () => {
    const { fromStored } = converterOf("Machine");
    const shown = fromStored(object("Machine", "v1beta2", { spec: { infrastructureRef: newRef } }), (g) => `${g}/v9`);
    expect(shown["spec"]).toMatchObject({ infrastructureRef: { apiVersion: "infrastructure.cluster.x-k8s.io/v9" } });
  });
});
