import { compileSchema, deepCopy, type Unstructured } from "@capstan/apimachinery";
import { arbitraryObjectOf } from "@capstan/capi/testing";
import { ByoHost } from "@capstan/host-agent";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { BootstrapKubeconfig } from "./bootstrap-kubeconfig.ts";
import { ByoCluster, ByoClusterTemplate } from "./byo-cluster.ts";
import { ByoMachine, ByoMachineTemplate } from "./byo-machine.ts";
import { K8sInstallerConfig, K8sInstallerConfigTemplate } from "./k8s-installer-config.ts";

const KINDS = [
  ByoHost,
  ByoCluster,
  ByoClusterTemplate,
  ByoMachine,
  ByoMachineTemplate,
  K8sInstallerConfig,
  K8sInstallerConfigTemplate,
  BootstrapKubeconfig,
];
const RUNS = { numRuns: 30 };

describe.each(KINDS.map(({ group, kind, versions }) => ({ group, kind, versions })))(
  "$kind",
  ({ group, kind, versions }) => {
    const [stored, old] = versions;
    if (stored === undefined || old?.convert === undefined) throw new Error(`${kind} is not served as v1beta1`);
    const { toStored, fromStored } = old.convert;
    const storedObjects = arbitraryObjectOf(`${group}/${stored.name}`, kind, stored.schema.json);
    const oldObjects = arbitraryObjectOf(`${group}/${old.name}`, kind, old.schema.json);

    it("comes back from v1beta1 as it was, and the other way round", () => {
      fc.assert(
        fc.property(storedObjects, (object) => {
          expect(toStored(fromStored(deepCopy(object) as Unstructured))).toEqual(object);
        }),
        RUNS,
      );
      fc.assert(
        fc.property(oldObjects, (object) => {
          const back = fromStored(toStored(deepCopy(object) as Unstructured));
          expect(back).toMatchObject(object);
          expect(fromStored(toStored(deepCopy(back)))).toEqual(back);
        }),
        RUNS,
      );
    });

    it("has no field that the other version's schema does not know", () => {
      const storedSchema = compileSchema({ ...stored.schema.json, type: "object" });
      const oldSchema = compileSchema({ ...old.schema.json, type: "object" });
      fc.assert(
        fc.property(storedObjects, oldObjects, (hub, spoke) => {
          expect(storedSchema.prune(toStored(deepCopy(spoke) as Unstructured), { root: true })).toEqual([]);
          expect(oldSchema.prune(fromStored(deepCopy(hub) as Unstructured), { root: true })).toEqual([]);
        }),
        RUNS,
      );
    });
  },
);

test("v1beta1 of a ByoHost has the claim and the conditions where today's tools look for them", () => {
  const convert = ByoHost.versions[1]?.convert ?? expect.fail("not served as v1beta1");
  const machineRef = { apiVersion: "x/v1", kind: "ByoMachine", namespace: "default", name: "m1", uid: "u1" };
  const lastTransitionTime = "2026-01-02T03:04:05Z";
  const ready = { type: "Ready", status: "False", reason: "BootstrapFailed", message: "no", lastTransitionTime };
  const old = convert.fromStored({
    apiVersion: ByoHost.apiVersion,
    kind: "ByoHost",
    metadata: { name: "h1", namespace: "default" },
    spec: { machineRef, bootstrapSecret: { name: "s", namespace: "default" } },
    status: { conditions: [ready] },
  });
  expect(old).toMatchObject({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    spec: { bootstrapSecret: { kind: "Secret", name: "s", namespace: "default" } },
    status: { machineRef, conditions: [{ ...ready, severity: "Info" }] },
  });
});
