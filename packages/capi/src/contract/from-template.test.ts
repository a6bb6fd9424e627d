import { expect, test } from "vitest";
import { objectFromTemplate } from "./from-template.ts";

const template = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "FooTemplate",
  metadata: { namespace: "ns", name: "t" },
};
const from = (body: Record<string, unknown>) =>
  objectFromTemplate({
    template: { ...template, spec: { template: body } },
    name: "a",
    namespace: "ns",
    clusterName: "c",
  });

test("an object is of the template's kind, whatever the template says", () => {
  const made = from({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "b" },
    spec: { x: 1 },
  });
  expect(made).toMatchObject({ apiVersion: template.apiVersion, kind: "Foo", spec: { x: 1 } });
  expect(made?.metadata).toMatchObject({ namespace: "ns", name: "a" });
});

test("a status is none of a template's matters", () => {
  expect(from({ spec: {}, status: { ready: true } })).not.toHaveProperty("status");
});
