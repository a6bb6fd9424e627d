import assert from "node:assert/strict";
import { isTrue } from "@capstan/apimachinery";
import { MANAGED_BY_ANNOTATION } from "../contract/constants.ts";
import { conditionsOf, field } from "../contract/fields.ts";
import type { HarnessCase } from "./machine-cases.ts";

/** What holds for infrastructure clusters. */
export const CLUSTER_CASES: readonly HarnessCase[] = [
  {
    name: "an infrastructure cluster is provisioned: flag, conditions, finalizer",
    run: async (h) => {
      const infra = await h.createInfraCluster(await h.createCluster({ provisioned: false }));
      await h.startProvider();
      await h.settle();
      const object = await h.must(infra);
      assert.equal(field(object, "status", "initialization", "provisioned"), true);
      assert.ok(isTrue(conditionsOf(object), "Ready"));
      assert.ok((object.metadata.finalizers ?? []).length > 0);
      const before = h.writes;
      await h.pass(3600_000);
      assert.equal(h.writes, before, "an hour without events must be an hour without writes");
    },
  },
  {
    name: "an infrastructure cluster waits for its owner",
    run: async (h) => {
      const infra = await h.createInfraCluster(undefined);
      await h.startProvider();
      await h.settle();
      assert.equal((await h.condition(infra, "Ready"))?.reason, "WaitingForCluster");
      await h.own(infra, await h.createCluster());
      await h.settle();
      assert.equal((await h.condition(infra, "Ready"))?.status, "True");
    },
  },
  {
    name: "an infrastructure cluster that something else manages is left alone",
    run: async (h) => {
      const infra = await h.createInfraCluster(await h.createCluster(), (object) => {
        object.metadata.annotations = { [MANAGED_BY_ANNOTATION]: "somebody" };
      });
      await h.startProvider();
      await h.settle();
      assert.equal(h.writes, 0);
      assert.equal((await h.must(infra))["status"], undefined);
    },
  },
  {
    name: "an infrastructure cluster rests while its Cluster is paused",
    run: async (h) => {
      const infra = await h.createInfraCluster(await h.createCluster({ paused: true }));
      await h.startProvider();
      await h.settle();
      assert.equal((await h.condition(infra, "Paused"))?.status, "True");
      assert.equal(field(await h.must(infra), "status", "initialization"), undefined);
    },
  },
  {
    name: "does not reconcile an infrastructure cluster with the paused annotation, and continues without it",
    run: async (h) => {
      const infra = await h.createInfraCluster(await h.createCluster(), (object) => {
        object.metadata.annotations = { "cluster.x-k8s.io/paused": "" };
      });
      await h.startProvider();
      await h.settle();
      assert.equal((await h.condition(infra, "Paused"))?.status, "True");
      assert.equal(field(await h.must(infra), "status", "initialization"), undefined);
      await h.client.patch(infra, { metadata: { annotations: { "cluster.x-k8s.io/paused": null } } });
      await h.settle();
      assert.equal((await h.condition(infra, "Paused"))?.status, "False");
      assert.equal(field(await h.must(infra), "status", "initialization", "provisioned"), true);
    },
  },
  {
    name: "an infrastructure cluster whose status is lost finds what it made, as after a move",
    run: async (h) => {
      const infra = await h.createInfraCluster(await h.createCluster());
      await h.startProvider();
      await h.settle();
      await h.stopProvider();
      const before = await h.picture([infra]);
      await h.client.updateStatus({ ...(await h.must(infra)), status: {} } as never);
      await h.startProvider();
      await h.settle();
      assert.deepEqual(await h.picture([infra]), before);
    },
  },
];
