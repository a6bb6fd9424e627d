import assert from "node:assert/strict";
import { isTrue, type Unstructured } from "@capstan/apimachinery";
import { PAUSED_ANNOTATION } from "../contract/constants.ts";
import { conditionsOf, field } from "../contract/fields.ts";
import { Cluster } from "../kinds/cluster.ts";
import type { Harness } from "./harness.ts";

/** A case that gets a harness of its own. */
export interface HarnessCase {
  readonly name: string;
  run(harness: Harness): Promise<void>;
}

const CLUSTER_REF = { kind: Cluster, namespace: "default", name: "c1" };

async function provisioned(h: Harness): Promise<Unstructured> {
  await h.createCluster();
  const infra = await h.createInfraMachine(await h.createMachine());
  await h.startProvider();
  await h.settle();
  return infra;
}

/** Checks everything the contract demands of a machine that is there. */
async function assertProvisioned(h: Harness, infra: Unstructured): Promise<void> {
  const object = await h.must(infra);
  const providerID = field(object, "spec", "providerID");
  assert.ok(
    typeof providerID === "string" && /^[a-z0-9-]+:\/\/.+/.test(providerID),
    `spec.providerID: ${String(providerID)}`,
  );
  assert.equal(field(object, "status", "initialization", "provisioned"), true);
  assert.ok(isTrue(conditionsOf(object), "Ready"), JSON.stringify(conditionsOf(object)));
  assert.equal((await h.condition(infra, "Paused"))?.status, "False");
  assert.equal((await h.condition(infra, "Deleting"))?.status, "False");
  assert.ok((object.metadata.finalizers ?? []).length > 0, "a machine that exists outside must have a finalizer");
}

async function assertWaits(h: Harness, infra: Unstructured, reason: string): Promise<void> {
  await h.settle();
  const ready = await h.condition(infra, "Ready");
  assert.equal(ready?.status, "False");
  assert.equal(ready?.reason, reason);
  assert.notEqual(ready?.message, "");
  assert.deepEqual(await h.world.leftovers(), [], "nothing may be made before its time");
}

/** What holds for machines. */
export const MACHINE_CASES: readonly HarnessCase[] = [
  {
    name: "a machine is provisioned: provider ID, flag, conditions, finalizer",
    run: async (h) => assertProvisioned(h, await provisioned(h)),
  },
  {
    name: "a machine does not mind which infrastructure its Cluster has",
    run: async (h) => {
      await h.createCluster({ foreign: true });
      const infra = await h.createInfraMachine(await h.createMachine());
      await h.startProvider();
      await h.settle();
      await assertProvisioned(h, infra);
    },
  },
  {
    name: "a machine waits for its owner, then continues",
    run: async (h) => {
      await h.createCluster();
      const infra = await h.createInfraMachine(undefined);
      await h.startProvider();
      await assertWaits(h, infra, "WaitingForMachine");
      await h.own(infra, await h.createMachine());
      await h.settle();
      await assertProvisioned(h, infra);
    },
  },
  {
    name: "a machine waits for its Cluster, then for the Cluster's infrastructure",
    run: async (h) => {
      const infra = await h.createInfraMachine(await h.createMachine());
      await h.startProvider();
      await assertWaits(h, infra, "WaitingForCluster");
      await h.createCluster({ provisioned: false });
      await assertWaits(h, infra, "WaitingForClusterInfrastructureReady");
      await h.clusterProvisioned();
      await h.settle();
      await assertProvisioned(h, infra);
    },
  },
  {
    name: "a machine waits for bootstrap data",
    run: async (h) => {
      await h.createCluster();
      const infra = await h.createInfraMachine(await h.createMachine({ bootstrap: false }));
      await h.startProvider();
      await assertWaits(h, infra, "WaitingForBootstrapData");
      await h.bootstrapReady();
      await h.settle();
      await assertProvisioned(h, infra);
    },
  },
  {
    name: "uses the requested failure domain, or reports the actual one",
    run: async (h) => {
      await h.createCluster();
      const infra = await h.createInfraMachine(await h.createMachine({ failureDomain: "rack-1" }));
      await h.startProvider();
      await h.settle();
      const object = await h.must(infra);
      if (!isTrue(conditionsOf(object), "Ready")) return;
      assert.equal(field(object, "status", "failureDomain"), "rack-1");
    },
  },
  ...["Cluster", "annotation"].map((how) => ({
    name: `paused by ${how}: creates and deletes nothing, and continues afterwards`,
    run: async (h: Harness) => {
      await h.createCluster({ paused: how === "Cluster" });
      const infra = await h.createInfraMachine(await h.createMachine(), (object) => {
        if (how === "annotation") object.metadata.annotations = { [PAUSED_ANNOTATION]: "" };
      });
      const setPaused = async (paused: boolean): Promise<void> => {
        if (how === "Cluster") await h.client.patch(CLUSTER_REF, { spec: { paused } });
        else await h.client.patch(infra, { metadata: { annotations: { [PAUSED_ANNOTATION]: paused ? "" : null } } });
      };
      await h.startProvider();
      await h.settle();
      assert.equal((await h.condition(infra, "Paused"))?.status, "True");
      assert.deepEqual(await h.world.leftovers(), []);
      await setPaused(false);
      await h.settle();
      await assertProvisioned(h, infra);
      await setPaused(true);
      await h.client.delete(infra);
      await h.settle();
      assert.equal((await h.condition(infra, "Paused"))?.status, "True");
      assert.notDeepEqual(await h.world.leftovers(), []);
      await setPaused(false);
      await h.until("deletion after pausing", async () => (await h.get(infra)) === undefined);
      assert.deepEqual(await h.world.leftovers(), []);
    },
  })),
  {
    name: "a steady machine is silent, also after a restart",
    run: async (h) => {
      const infra = await provisioned(h);
      const before = h.writes;
      const revision = (await h.must(infra)).metadata.resourceVersion;
      await h.pass(3600_000);
      assert.equal(h.writes, before, "an hour without events must be an hour without writes");
      await h.startProvider();
      await h.settle();
      assert.equal((await h.must(infra)).metadata.resourceVersion, revision, "a restart must change nothing");
    },
  },
  {
    name: "status that is lost (move) is rebuilt, with the same provider ID",
    run: async (h) => {
      const infra = await provisioned(h);
      const providerID = field(await h.must(infra), "spec", "providerID");
      await h.stopProvider();
      const { status: _, ...rest } = await h.must(infra);
      await h.client.updateStatus(rest as Unstructured);
      assert.equal((await h.must(infra))["status"], undefined);
      await h.startProvider();
      await h.settle();
      await assertProvisioned(h, infra);
      assert.equal(field(await h.must(infra), "spec", "providerID"), providerID);
      assert.equal((await h.world.leftovers()).length, 1, "nothing may be made twice");
    },
  },
  {
    name: "a machine that was never provisioned is deleted at once",
    run: async (h) => {
      const infra = await h.createInfraMachine(undefined);
      await h.startProvider();
      await h.settle();
      await h.client.delete(infra);
      await h.until("deletion", async () => (await h.get(infra)) === undefined);
    },
  },
];
