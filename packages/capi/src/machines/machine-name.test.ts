import { seededRandom } from "@capstan/apimachinery";
import { describe, expect, test } from "vitest";
import { generateName } from "./machine-name.ts";

describe("names from templates", () => {
  test("truncates long names and makes them unique again", () => {
    const name = generateName(
      "{{ .machineSet.name }}-{{ .random }}",
      { machineSet: { name: "m".repeat(80) } },
      seededRandom(1),
    );
    expect(name).toMatch(/^m{58}.{5}$/);
  });

  test.each([
    ["{{ .nothing.here }}-{{ .random }}", /not a valid name|nil/],
    ["{{ .random", /./],
    ["Upper-{{ .random }}", /not a valid name/],
  ])("%s", (template, expected) => {
    expect(() => generateName(template, {}, seededRandom(1))).toThrow(expected);
  });
});
