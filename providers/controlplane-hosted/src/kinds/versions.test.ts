import { compileSchema, deepCopy, type Unstructured } from "@capstan/apimachinery";
import { arbitraryObjectOf } from "@capstan/capi/testing";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { HostedControlPlane } from "./hosted-control-plane.ts";
import { HostedControlPlaneTemplate } from "./hosted-control-plane-template.ts";

const KINDS = [HostedControlPlane, HostedControlPlaneTemplate];
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

test("v1beta1 has the status where tools of that contract look for it", () => {
  const convert = HostedControlPlane.versions[1]?.convert ?? expect.fail("not served as v1beta1");
  const lastTransitionTime = "2026-01-02T03:04:05Z";
  const available = { type: "Available", status: "True", reason: "Available", message: "", lastTransitionTime };
  const old = convert.fromStored({
    apiVersion: HostedControlPlane.apiVersion,
    kind: "HostedControlPlane",
    metadata: { name: "c1", namespace: "default" },
    spec: { version: "v1.34.4", replicas: 3 },
    status: {
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      replicas: 3,
      readyReplicas: 2,
      availableReplicas: 2,
      upToDateReplicas: 1,
      conditions: [available],
    },
  });
  expect(old).toMatchObject({
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta1",
    status: {
      initialized: true,
      ready: true,
      externalManagedControlPlane: true,
      readyReplicas: 2,
      updatedReplicas: 1,
      unavailableReplicas: 1,
      conditions: [available],
      v1beta2: { conditions: [available] },
    },
  });
});
