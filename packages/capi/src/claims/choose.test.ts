import type { KubeObject } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { explainNoHost, firstByName, type HostTexts } from "./choose.ts";

const named = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Host", metadata: { name } });

describe("the first host by name", () => {
  const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"));

  test("is the smallest name among those that fit", () => {
    fc.assert(
      fc.property(names, fc.subarray(["a", "b", "c", "d", "e"]), (all, fitting) => {
        const found = firstByName(all.map(named), ({ metadata }) => fitting.includes(metadata.name ?? ""));
        expect(found?.metadata.name).toBe(all.filter((name) => fitting.includes(name)).sort()[0]);
      }),
    );
  });

  test("is found without examining hosts that come after one already found", () => {
    const examined: string[] = [];
    const fits = ({ metadata }: KubeObject): boolean => examined.push(metadata.name ?? "") > 0;
    firstByName(["b", "c", "b", "a"].map(named), fits);
    expect(examined).toEqual(["b", "a"]);
  });
});

describe("the explanation of a shortage", () => {
  interface Host {
    readonly selected?: boolean;
    readonly domain?: string;
    readonly state?: string;
  }
  const texts: HostTexts = {
    hosts: "Hosts",
    none: "there are no Hosts",
    selector: "hostSelector",
    label: "one",
    domainLabel: "example.com/zone",
    free: "free",
  };
  const explain = (hosts: readonly Host[], failureDomain?: string): string =>
    explainNoHost(hosts, texts, {
      failureDomain,
      isSelected: ({ selected = true }) => selected,
      isInDomain: ({ domain }) => failureDomain === undefined || domain === failureDomain,
      why: ({ state = "in use" }) => state,
      cure: (matching) => `wait for one of ${matching.length}`,
    });

  test.each<[string, readonly Host[], string | undefined, string]>([
    ["no host", [], undefined, "there are no Hosts"],
    [
      "no host that the selector matches",
      [{ selected: false }, { selected: false }],
      undefined,
      "none of 2 Hosts matches hostSelector: label one, or change the selector",
    ],
    [
      "no host in the failure domain",
      [{ selected: false, domain: "a" }, { domain: "b" }, {}],
      "a",
      "none of 2 matching Hosts is in failure domain a: label one example.com/zone=a",
    ],
    [
      "hosts that cannot be claimed, counted by cause",
      [{ domain: "a" }, { domain: "a", state: "broken" }, { domain: "a" }, { domain: "b" }, { selected: false }],
      "a",
      "of 3 matching Hosts none is free (2 in use, 1 broken): wait for one of 3",
    ],
  ])("%s", (_what, hosts, domain, text) => expect(explain(hosts, domain)).toBe(text));
});
