import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { USABLE_FROM_ANNOTATION } from "../references/grant.ts";
import type { AdmissionLookup } from "../schema/kind.ts";
import { admit, sample } from "../testing/admit.ts";

const template = (kind: string) => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: `${kind}Template`,
  name: "t",
});
const spec = {
  infrastructure: { templateRef: template("Foo") },
  controlPlane: { templateRef: template("Plane") },
  variables: [{ name: "token", required: false, schema: { openAPIV3Schema: { type: "string", default: "secret" } } }],
};
const classIn = (namespace: string, allowed?: string): Unstructured =>
  sample("ClusterClass", spec, {
    metadata: {
      name: "k",
      namespace,
      generation: 1,
      ...(allowed === undefined ? {} : { annotations: { [USABLE_FROM_ANNOTATION]: allowed } }),
    },
    status: {
      observedGeneration: 1,
      conditions: [{ type: "VariablesReady", status: "True" }],
      variables: [
        { name: "token", definitions: [{ from: "inline", required: false, schema: spec.variables[0]?.schema }] },
      ],
    },
  });
const using = (namespace?: string): Unstructured =>
  sample("Cluster", { topology: { classRef: { name: "k", ...(namespace ? { namespace } : {}) }, version: "v1.34.0" } });
const there = (...objects: Unstructured[]): AdmissionLookup => ({
  get: async ({ kind }, namespace, name) =>
    objects.find((o) => o.kind === kind && o.metadata.namespace === namespace && o.metadata.name === name),
  list: async ({ kind }) => objects.filter((o) => o.kind === kind),
});

describe("a Cluster with a class of another namespace", () => {
  test("is refused without a grant, and learns nothing of the class", async () => {
    const cluster = using("other");
    const said = await admit(cluster, undefined, there(classIn("other")));
    expect(said).toContain('spec.topology.classRef.namespace: Invalid value: "other"');
    expect(said).toContain(`${USABLE_FROM_ANNOTATION}: ns`);
    expect(JSON.stringify(cluster)).not.toContain("secret");
    expect(await admit(using("other"), undefined, there())).toBe(said);
  });

  test("is accepted with a grant, and gets the defaults of the class", async () => {
    const cluster = using("other");
    expect(await admit(cluster, undefined, there(classIn("other", "ns")))).toBe("");
    expect(cluster).toMatchObject({ spec: { topology: { variables: [{ name: "token", value: "secret" }] } } });
  });

  test("can still be paused and labelled after the grant was withdrawn, but its topology cannot change", async () => {
    const topology = { classRef: { name: "k", namespace: "other" }, version: "v1.34.0" };
    const paused = sample("Cluster", { topology, paused: true });
    expect(await admit(paused, using("other"), there(classIn("other")))).toBe("");
    expect(JSON.stringify(paused)).not.toContain("secret");
    const upgraded = sample("Cluster", { topology: { ...topology, version: "v1.34.1" } });
    expect(await admit(upgraded, using("other"), there(classIn("other")))).toContain("does not allow namespace");
  });
});

test.each([undefined, "ns"])("a class of the same namespace needs no grant: %s", async (namespace) => {
  expect(await admit(using(namespace), undefined, there(classIn("ns")))).toBe("");
});

test("a Cluster without a grant does not keep a class from being deleted, one with a grant does", async () => {
  expect(await admit(undefined, classIn("other"), there(using("other")))).toBe("");
  expect(await admit(undefined, classIn("other", "*"), there(using("other")))).toContain("used by: ns/x");
});
