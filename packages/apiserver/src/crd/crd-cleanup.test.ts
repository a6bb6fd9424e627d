import { expect, test } from "vitest";
import { objectOf, startTestServer, widgetCrd } from "../testing/server.ts";
import type { CustomResourceDefinition } from "./crd-object.ts";

const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test";
const WIDGETS = "/apis/example.test/v1/namespaces/default/widgets";
const widget = (name: string, finalizers: string[] = []): object => ({
  apiVersion: "example.test/v1",
  kind: "Widget",
  metadata: { name, finalizers },
});

test("deletes a CRD after its last object, and waits for objects with finalizers", async () => {
  const t = await startTestServer({ controllers: false });
  await t.server.registerCrds([widgetCrd()]);
  await t.post(WIDGETS, widget("free"));
  await t.post(WIDGETS, widget("held", ["example.test/held"]));
  await t.delete(CRD);
  await t.clock.advance(10_000);
  const crd = objectOf(await t.get(CRD)) as CustomResourceDefinition;
  expect(crd.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Terminating", status: "True", reason: "InstanceDeletionInProgress" }),
  );
  expect((await t.get(`${WIDGETS}/free`)).status).toBe(404);
  expect(objectOf(await t.get(`${WIDGETS}/held`)).metadata.deletionTimestamp).toBeDefined();
  await t.patch(`${WIDGETS}/held`, "application/merge-patch+json", { metadata: { finalizers: null } });
  await t.clock.advance(10);
  expect((await t.get(CRD)).status).toBe(404);
});

test("deletes the objects of a CRD that serves no version, so that a later CRD of the same name does not see them", async () => {
  const t = await startTestServer({ controllers: false });
  await t.server.registerCrds([widgetCrd()]);
  await t.post(WIDGETS, widget("old"));
  const crd = objectOf(await t.get(CRD)) as CustomResourceDefinition;
  const versions = crd.spec.versions.map((version) => ({ ...version, served: false }));
  await t.patch(CRD, "application/merge-patch+json", { spec: { versions } });
  expect((await t.get(`${WIDGETS}/old`)).status).toBe(404);
  await t.delete(CRD);
  await t.clock.advance(10);
  expect((await t.get(CRD)).status).toBe(404);
  await t.server.registerCrds([widgetCrd()]);
  expect((await t.get(`${WIDGETS}/old`)).status).toBe(404);
});
