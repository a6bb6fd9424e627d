import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { scaleValueErrors } from "./scale-values.ts";

const SCALE = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
};
const errorsOf = (parts: Record<string, unknown>): string[] => {
  const object: Unstructured = { apiVersion: "x/v1", kind: "X", metadata: {}, ...parts };
  return scaleValueErrors(SCALE, object).map(({ field, detail }) => `${field}: ${detail}`);
};

/** Texts recorded from kube-apiserver by the conformance suite. */
describe("values behind a scale subresource", () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{}, []],
    [{ spec: { replicas: 3 }, status: { replicas: 0, selector: "a=b" } }, []],
    [{ spec: null }, []],
    [{ spec: { replicas: -1 } }, [".spec.replicas: should be a non-negative integer"]],
    [{ spec: { replicas: 2 ** 31 } }, [".spec.replicas: should be less than or equal to 2147483647"]],
    [
      { spec: { replicas: 1.5 } },
      [".spec.replicas: .spec.replicas accessor error: 1.5 is of the type float64, expected int64"],
    ],
    [
      { spec: { replicas: "1" } },
      [".spec.replicas: .spec.replicas accessor error: 1 is of the type string, expected int64"],
    ],
    [
      { spec: "text" },
      [".spec.replicas: .spec.replicas accessor error: text is of the type string, expected map[string]interface{}"],
    ],
    [
      { status: { selector: true } },
      [".status.selector: .status.selector accessor error: true is of the type bool, expected string"],
    ],
  ])("%j", (parts, expected) => {
    expect(errorsOf(parts)).toEqual(expected);
  });
});
