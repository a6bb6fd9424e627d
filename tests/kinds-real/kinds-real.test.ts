import type { Unstructured } from "@capstan/apimachinery";
import { ALL_KINDS, type AnyKind, type KindVersion } from "@capstan/capi";
import { arbitraryObjectOf } from "@capstan/capi/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embeddedPlane, outcomeOf, type Plane, realPlane } from "./planes.ts";
import { SAMPLES } from "./samples.ts";

let real: Plane;
let embedded: Plane;

beforeAll(async () => {
  [real, embedded] = await Promise.all([realPlane(), embeddedPlane()]);
  for (const plane of [real, embedded])
    await plane.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "some-space" } });
});

afterAll(async () => {
  await Promise.all([real?.stop(), embedded?.stop()]);
});

function referenceTo(kind: AnyKind, version: string) {
  return { group: kind.group, version, kind: kind.kind, plural: kind.plural, namespaced: kind.namespaced };
}

/** The same request on both, and what both then show in every served version. */
async function compare(kind: AnyKind, object: Unstructured): Promise<void> {
  const create = (plane: Plane) => outcomeOf(() => plane.client.create(structuredClone(object)));
  const [there, here] = await Promise.all([create(real), create(embedded)]);
  expect(here).toEqual(there);
  if (!("object" in there)) return;
  const key = { ...(kind.namespaced ? { namespace: "some-space" } : {}), name: object.metadata.name ?? "" };
  for (const { name } of kind.versions) {
    const read = (plane: Plane) => outcomeOf(() => plane.client.get<Unstructured>(referenceTo(kind, name), key));
    const [stored, shown] = await Promise.all([read(real), read(embedded)]);
    expect(shown).toEqual(stored);
  }
  for (const plane of [real, embedded]) {
    await plane.client.delete({ kind: referenceTo(kind, kind.version), ...key });
  }
}

function generated(kind: AnyKind, version: KindVersion, count: number): Unstructured[] {
  const objects = arbitraryObjectOf(`${kind.group}/${version.name}`, kind.kind, version.schema.json);
  return (fc.sample(objects, { numRuns: count, seed: 7 }) as Unstructured[]).map((object, index) => {
    const { namespace: _, ...metadata } = object.metadata;
    const scoped = kind.namespaced ? object.metadata : metadata;
    return { ...withoutNamespaces(object), metadata: { ...scoped, name: `${version.name}-${index}` } };
  });
}

/**
 * The object without the namespaces of its references. Behind webhooks a reference is checked in the stored version, in process also as
 * it was written: v1beta1 has namespaces that are dropped on the way to storage.
 */
function withoutNamespaces<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNamespaces) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "namespace" || !("name" in value));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutNamespaces(inner)])) as T;
}

describe.each(ALL_KINDS)("$kind", (kind) => {
  it.each(kind.versions)("is treated alike in $name", async (version) => {
    for (const object of generated(kind, version, 12)) await compare(kind, object);
  });
});

describe("written by people", () => {
  it.each(SAMPLES)("$kind $metadata.name", async (object) => {
    const kind = ALL_KINDS.find((known) => known.kind === object.kind) ?? expect.fail(`no kind ${object.kind}`);
    await compare(kind, object);
  });
});

it("a control plane is scaled by the same rules as it is changed", async () => {
  const sample =
    SAMPLES.find(({ kind, metadata }) => kind === "KubeadmControlPlane" && metadata.name === "even") ??
    expect.fail("no sample");
  const object = { ...sample, spec: { ...(sample["spec"] as object), replicas: 3 } };
  for (const plane of [real, embedded]) await plane.client.create(structuredClone(object));
  for (const [replicas, passes] of [
    [0, false],
    [4, false],
    [5, true],
  ] as const) {
    const scale = (plane: Plane) =>
      outcomeOf(() => plane.client.patch(object, { spec: { replicas } }, { subresource: "scale", dryRun: true }));
    const [there, here] = await Promise.all([scale(real), scale(embedded)]);
    expect("object" in there, `${replicas} replicas`).toBe(passes);
    if (!passes) expect(here).toEqual(there);
  }
  for (const plane of [real, embedded]) await plane.client.delete(object);
});
