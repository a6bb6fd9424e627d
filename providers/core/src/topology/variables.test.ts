import { VirtualClock } from "@capstan/apimachinery";
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
  const clock = new VirtualClock();
  const apply = async (...patches: ReturnType<typeof patch>[]): Promise<unknown> => {
    const variables = { size: "big", on: true, l: [1, 2] };
    const result = await patchTemplate(template, { type: "controlPlane" }, patches, variables, clock);
    return (result as unknown as { spec: { template: { spec: unknown } } }).spec.template.spec;
  };
  const size = { op: "replace", path: "/spec/template/spec/size" };
  test("take values, variables and templates", async () => {
    await expect(apply(patch([{ ...size, value: "v" }]))).resolves.toMatchObject({ size: "v" });
    await expect(apply(patch([{ ...size, valueFrom: { variable: "size" } }]))).resolves.toMatchObject({ size: "big" });
    await expect(
      apply(patch([{ ...size, valueFrom: { template: "kind: {{ .size }}\nitems: {{ .l | toJson }}" } }])),
    ).resolves.toMatchObject({ size: { kind: "big", items: [1, 2] } });
    await expect(apply(patch([{ op: "add", path: "/spec/template/spec/list/-", value: "b" }]))).resolves.toMatchObject({
      list: ["a", "b"],
    });
    await expect(apply(patch([{ op: "remove", path: "/spec/template/spec/list" }]))).resolves.toEqual({ size: "old" });
  });
  test("apply in order, if enabled, where selected", async () => {
    await expect(apply(patch([{ ...size, value: "1" }]), patch([{ ...size, value: "2" }]))).resolves.toMatchObject({
      size: "2",
    });
    await expect(apply(patch([{ ...size, value: "1" }], { enabledIf: "{{ not .on }}" }))).resolves.toMatchObject({
      size: "old",
    });
    await expect(apply(patch([{ ...size, value: "1" }], { enabledIf: "{{ .on }}" }))).resolves.toMatchObject({
      size: "1",
    });
    await expect(apply(patch([{ ...size, value: "1" }], {}, { infrastructureCluster: true }))).resolves.toMatchObject({
      size: "old",
    });
    const workers = patch([{ ...size, value: "1" }], {}, { machineDeploymentClass: { names: ["gpu-*"] } });
    const of = (name: string): Promise<unknown> =>
      patchTemplate(template, { type: "machineDeployment", class: name }, [workers], {}, clock);
    await expect(of("gpu-large")).resolves.toMatchObject({ spec: { template: { spec: { size: "1" } } } });
    await expect(of("cpu")).resolves.toMatchObject({ spec: { template: { spec: { size: "old" } } } });
  });
  test("that cannot be applied are named", async () => {
    await expect(apply(patch([{ op: "replace", path: "/status/x", value: 1 }]))).rejects.toThrow(
      /^patch p: \/status\/x must start/,
    );
    await expect(apply(patch([{ op: "remove", path: "/spec/none" }]))).rejects.toThrow(/^patch p: /);
    await expect(apply(patch([{ ...size, valueFrom: { variable: "nope" } }]))).rejects.toThrow(
      /^patch p: variable nope/,
    );
    await expect(apply(patch([{ ...size, valueFrom: { template: "{{ if }}" } }]))).rejects.toThrow(/^patch p: /);
  });
});
