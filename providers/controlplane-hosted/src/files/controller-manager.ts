import { isObject } from "@capstan/apimachinery";
import { document, FileRefusal, fields, list, mapOf, type Shape, text } from "./shape.ts";

/** Shape of `--leader-migration-config`. */
export const LEADER_MIGRATION: Shape = document(
  "LeaderMigrationConfiguration",
  ["v1", "v1beta1", "v1alpha1"].map((version) => `controllermanager.config.k8s.io/${version}`),
  {
    leaderName: text(),
    resourceLock: text(),
    controllerLeaders: list(fields({ name: text(), component: text() })),
  },
);

/** A pod in the tenant's own cluster, which has no access to the management host. */
const specOfPod: Shape = (value, at) => {
  if (!isObject(value)) throw new FileRefusal(`has ${at}, which must be a map; correct it`);
  return value;
};

/** Shape of `--pv-recycler-pod-template-filepath-*`. */
export const RECYCLER_POD: Shape = document("Pod", ["v1"], {
  metadata: fields({
    name: text(),
    generateName: text(),
    namespace: text(),
    labels: mapOf(text()),
    annotations: mapOf(text()),
  }),
  spec: specOfPod,
});
