import { type Json, repeat } from "./worst-bodies.ts";

/** The kind that the requests below work on: every keyword that makes the server walk, compare or compute. */
export const GEAR_CRD = crd("gears", "worst.example", "Gear", {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        text: { type: "string", pattern: "^(a|aa|[a-f]+b?)*(x|y)+$" },
        words: { type: "array", items: { type: "string", pattern: "^([a-z]+-)*[a-z]+$" } },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        numbers: {
          type: "array",
          maxItems: 1000,
          items: { type: "integer" },
          "x-kubernetes-validations": [{ rule: "self.all(a, self.exists(b, a == b))" }],
        },
        texts: {
          type: "array",
          maxItems: 100,
          items: {
            type: "string",
            maxLength: 5000,
            "x-kubernetes-validations": [
              { rule: "self.matches('^(a|b)*c$')" },
              { rule: "self.replace('a','bb').size() > 1" },
            ],
          },
        },
        byName: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, value: { type: "integer", default: 3 } },
          },
        },
        many: {
          type: "array",
          items: {
            type: "object",
            properties: Object.fromEntries(repeat(30, (i) => [`field${i}`, { type: "string", default: `value ${i}` }])),
          },
        },
        ruled: {
          type: "array",
          maxItems: 20000,
          items: {
            type: "object",
            properties: { a: { type: "integer" }, b: { type: "integer" } },
            "x-kubernetes-validations": [{ rule: "self.a <= self.b", message: "a must not be above b" }],
          },
        },
        choice: {
          type: "array",
          items: {
            type: "object",
            properties: { a: { type: "string" }, b: { type: "string" } },
            oneOf: [{ required: ["a"] }, { required: ["b"] }],
          },
        },
      },
    },
  },
});

/** A definition of one kind. */
export function crd(plural: string, group: string, kind: string, schema: Json, more: Json = {}): Json {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    },
  };
}

/** YAML aliases that would unfold to billions of values. */
export function laughs(): string {
  let text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (let i = 1; i < 12; i++) text += `a${i}: &a${i} [${repeat(9, () => `*a${i - 1}`).join()}]\n`;
  return text;
}

/** A schema of many levels. */
export function deep(levels: number): Json {
  let schema: Json = { type: "string" };
  for (let i = 0; i < levels; i++)
    schema = {
      type: "object",
      properties: Object.fromEntries(repeat(8, (k) => [`p${k}`, k === 0 ? schema : { type: "integer" }])),
    };
  return schema;
}

/** A definition with many versions. */
export function versions(count: number, fields: number): Json {
  const all = repeat(count, (i) => ({
    name: `v${i + 1}`,
    served: true,
    storage: i === 0,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: Object.fromEntries(repeat(fields, (k) => [`f${k}`, { type: "string", pattern: `^[a-z${i}]*$` }])),
      },
    },
  }));
  const one = crd("bigs", "worst.example", "Big", { type: "object" });
  return { ...one, spec: { ...(one["spec"] as Json), versions: all } };
}

/** A role with many rules. */
export function rules(kind: string, name: string): Json {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind,
    metadata: { name },
    rules: [
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create"] },
      ...repeat(1_500, (i) => ({ apiGroups: [`g${i}.example`], resources: [`r${i}`], verbs: ["get"] })),
    ],
  };
}
