import { readFileSync } from "node:fs";
import { parseYaml, toGoYaml } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Metal3DataTemplate } from "../kinds/metal3-data.ts";
import { referencedPools } from "./pool-references.ts";
import { type PoolAddress, RenderError, type RenderInput } from "./render-input.ts";
import { renderMetaData } from "./render-meta-data.ts";
import { renderNetworkData } from "./render-network-data.ts";

interface Recorded {
  objects: Pick<RenderInput, "machine" | "metal3Machine" | "host">;
  addresses: Record<string, PoolAddress>;
  cases: {
    name: string;
    index: number;
    spec: Metal3DataTemplate["spec"];
    expected: { metaData?: string; networkData?: string; error?: string };
  }[];
}

const { objects, addresses, cases } = JSON.parse(
  readFileSync(new URL("../../testdata/rendering.json", import.meta.url), "utf8"),
) as Recorded;

const input = (index: number, namespace = "racks"): RenderInput => ({
  ...objects,
  index,
  namespace,
  addresses: new Map(Object.entries(addresses)),
});

describe("rendered as upstream does, byte for byte", () => {
  test.each(cases)("$name", ({ spec, index, expected }) => {
    const render = (): { metaData?: string; networkData?: string } => ({
      ...(spec.metaData === undefined ? {} : { metaData: renderMetaData(spec.metaData, input(index)) }),
      ...(spec.networkData === undefined ? {} : { networkData: renderNetworkData(spec.networkData, input(index)) }),
    });
    if (expected.error === undefined) expect(render()).toEqual(expected);
    else expect(render).toThrow(RenderError);
  });
});

test("DNS servers of a pool become meta data, which upstream forgets", () => {
  const text = renderMetaData({ dnsServersFromPool: [{ key: "dns", name: "provisioning" }] }, input(0));
  expect(parseYaml(text)).toMatchObject({ dns: "8.8.8.8,8.8.4.4" });
});

describe("pools that a template names", () => {
  const pools = (spec: Metal3DataTemplate["spec"]): string[] =>
    referencedPools({ spec } as Metal3DataTemplate, objects).map(({ kind, name }) => `${kind} ${name}`);
  test("are each named once, also in annotations of routes by DHCP", () => {
    const gateway = { fromPoolAnnotation: { object: "metal3machine" as const, annotation: "example.com/gw" } };
    const pooled = { metaData: { prefixesFromPool: [{ key: "k", name: "provisioning" }] } };
    const ipv4 = [{ id: "a", link: "l", fromPoolRef: { name: "blue", kind: "InClusterIPPool", apiGroup: "x" } }];
    const ipv4DHCP = [{ id: "b", link: "l", routes: [{ network: "10.0.0.0", gateway }] }];
    const services = { dnsFromIPPool: "provisioning" };
    expect(pools({ ...pooled, networkData: { networks: { ipv4, ipv4DHCP }, services } })).toEqual([
      "IPPool provisioning",
      "InClusterIPPool blue",
      "IPPool storage",
    ]);
  });
  test.each<[string, Metal3DataTemplate["spec"], RegExp]>([
    [
      "one name for two kinds",
      {
        metaData: { ipAddressesFromPool: [{ key: "k", name: "p" }] },
        networkData: { networks: { ipv4: [{ id: "a", link: "l", fromPoolRef: { name: "p", kind: "Other" } }] } },
      },
      /same name but different resource types: p is IPPool and Other/,
    ],
    [
      "an annotation that is not there",
      {
        networkData: {
          networks: { ipv4: [{ id: "a", link: "l", fromPoolAnnotation: { object: "machine", annotation: "nope" } }] },
        },
      },
      /spec\.networkData\.networks\.ipv4\[id=a\]\.fromPoolAnnotation: annotation nope not found or empty on machine/,
    ],
  ])("are refused with %s", (_name, spec, message) => {
    expect(() => pools(spec)).toThrow(message);
  });
});

test("what is written as YAML is read as it was", () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("yes", "1:30", "012", "a\nb\n", " x", "x ", "'", '"', "- a", "a: b", "2001-01-01", "\u0007"),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("any"), { maxLength: 4 }),
      fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), tie("any"), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).any;
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), value, { noNullPrototype: true }), (map) => {
      // Go writes these without quotes, as keys too, and reads them so; our reader takes them for a merge and a number.
      fc.pre(!/"(<<|[-+]?\.[_.]*|__proto__)"/.test(JSON.stringify(map)));
      expect(parseYaml(toGoYaml({ key: map }))).toEqual({ key: map });
    }),
    { numRuns: 300 },
  );
});
