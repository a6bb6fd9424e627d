import { expect, test } from "vitest";
import {
  type ClassForm,
  type ClusterClassObject,
  classProblems,
  newClassForm,
  topologyCluster,
  variableValue,
} from "./class-form.ts";

const variable = (name: string, openAPIV3Schema: object, required = false) => ({
  name,
  required,
  schema: { openAPIV3Schema },
});

const CLASS = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "ClusterClass",
  metadata: { name: "small", namespace: "default" },
  spec: {
    workers: { machineDeployments: [{ class: "general" }] },
    variables: [
      variable("size", { type: "string", enum: ["small", "large"], default: "small" }),
      variable("count", { type: "integer", minimum: 1 }, true),
      variable("proxy", { type: "object" }),
      variable("debug", { type: "boolean" }),
    ],
  },
} as ClusterClassObject;

const form = (variables: Record<string, string>, more: Partial<ClassForm> = {}): ClassForm => ({
  ...newClassForm(CLASS),
  variables,
  ...more,
});

test.each([
  [{}, { "variables.count": "Required by this class" }],
  [{ count: "x" }, { "variables.count": "A whole number" }],
  [{ count: "0" }, { "variables.count": "At least 1" }],
  [{ count: "2", proxy: "[1" }, { "variables.proxy": "YAML of an object" }],
  [{ count: "2", proxy: "host: p" }, {}],
])("%j", (variables, problems) => {
  expect(classProblems(form(variables), CLASS)).toEqual(problems);
});

test("converts values to the types of their variables", () => {
  const [size, count, proxy, debug] = CLASS.spec?.variables ?? [];
  if (size === undefined || count === undefined || proxy === undefined || debug === undefined) throw new Error("none");
  expect(variableValue(size, "large")).toBe("large");
  expect(variableValue(count, "3")).toBe(3);
  expect(variableValue(proxy, "host: p\nport: 1")).toEqual({ host: "p", port: 1 });
  expect(variableValue(debug, "true")).toBe(true);
});

test("the Cluster contains its class, its groups and only the given values", () => {
  const cluster = topologyCluster(
    { name: "c1", namespace: "default", version: "v1.34.4" },
    form({ count: "3", size: "" }),
    CLASS,
  );
  expect(cluster["spec"]).toEqual({
    topology: {
      classRef: { name: "small" },
      version: "v1.34.4",
      controlPlane: { replicas: 1 },
      workers: { machineDeployments: [{ class: "general", name: "general", replicas: 1 }] },
      variables: [{ name: "count", value: 3 }],
    },
  });
});
