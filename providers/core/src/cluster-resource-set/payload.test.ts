import { VirtualClock } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { objectsOf, payloadOf } from "./payload.ts";

const yaml = (kind: string, name: string): string => `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n`;

const namesOf = async (data: Record<string, string>): Promise<string[] | string> => {
  const result = await objectsOf(payloadOf({ kind: "ConfigMap", data }), new VirtualClock());
  return "problem" in result ? result.problem : result.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
};

describe("a payload", () => {
  const cases: [string, Record<string, string>, string[]][] = [
    ["has one object", { a: yaml("Pod", "x") }, ["Pod/x"]],
    ["has many documents", { a: `${yaml("Pod", "x")}---\n${yaml("Pod", "z")}` }, ["Pod/x", "Pod/z"]],
    ["takes keys in order", { b: yaml("Pod", "b"), a: yaml("Pod", "a") }, ["Pod/a", "Pod/b"]],
    [
      "puts first what others need, key by key",
      {
        a: `${yaml("Pod", "x")}---\n${yaml("ServiceAccount", "s")}---\n${yaml("Namespace", "ns")}`,
        b: yaml("Namespace", "m"),
      },
      ["Namespace/ns", "ServiceAccount/s", "Pod/x", "Namespace/m"],
    ],
    ["may be JSON", { a: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}' }, ["Pod/x"]],
    [
      "may be a JSON list",
      {
        a: '[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"z"}}]',
      },
      ["Pod/x", "Pod/z"],
    ],
    [
      "may be a List",
      { a: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: x}}\n" },
      ["Pod/x"],
    ],
    ["may have empty documents", { a: `---\n# nothing\n---\n${yaml("Pod", "x")}---\n` }, ["Pod/x"]],
    ["may be empty", {}, []],
  ];
  test.each(cases)("%s", async (_name, data, expected) => {
    expect(await namesOf(data)).toEqual(expected);
  });

  test("names the key that cannot be read", async () => {
    expect(await namesOf({ good: yaml("Pod", "x"), "bad.yaml": "a: [" })).toMatch(/^key bad\.yaml: /);
    expect(await namesOf({ k: "kind: Pod" })).toBe(
      "key k: every document must have apiVersion, kind and metadata.name",
    );
    expect(await namesOf({ k: "just text" })).toMatch(/^key k: every document/);
  });

  test("hashes the decoded content: sha256 of all values in key order", () => {
    const text = payloadOf({ kind: "ConfigMap", data: { b: "2", a: "1" } });
    // printf 12 | sha256sum
    expect(text.hash).toBe("sha256:6b51d431df5d7f141cbececcf79edf3dd861c3b4069f0b11661a3eefacbba918");
    expect(payloadOf({ kind: "Secret", data: { a: "MQ==", b: "Mg==" } }).hash).toBe(text.hash);
  });
});
