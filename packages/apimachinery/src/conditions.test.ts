import { expect, test } from "vitest";
import { findCondition, isTrue, removeCondition, setCondition } from "./conditions.ts";
import type { Condition, KubeObject } from "./object.ts";
import { addOwnerReference, controllerOf, hasOwner, ownerReference, removeOwnerReference } from "./owner-references.ts";

const T1 = "2026-01-01T00:00:00Z";
const T2 = "2026-01-01T00:01:00Z";
const READY = { type: "Ready", status: "True", reason: "Ok", message: "" } as const;

test("the transition time moves only with the status", () => {
  const first = setCondition(undefined, READY, T1);
  expect(first).toEqual([{ ...READY, lastTransitionTime: T1 }]);
  expect(setCondition(first, READY, T2)).toBe(first);
  const reworded = setCondition(first, { ...READY, message: "fine" }, T2);
  expect(reworded).toEqual([{ ...READY, message: "fine", lastTransitionTime: T1 }]);
  const failed = setCondition(reworded, { ...READY, status: "False", observedGeneration: 2 }, T2);
  expect(findCondition(failed, "Ready")).toMatchObject({
    status: "False",
    lastTransitionTime: T2,
    observedGeneration: 2,
  });
  expect([isTrue(first, "Ready"), isTrue(failed, "Ready"), isTrue(undefined, "Ready")]).toEqual([true, false, false]);
});

test("others stay where they are; nothing given is changed", () => {
  const list: Condition[] = Object.freeze([
    { ...READY, type: "A", lastTransitionTime: T1 },
    { ...READY, type: "B", lastTransitionTime: T1 },
  ]) as Condition[];
  expect(setCondition(list, { ...READY, type: "A", status: "False" }, T2).map((c) => c.type)).toEqual(["A", "B"]);
  expect(removeCondition(list, "A").map((c) => c.type)).toEqual(["B"]);
  expect(removeCondition(list, "C")).toBe(list);
});

const owner: KubeObject = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "c", uid: "1" },
};

test("owner references", () => {
  const reference = ownerReference(owner, { controller: true });
  expect(reference).toEqual({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    name: "c",
    uid: "1",
    controller: true,
    blockOwnerDeletion: true,
  });
  const references = [...addOwnerReference(undefined, reference)];
  expect(addOwnerReference(references, reference)).toBe(references);
  // Another version of the same kind is the same owner: its reference is brought up to date.
  const older = [{ ...reference, apiVersion: "cluster.x-k8s.io/v1beta1" }];
  expect(addOwnerReference(older, reference)).toEqual([reference]);
  const object: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { ownerReferences: references } };
  expect(controllerOf(object)).toEqual(reference);
  expect(hasOwner(object, owner)).toBe(true);
  expect(hasOwner(object, { ...owner, metadata: { uid: "2" } })).toBe(false);
  expect(removeOwnerReference(references, reference)).toEqual([]);
  expect(removeOwnerReference(references, { ...reference, name: "other" })).toBe(references);
});
