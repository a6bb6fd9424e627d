import { compileSchema, type JSONSchemaProps } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { builtinSchema } from "./definitions.ts";
import { builtinTypes } from "./index.ts";

const properties = (schema: JSONSchemaProps | undefined): Readonly<Record<string, JSONSchemaProps>> =>
  schema?.properties ?? {};

describe("schemas of built-in kinds", () => {
  it.each(builtinTypes().map((t) => [`${t.group}/${t.kind}`, t] as const))(
    "%s has no reference left",
    (_title, type) => {
      const seen = new Set<object>();
      const visit = (schema: JSONSchemaProps): void => {
        if (seen.has(schema)) return;
        seen.add(schema);
        expect(schema.$ref).toBeUndefined();
        expect(schema.description).toBeUndefined();
        Object.values(properties(schema)).forEach(visit);
        if (schema.items !== undefined) visit(schema.items);
        if (typeof schema.additionalProperties === "object") visit(schema.additionalProperties);
      };
      visit(type.schema);
      expect(Object.keys(properties(type.schema))).toContain("metadata");
    },
  );

  it("are frozen and shared, within a schema and between servers", () => {
    const [deployment, pod] = [builtinSchema("apps", "v1", "Deployment"), builtinSchema("", "v1", "Pod")];
    expect(Object.isFrozen(pod)).toBe(true);
    const template = properties(properties(deployment).spec).template;
    expect(properties(template).spec).toBe(properties(pod).spec);
    expect(builtinSchema("", "v1", "Pod")).toBe(pod);
  });

  it("exist for the bodies of subresources and reviews, and end where a type holds itself", () => {
    for (const [group, kind] of [
      ["authentication.k8s.io", "TokenRequest"],
      ["authorization.k8s.io", "SelfSubjectAccessReview"],
      ["autoscaling", "Scale"],
      ["policy", "Eviction"],
    ] as const)
      expect(properties(builtinSchema(group, "v1", kind))).toHaveProperty("metadata");
    const crd = builtinSchema("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    const version = properties(properties(crd).spec).versions?.items;
    const root = properties(properties(version).schema).openAPIV3Schema;
    const inner = properties(root).properties?.additionalProperties;
    expect(inner).toEqual({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
  });

  it("keep merge keys, list types and the defaults that apply needs", () => {
    const container = properties(properties(builtinSchema("", "v1", "Pod")).spec).containers;
    expect(container).toMatchObject({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-patch-merge-key": "name",
    });
    const ports = properties(container?.items).ports;
    expect(ports?.["x-kubernetes-list-map-keys"]).toEqual(["containerPort", "protocol"]);
    expect(properties(ports?.items).protocol?.default).toBe("TCP");
    expect(properties(builtinSchema("", "v1", "Pod")).metadata?.default).toBeUndefined();
  });

  it("know quantities and int-or-string", () => {
    const schema = compileSchema(builtinSchema("policy", "v1", "PodDisruptionBudget"));
    const budget = (minAvailable: unknown): object => ({ metadata: {}, spec: { minAvailable } });
    expect(schema.validate(budget(1))).toEqual([]);
    expect(schema.validate(budget("50%"))).toEqual([]);
    expect(schema.validate(budget(true))).not.toEqual([]);
    const pod = compileSchema(builtinSchema("", "v1", "Pod"));
    const container = { name: "c", resources: { limits: { cpu: 0.5, memory: "1Gi" } } };
    expect(pod.validate({ spec: { containers: [container] } })).toEqual([]);
  });
});
