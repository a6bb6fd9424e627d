import type { ContractObject } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { patchTemplate } from "./patches.ts";
import { variableAt } from "./variables.ts";

describe("paths of variables", () => {
  test.each([
    ["a", 1],
    ["b.c", 2],
    ["l[1]", "y"],
    ["b.m[0].n", 3],
  ])("%s is found", (path, expected) => {
    expect(variableAt({ a: 1, b: { c: 2, m: [{ n: 3 }] }, l: ["x", "y"] }, path)).toBe(expected);
  });
  test.each(["x", "a.b", "l[5]", "b.toString", "a["])("%s is not", (path) => {
    expect(() => variableAt({ a: 1, b: {}, l: [] }, path)).toThrow(/variable/);
  });
});

describe("patches", () => {
  const template = {
    apiVersion: "i/v1",
    kind: "T",
    metadata: { name: "t" },
    spec: { template: { spec: { size: "old", list: ["a"] } } },
  } as unknown as ContractObject;
  const patch = (jsonPatches: object[], over: object = {}, match: object = { controlPlane: true }) =>
    ({
      name: "p",
      definitions: [{ selector: { apiVersion: "i/v1", kind: "T", matchResources: match }, jsonPatches }],
      ...over,
    }) as unknown as Parameters<typeof patchTemplate>[2][number];
  const apply = (...patches: ReturnType<typeof patch>[]): unknown => {
    const result = patchTemplate(template, { type: "controlPlane" }, patches, { size: "big", on: true, l: [1, 2] });
    return (result as unknown as { spec: { template: { spec: unknown } } }).spec.template.spec;
  };
  const size = { op: "replace", path: "/spec/template/spec/size" };
  test("take values, variables and templates", () => {
    expect(apply(patch([{ ...size, value: "v" }]))).toMatchObject({ size: "v" });
    expect(apply(patch([{ ...size, valueFrom: { variable: "size" } }]))).toMatchObject({ size: "big" });
    expect(
      apply(patch([{ ...size, valueFrom: { template: "kind: {{ .size }}\nitems: {{ .l | toJson }}" } }])),
    ).toMatchObject({ size: { kind: "big", items: [1, 2] } });
    expect(apply(patch([{ op: "add", path: "/spec/template/spec/list/-", value: "b" }]))).toMatchObject({
      list: ["a", "b"],
    });
    expect(apply(patch([{ op: "remove", path: "/spec/template/spec/list" }]))).toEqual({ size: "old" });
  });
  test("apply in order, if enabled, where selected", () => {
    expect(apply(patch([{ ...size, value: "1" }]), patch([{ ...size, value: "2" }]))).toMatchObject({ size: "2" });
    expect(apply(patch([{ ...size, value: "1" }], { enabledIf: "{{ not .on }}" }))).toMatchObject({ size: "old" });
    expect(apply(patch([{ ...size, value: "1" }], { enabledIf: "{{ .on }}" }))).toMatchObject({ size: "1" });
    expect(apply(patch([{ ...size, value: "1" }], {}, { infrastructureCluster: true }))).toMatchObject({ size: "old" });
    const workers = patch([{ ...size, value: "1" }], {}, { machineDeploymentClass: { names: ["gpu-*"] } });
    const of = (name: string): unknown =>
      patchTemplate(template, { type: "machineDeployment", class: name }, [workers], {});
    expect(of("gpu-large")).toMatchObject({ spec: { template: { spec: { size: "1" } } } });
    expect(of("cpu")).toMatchObject({ spec: { template: { spec: { size: "old" } } } });
  });
  test("that cannot be applied are named", () => {
    expect(() => apply(patch([{ op: "replace", path: "/status/x", value: 1 }]))).toThrow(
      /^patch p: \/status\/x must begin/,
    );
    expect(() => apply(patch([{ op: "remove", path: "/spec/none" }]))).toThrow(/^patch p: /);
    expect(() => apply(patch([{ ...size, valueFrom: { variable: "nope" } }]))).toThrow(/^patch p: variable nope/);
    expect(() => apply(patch([{ ...size, valueFrom: { template: "{{ if }}" } }]))).toThrow(/^patch p: /);
  });
});
