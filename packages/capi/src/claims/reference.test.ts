import type { KubeObject } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { byKindAndName, byUID, claimedBy, claimOn, referenceTo, unclaimed } from "./reference.ts";

const host: KubeObject & { spec?: object } = {
  apiVersion: "example.com/v1",
  kind: "Host",
  metadata: { namespace: "ns", name: "h", labels: { zone: "a" } },
  spec: { online: true },
};
const machine: KubeObject = {
  apiVersion: "example.com/v2",
  kind: "Machine",
  metadata: { namespace: "ns", name: "m", uid: "u-1" },
};
const reference = { apiVersion: "example.com/v2", kind: "Machine", namespace: "ns", name: "m", uid: "u-1" };

test("a claim names the machine and the cluster, and keeps the rest of the host", () => {
  const claimed = claimedBy(host, "machineRef", machine, "c");
  expect(claimed).toEqual({
    ...host,
    metadata: { ...host.metadata, labels: { zone: "a", [CLUSTER_NAME_LABEL]: "c" } },
    spec: { online: true, machineRef: reference },
  });
  expect(claimOn(claimed, "machineRef")).toMatchObject(reference);
  expect(host).not.toHaveProperty("spec.machineRef");
});

test("a claim without a cluster removes the label of another cluster", () => {
  const claimed = claimedBy(claimedBy(host, "machineRef", machine, "old"), "machineRef", machine, undefined);
  expect(claimed.metadata.labels).toEqual({ zone: "a" });
});

test("a release restores the host", () => {
  expect(unclaimed(claimedBy(host, "machineRef", machine, "c"), "machineRef")).toEqual(host);
  expect(unclaimed({ ...host, spec: undefined } as KubeObject, "machineRef")).toMatchObject({ spec: {} });
});

test.each<[string, unknown]>([
  ["no claim", undefined],
  ["no object", "m"],
  ["a claim for another namespace", { ...reference, namespace: "elsewhere" }],
])("a host with %s is not claimed", (_what, machineRef) => {
  expect(claimOn({ ...host, spec: { machineRef } } as KubeObject, "machineRef")).toBeUndefined();
});

test("a host without a spec is not claimed", () => {
  expect(claimOn(machine, "machineRef")).toBeUndefined();
});

test("a reference has empty texts for what an object does not have", () => {
  const texts = { namespace: "", name: "", uid: "" };
  expect(referenceTo({ apiVersion: "v1", kind: "K", metadata: {} })).toEqual({ apiVersion: "v1", kind: "K", ...texts });
});

test("machines are recognized by UID, or by kind and name if both are known", () => {
  expect(byUID(reference)).toBe("u-1");
  expect(byUID({ name: "m" })).toBeUndefined();
  expect(byKindAndName(reference)).toBe("Machine/m");
  expect(byKindAndName({ name: "m" })).toBeUndefined();
  expect(byKindAndName({ kind: "Machine" } as never)).toBeUndefined();
});
