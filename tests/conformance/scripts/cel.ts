import { CRDS, crd, installCrd, type Script, type Step } from "../harness/script.ts";

const G = "/apis/cel.example/v1/namespaces/<ns>/rules";
const rule = (name: string, spec: unknown): object => ({
  apiVersion: "cel.example/v1",
  kind: "Rule",
  metadata: { name },
  spec,
});
const post = (spec: unknown, name = "r"): Step => ({ do: `POST ${G}?dryRun=All`, body: rule(name, spec) });

const int = { type: "integer" };
const text = { type: "string", maxLength: 40 };
const definition = crd("rules", "cel.example", {
  schema: {
    type: "object",
    "x-kubernetes-validations": [{ rule: "self.metadata.name != 'forbidden'", message: "that name is taken" }],
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": [
          {
            rule: "!has(self.min) || !has(self.max) || self.min <= self.max",
            messageExpression: "self.max > 5 ? 'min is above a large max' : 'min is above a small max'",
            reason: "FieldValueInvalid",
            fieldPath: ".min",
          },
          { rule: "has(self.kind) == has(oldSelf.kind)", message: "kind cannot come or go" },
          {
            rule: "!has(self.need) || has(self.min)",
            message: "min is needed",
            reason: "FieldValueRequired",
            fieldPath: ".min",
          },
        ],
        properties: {
          min: int,
          max: int,
          need: { type: "boolean" },
          kind: {
            ...text,
            "x-kubernetes-validations": [
              { rule: "self == oldSelf", message: "is immutable", reason: "FieldValueForbidden" },
            ],
          },
          grow: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] },
          first: {
            type: "integer",
            "x-kubernetes-validations": [
              { rule: "oldSelf.hasValue() || self == 0", optionalOldSelf: true, message: "starts at 0" },
            ],
          },
          list: {
            type: "array",
            maxItems: 10,
            items: {
              type: "integer",
              "x-kubernetes-validations": [{ rule: "self % 2 == 0", message: "must be even" }],
            },
          },
          names: {
            type: "array",
            maxItems: 10,
            "x-kubernetes-list-type": "set",
            items: text,
            "x-kubernetes-validations": [{ rule: "self.all(n, n.startsWith('a'))" }],
          },
          map: {
            type: "object",
            maxProperties: 10,
            additionalProperties: {
              ...text,
              "x-kubernetes-validations": [{ rule: "self.size() > 1", message: "too short" }],
            },
          },
          entries: {
            type: "array",
            maxItems: 10,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: {
              type: "object",
              required: ["k"],
              properties: {
                k: text,
                v: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "only up" }] },
              },
            },
          },
          divide: { type: "integer", "x-kubernetes-validations": [{ rule: "10 / self > 1" }] },
          quantity: {
            ...text,
            "x-kubernetes-validations": [
              {
                rule: "isQuantity(self) && quantity(self).isLessThan(quantity('2Gi'))",
                messageExpression: "'not below 2Gi: ' + self",
              },
            ],
          },
          url: { ...text, "x-kubernetes-validations": [{ rule: "isURL(self) && url(self).getScheme() == 'https'" }] },
          ip: {
            ...text,
            "x-kubernetes-validations": [
              { rule: "isIP(self) && cidr('10.0.0.0/8').containsIP(self)", message: "outside" },
            ],
          },
          version: {
            ...text,
            "x-kubernetes-validations": [{ rule: "self.matches('^v[0-9]+$')", message: "line\\nbreak" }],
          },
          when: {
            type: "string",
            format: "date-time",
            "x-kubernetes-validations": [{ rule: "self > timestamp('2020-01-01T00:00:00Z')" }],
          },
          wait: {
            type: "string",
            format: "duration",
            "x-kubernetes-validations": [{ rule: "self <= duration('1h')" }],
          },
          either: {
            "x-kubernetes-int-or-string": true,
            "x-kubernetes-validations": [{ rule: "type(self) == int ? self > 0 : self == 'auto'" }],
          },
          maybe: {
            type: "string",
            nullable: true,
            maxLength: 5,
            "x-kubernetes-validations": [{ rule: "self != 'bad'" }],
          },
          "dash-ed": { type: "integer" },
          escaped: {
            type: "object",
            properties: { "a-b": int, "c.d": int, namespace: int },
            "x-kubernetes-validations": [
              { rule: "!has(self.a__dash__b) || self.a__dash__b + self.c__dot__d == self.__namespace__" },
            ],
          },
          slow: {
            type: "array",
            maxItems: 300,
            items: { type: "string", maxLength: 10 },
            "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a == b || a != b))" }],
          },
          typed: {
            type: "object",
            properties: { n: { type: "number" } },
            "x-kubernetes-validations": [{ rule: "self.n > 1", message: "n above 1" }],
          },
        },
      },
    },
  },
});

let counter = 0;
/** A CRD with one rule on `spec`, created on trial. */
const trial = (
  rules: object[],
  properties: object = { a: int, s: { type: "string" }, l: { type: "array", items: { type: "string" } } },
): Step => ({
  do: `POST ${CRDS}?dryRun=All`,
  body: crd(`trial${++counter}s`, "cel-trial.example", {
    schema: { type: "object", properties: { spec: { type: "object", properties, "x-kubernetes-validations": rules } } },
  }),
  only: ["kind", "message", "reason", "details"],
});

/** CEL rules: messages, reasons, transitions, types, libraries, budgets, and what is refused at creation. */
export const cel: Script = {
  name: "cel",
  steps: [
    ...installCrd(definition),
    post({ min: 1, max: 2 }),
    post({ min: 3, max: 2 }),
    post({ need: true }),
    post({}, "forbidden"),
    post({ list: [2, 3, 5] }),
    post({ names: ["a1", "b1"] }),
    post({ map: { x: "1", y: "12" } }),
    post({ divide: 0 }),
    post({ divide: 10 }),
    post({ quantity: "3Gi" }),
    post({ quantity: "x" }),
    post({
      quantity: "1Gi",
      url: "https://a/b",
      ip: "10.1.2.3",
      version: "v1",
      when: "2021-01-01T00:00:00Z",
      wait: "30m",
      either: "auto",
    }),
    post({ url: "http://a" }),
    post({ ip: "192.168.0.1" }),
    post({ version: "1" }),
    post({ when: "2019-01-01T00:00:00Z" }),
    post({ wait: "2h" }),
    post({ either: 0 }),
    post({ either: "manual" }),
    post({ maybe: null }),
    post({ maybe: "bad" }),
    post({ escaped: { "a-b": 1, "c.d": 2, namespace: 3 } }),
    post({ escaped: { "a-b": 1, "c.d": 2, namespace: 4 } }),
    post({ typed: { n: 1 } }),
    post({ typed: {} }),
    post({ first: 1 }),
    post({ min: "x", max: 1, list: [1] }),
    post({ slow: Array.from({ length: 300 }, (_, i) => `${i}`) }),
    {
      do: `POST ${G}`,
      body: rule("t", { kind: "a", grow: 5, first: 0, entries: [{ k: "x", v: 5 }], list: [2] }),
      only: ["metadata.name", "message"],
    },
    { do: `PATCH ${G}/t`, body: { spec: { kind: "b" } } },
    { do: `PATCH ${G}/t`, body: { spec: { kind: null } } },
    { do: `PATCH ${G}/t`, body: { spec: { grow: 4 } } },
    { do: `PATCH ${G}/t`, body: { spec: { grow: 6, first: 3 } }, only: ["spec"] },
    {
      do: `PATCH ${G}/t`,
      body: {
        spec: {
          entries: [
            { k: "y", v: 1 },
            { k: "x", v: 4 },
          ],
        },
      },
    },
    { do: `PATCH ${G}/t`, body: { spec: { entries: [{ k: "x", v: 6 }] } }, only: ["spec"] },
    { do: `PATCH ${G}/t`, body: { spec: { list: [2, 3] } } },
    // Refused at creation.
    trial([{ rule: "self.a > 0" }]),
    trial([{ rule: "self.a > 0", messageExpression: "'a is ' + string(self.a)" }]),
    trial([{ rule: "self.nope > 0" }]),
    trial([{ rule: "self.a == 'x'" }]),
    trial([{ rule: "self.a +" }]),
    trial([{ rule: "self.a" }]),
    trial([{ rule: "" }]),
    trial([{ rule: "  " }]),
    trial([{ rule: "self.a > 0", message: "two\nlines" }]),
    trial([{ rule: "self.a > 0", message: " " }]),
    trial([{ rule: "self.a\n> 0" }]),
    trial([{ rule: "self.a > 0", messageExpression: "self.a" }]),
    trial([{ rule: "self.a > 0", messageExpression: "'x' +" }]),
    trial([{ rule: "self.a > 0", reason: "Because" }]),
    trial([{ rule: "self.a > 0", fieldPath: ".nope" }]),
    trial([{ rule: "self.a > 0", fieldPath: "a" }]),
    trial([{ rule: "self.a > 0", fieldPath: ".a" }]),
    trial([{ rule: "self.l.all(x, self.l.all(y, self.l.all(z, x == y && y == z)))" }]),
    trial([{ rule: "self.l.all(x, x.contains(self.s))" }]),
    trial([{ rule: "self.s.matches('[')" }]),
    trial([{ rule: "oldSelf.a == self.a", optionalOldSelf: true }]),
    trial([{ rule: "unknown(self)" }]),
    trial([{ rule: "self.metadata.labels.size() > 0" }]),
    trial([{ rule: "self.l.exists_one(x, x == 'a') && self.l.map(x, x + 'b').size() > 0" }]),
    trial([{ rule: "true" }], {
      list: {
        type: "array",
        items: {
          type: "object",
          properties: { a: int },
          "x-kubernetes-validations": [{ rule: "self.a == oldSelf.a" }],
        },
      },
    }),
    trial([{ rule: "duration('x') == duration('1s')" }]),
    trial([{ rule: "self.a == 1 || self.b == 2 || self.c" }]),
    trial([{ rule: "size(self.s) < 5 && self.s.lowerAscii() == 'x' && self.s.split(',').size() > 1" }]),
  ],
};
