import type { KubeObject } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { kindRef } from "../kind.ts";
import { controller, ownerRequests } from "./builder.ts";
import { done } from "./result.ts";

const Machine = kindRef({ group: "x.io", version: "v2", kind: "Machine", plural: "machines", namespaced: true });
const Fleet = kindRef({ group: "x.io", version: "v2", kind: "Fleet", plural: "fleets", namespaced: false });

const owner = (name: string, more: object = {}) => ({
  apiVersion: "x.io/v1",
  kind: "Machine",
  name,
  uid: name,
  ...more,
});
const owned: KubeObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    namespace: "ns",
    name: "s",
    ownerReferences: [
      owner("controlling", { controller: true }),
      owner("other"),
      owner("other-kind", { kind: "Lamp", controller: true }),
      owner("other-group", { apiVersion: "y.io/v2", controller: true }),
      owner("core", { apiVersion: "v1", controller: true }),
    ],
  },
};

test("maps a change of an owned object to its controller, whatever version the reference names, or to every owner", () => {
  expect(ownerRequests(owned, Machine, false)).toEqual([{ namespace: "ns", name: "controlling" }]);
  expect(ownerRequests(owned, Machine, true)).toEqual([
    { namespace: "ns", name: "controlling" },
    { namespace: "ns", name: "other" },
  ]);
  const ofFleet = {
    ...owned,
    metadata: { ...owned.metadata, ownerReferences: [owner("f", { kind: "Fleet", controller: true })] },
  };
  expect(ownerRequests(ofFleet, Fleet, false), "of no namespace").toEqual([{ namespace: "", name: "f" }]);
  expect(ownerRequests({ ...owned, metadata: {} }, Machine, true)).toEqual([]);
});

test("reports mistakes in the definition of a controller at once", () => {
  expect(() => controller("a").for(Machine).for(Fleet)).toThrow(/call for\(\) once/);
  expect(() => controller("a").owns(Machine)).toThrow(/call for\(\) before owns\(\)/);
  expect(() => controller("a").concurrency(0)).toThrow(/at least 1/);
});

test("gives every controller a field manager of its own", () => {
  const build = (name: string) => controller(name).for(Machine);
  const reconcile = () => Promise.resolve(done());
  expect(build("a").reconcile(reconcile).definition.fieldManager).toBe("capstan-a");
  expect(build("b").fieldManager("mine").reconcile(reconcile).definition.fieldManager).toBe("mine");
});
