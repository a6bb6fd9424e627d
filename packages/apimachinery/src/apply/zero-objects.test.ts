import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { gvkOf } from "../gvk.ts";
import type { Unstructured } from "../object.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { compileApplySchema } from "./apply-type.ts";
import { trackUpdate } from "./track-update.ts";
import { builtinZeroObject } from "./zero-objects.ts";

// Objects as a real kube-apiserver stored them, with the ownership it recorded for their creator.
const { objects }: { objects: { json: Unstructured }[] } = JSON.parse(
  readFileSync(new URL("../../testdata/protobuf.golden.json", import.meta.url), "utf8"),
);

// The parts of the published schemas that decide ownership.
const MAP: JSONSchemaProps = { type: "object", additionalProperties: { type: "string" } };
const LIST: JSONSchemaProps = { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "object" } };
const ATOMIC: JSONSchemaProps = { type: "object", "x-kubernetes-map-type": "atomic" };
const OPEN: JSONSchemaProps = { type: "object", additionalProperties: true };
const FIELDS: Record<string, Record<string, JSONSchemaProps>> = {
  ConfigMap: { data: MAP, binaryData: MAP, immutable: { type: "boolean" } },
  Secret: { data: MAP, immutable: { type: "boolean" }, type: { type: "string" } },
  ServiceAccount: {
    imagePullSecrets: LIST,
    secrets: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: ATOMIC,
    },
  },
  Event: { involvedObject: ATOMIC, source: OPEN, series: OPEN },
  Lease: { spec: OPEN },
  Role: { rules: LIST },
  ClusterRole: { rules: LIST, aggregationRule: { type: "object", properties: { clusterRoleSelectors: LIST } } },
  RoleBinding: { roleRef: ATOMIC, subjects: LIST },
  ClusterRoleBinding: { roleRef: ATOMIC, subjects: LIST },
};

for (const { json } of objects) {
  const properties = FIELDS[json.kind];
  if (properties === undefined) continue;
  test(`the creator of a ${json.kind} owns what a real server says it owns`, () => {
    const schema = compileApplySchema({ type: "object", properties }, builtinZeroObject(gvkOf(json).group, json.kind));
    const { managedFields: [want] = [], ...metadata } = json.metadata;
    const [got] = trackUpdate({
      live: undefined,
      next: { ...json, metadata },
      manager: want?.manager ?? "",
      subresource: "",
      apiVersion: json.apiVersion,
      nowTime: want?.time ?? "",
      schema,
    });
    expect(got).toEqual(want);
  });
}

test("kinds that hold nothing, and names of the prototype, have no zero object", () => {
  expect(builtinZeroObject("", "ConfigMap")).toBeUndefined();
  expect(builtinZeroObject("__proto__", "x")).toBeUndefined();
});
