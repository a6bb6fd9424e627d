import { deepCopy, type Unstructured } from "@capstan/apimachinery";
import { arbitraryObjectOf } from "@capstan/capi/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IPPool } from "./ip-pool.ts";
import { Metal3Cluster, Metal3ClusterTemplate } from "./metal3-cluster.ts";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "./metal3-data.ts";
import { imageProblems } from "./metal3-image.ts";
import { Metal3Machine, Metal3MachineTemplate } from "./metal3-machine.ts";

const CONVERTED = [
  Metal3Cluster,
  Metal3ClusterTemplate,
  Metal3Machine,
  Metal3MachineTemplate,
  Metal3DataTemplate,
  Metal3DataClaim,
  Metal3Data,
];

describe.each(CONVERTED.map(({ group, kind, versions }) => ({ group, kind, versions })))("$kind", (definition) => {
  const { group, kind, versions } = definition;
  const [stored, old] = versions;
  if (stored === undefined || old?.convert === undefined) throw new Error("no second version");
  const { toStored, fromStored } = old.convert;
  const storedObjects = arbitraryObjectOf(`${group}/${stored.name}`, kind, stored.schema.json);
  const oldObjects = arbitraryObjectOf(`${group}/${old.name}`, kind, old.schema.json);

  test("comes back from v1beta1 as it was", () => {
    fc.assert(
      fc.property(storedObjects, (object) => {
        expect(toStored(fromStored(deepCopy(object) as Unstructured))).toEqual(object);
      }),
      { numRuns: 60 },
    );
  });

  test("comes back from v1beta2 as it was", () => {
    fc.assert(
      fc.property(oldObjects, (object) => {
        const back = fromStored(toStored(deepCopy(object) as Unstructured));
        expect(withoutInverse(back, object as Unstructured)).toEqual(object);
      }),
      { numRuns: 60 },
    );
  });
});

/** `noCloudProvider: false` says what v1beta2 says as `cloudProviderEnabled: true`. */
function withoutInverse(back: Unstructured, original: Unstructured): Unstructured {
  const before = original["spec"] as { noCloudProvider?: boolean; cloudProviderEnabled?: boolean } | undefined;
  const spec = back["spec"] as Record<string, unknown> | undefined;
  if (before?.noCloudProvider !== false || before.cloudProviderEnabled !== undefined) return back;
  expect(spec?.["cloudProviderEnabled"]).toBe(true);
  delete spec?.["cloudProviderEnabled"];
  return back;
}

test("manifests of v1beta1 say the same in v1beta2", () => {
  const convert = (kind: { versions: typeof Metal3Machine.versions }, object: object): Unstructured | undefined =>
    kind.versions[1]?.convert?.toStored({ kind: "X", metadata: { namespace: "n" }, ...object } as Unstructured);
  const group = "infrastructure.cluster.x-k8s.io";
  const machine = convert(Metal3Machine, {
    apiVersion: `${group}/v1beta1`,
    spec: { image: { url: "http://i/x.qcow2", checksum: "abc", format: "qcow2" }, dataTemplate: { name: "t" } },
    status: { ready: true, failureReason: "CreateError" },
  });
  expect(machine?.["spec"]).toEqual({
    image: { url: "http://i/x.qcow2", checksum: "abc", diskFormat: "qcow2" },
    dataTemplate: { name: "t" },
  });
  expect(machine?.["status"]).toEqual({
    initialization: { provisioned: true },
    deprecated: { v1beta1: { failureReason: "CreateError" } },
  });
  const template = convert(Metal3DataTemplate, {
    apiVersion: `${group}/v1beta1`,
    spec: {
      clusterName: "c",
      metaData: { ipAddressesFromIPPool: [{ key: "ip", name: "pool" }] },
      networkData: { links: { bonds: [{ id: "b", bondMode: "802.3ad", parameters: { miimon: 100 } }] } },
    },
    status: { indexes: { "m-0": 3 } },
  });
  expect(template?.["spec"]).toEqual({
    clusterName: "c",
    metaData: { ipAddressesFromPool: [{ key: "ip", name: "pool" }] },
    networkData: { links: { bonds: [{ id: "b", bondMode: "802.3ad", parameters: [{ name: "miimon", value: 100 }] }] } },
  });
  expect(template?.["status"]).toEqual({ indexes: [{ name: "m-0", index: 3 }] });
});

test.each<[string, Parameters<typeof imageProblems>[0], RegExp | undefined]>([
  ["nothing", {}, /spec\.image: either image or customDeploy/],
  ["a custom deploy step", { customDeploy: { method: "mine" } }, undefined],
  ["an image without checksum", { image: { url: "http://i/x" } }, /spec\.image\.checksum: cannot be empty/],
  ["a live ISO without checksum", { image: { url: "http://i/x.iso", diskFormat: "live-iso" } }, undefined],
  ["a bad URL", { image: { url: "not a url", checksum: "abc" } }, /spec\.image\.url: not a valid URL/],
  ["an OCI image with checksum", { image: { url: "oci://r/i", checksum: "abc" } }, /must be empty for OCI/],
  ["a digest", { image: { url: "http://i/x", checksum: "abc" } }, undefined],
])("an image check of %s", (_name, spec, problem) => {
  const text = imageProblems(spec, "spec").map(({ field, detail }) => `${field}: ${detail}`);
  if (problem === undefined) expect(text).toEqual([]);
  else expect(text.join()).toMatch(problem);
});

describe("an IPPool", () => {
  const problems = (spec: object, old?: object, indexes: Record<string, string> = {}): string[] => {
    const pool = (body: object): IPPool => ({ spec: { namePrefix: "p", ...body }, status: { indexes } }) as IPPool;
    return (IPPool.admission?.validate?.(pool(spec), old === undefined ? undefined : pool(old)) ?? []).map(
      ({ field, detail }) => `${field}: ${detail}`,
    );
  };
  test.each<[string, object, RegExp]>([
    [
      "a start behind its end",
      { pools: [{ start: "10.0.0.9", end: "10.0.0.1" }] },
      /spec\.pools\[0\]: start is greater than end/,
    ],
    ["an end outside of its subnet", { pools: [{ subnet: "10.0.0.0/24", end: "10.0.1.1" }] }, /within subnet/],
    ["no bounds", { pools: [{ start: "10.0.0.9" }] }, /set end or subnet/],
    ["two families", { pools: [{ subnet: "10.0.0.0/24" }, { subnet: "fd00::/64" }] }, /one family/],
    [
      "no address",
      { pools: [{ start: "10.0.0.300", end: "10.0.0.1" }] },
      /pools\[0\]\.start: 10\.0\.0\.300 is not an IP/,
    ],
    ["a bad reservation", { preAllocations: { a: "x" } }, /preAllocations\[a\]: x is not an address/],
  ])("is refused with %s", (_name, spec, problem) => {
    expect(problems(spec).join()).toMatch(problem);
  });
  test("may grow, but not lose an address in use", () => {
    const old = { pools: [{ start: "10.0.0.1", end: "10.0.0.9" }] };
    expect(problems({ pools: [{ start: "10.0.0.1", end: "10.0.0.99" }] }, old, { a: "10.0.0.9" })).toEqual([]);
    expect(problems({ pools: [{ start: "10.0.0.1", end: "10.0.0.8" }] }, old, { a: "10.0.0.9" }).join()).toMatch(
      /10\.0\.0\.9 is in use by a/,
    );
  });
});
