import type { JSONSchemaProps } from "../schema/types.ts";

const STRING: JSONSchemaProps = { type: "string" };
const STRINGS: JSONSchemaProps = { type: "object", additionalProperties: STRING };

/** ObjectMeta as published by Kubernetes, reduced to what decides field ownership and strategic merge. */
export const OBJECT_META_SCHEMA: JSONSchemaProps = {
  type: "object",
  properties: {
    annotations: STRINGS,
    clusterName: STRING,
    creationTimestamp: STRING,
    deletionGracePeriodSeconds: { type: "integer" },
    deletionTimestamp: STRING,
    finalizers: {
      type: "array",
      items: STRING,
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    generateName: STRING,
    generation: { type: "integer" },
    labels: STRINGS,
    managedFields: { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "atomic" },
    name: STRING,
    namespace: STRING,
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: STRING,
          blockOwnerDeletion: { type: "boolean" },
          controller: { type: "boolean" },
          kind: STRING,
          name: STRING,
          uid: STRING,
        },
        "x-kubernetes-map-type": "atomic",
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
    resourceVersion: STRING,
    selfLink: STRING,
    uid: STRING,
  },
};
