import { systemClock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { FakeEtcd } from "../testing/fake-etcd.ts";
import { inspectEtcd } from "./etcd-inspection.ts";
import { etcdSight } from "./etcd-members.ts";

const CLUSTER = { namespace: "default", name: "c1" };

/** Whether each member answered, by name; only the first one runs on a Machine. */
async function answeredMembers(etcd: FakeEtcd): Promise<object> {
  const places = [{ machine: "m1", nodeName: "node-1", addresses: ["192.0.2.1"] }];
  const { members } = etcdSight([], [], await inspectEtcd(etcd, CLUSTER, places, systemClock));
  if ("unknown" in members) throw new Error(members.unknown);
  return Object.fromEntries(members.map(({ name, answered }) => [name, answered]));
}

test("asks members that run on no Machine, so that a dead one does not count as healthy", async () => {
  const etcd = new FakeEtcd();
  etcd.add("node-1", "192.0.2.1");
  etcd.add("node-2", "192.0.2.2");
  etcd.add("node-3", "192.0.2.3");
  etcd.broken.set("node-3", "no route to host");
  expect(await answeredMembers(etcd)).toEqual({ "node-1": true, "node-2": true, "node-3": false });
});

test("a member that answers for another cluster is not an answer", async () => {
  const etcd = new FakeEtcd();
  for (const index of [1, 2, 3]) etcd.add(`node-${index}`, `192.0.2.${index}`);
  for (const node of ["node-2", "node-3"]) etcd.clusterIds.set(node, "88");
  expect(await answeredMembers(etcd)).toEqual({ "node-1": true, "node-2": false, "node-3": false });
});
