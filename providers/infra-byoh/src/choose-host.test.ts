import { formatTime } from "@capstan/apimachinery";
import type { ByoHost } from "@capstan/host-agent";
import { expect, test } from "vitest";
import { chooseHost } from "./choose-host.ts";

const NOW = Date.UTC(2026, 0, 1);

const host = (
  name: string,
  more: {
    labels?: Record<string, string>;
    spec?: ByoHost["spec"];
    silent?: boolean;
    ready?: "True" | "False";
    id?: string;
  } = {},
): ByoHost => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "ByoHost",
  metadata: { name, namespace: "default", labels: more.labels ?? {} },
  spec: more.spec ?? {},
  status: {
    lastHeartbeatTime: formatTime(NOW - (more.silent === true ? 600_000 : 1000)),
    machineID: more.id ?? name,
    conditions: [
      { type: "Ready", status: more.ready ?? "True", reason: "X", message: "", lastTransitionTime: formatTime(NOW) },
    ],
  },
});

const used = { machineRef: { apiVersion: "v1", kind: "ByoMachine", namespace: "default", name: "m", uid: "u" } };
const choose = (hosts: ByoHost[], wanted: Parameters<typeof chooseHost>[1] = {}): string => {
  const choice = chooseHost(hosts, wanted, NOW);
  return "host" in choice ? (choice.host.metadata.name ?? "") : choice.reason;
};

test("the first free host by name is taken", () => {
  expect(choose([host("b"), host("a", { spec: used }), host("c")])).toBe("b");
});

test("selectors look at labels", () => {
  expect(
    choose([host("a"), host("b", { labels: { disk: "ssd" } })], { selector: { matchLabels: { disk: "ssd" } } }),
  ).toBe("b");
  expect(choose([host("a")], { selector: { matchLabels: { disk: "ssd" } } })).toContain(
    "none of 1 hosts matches the selector",
  );
});

test.each([
  ["in use", host("a", { spec: used })],
  ["being cleaned", host("a", { spec: { release: { machineUID: "u", requestedAt: "" } } })],
  ["set unschedulable", host("a", { spec: { unschedulable: true } })],
  ["not heard of", host("a", { silent: true })],
  ["not ready", host("a", { ready: "False" })],
])("a host that is %s is not given away, and the reason says so with a cure", (why, one) => {
  expect(choose([one])).toBe(`of 1 matching hosts none is free (1 ${why}): enrol another with: capstan host add NAME`);
});

test("cloned hosts are told apart from whole ones", () => {
  expect(choose([host("a", { id: "same" }), host("b", { id: "same" })])).toContain("with the machine-id of");
});

test("no hosts at all leads to the command that enrols one", () => {
  expect(choose([])).toBe("there are no hosts: enrol one with: capstan host add NAME");
});

test("a failure domain is a label of the host", () => {
  const zone = { "topology.kubernetes.io/zone": "rack-2" };
  expect(choose([host("a"), host("b", { labels: zone })], { failureDomain: "rack-2" })).toBe("b");
  expect(choose([host("a"), host("b", { spec: { labels: zone } })], { failureDomain: "rack-2" })).toBe("b");
  expect(choose([host("a"), host("b", { labels: zone })], { failureDomain: "rack-1" })).toBe(
    "none of 2 matching hosts is in failure domain rack-1: label one topology.kubernetes.io/zone=rack-1",
  );
});

test("a host that somebody is just claiming is in use", () => {
  const choice = chooseHost([host("a"), host("b")], {}, NOW, { isTaken: ({ metadata }) => metadata.name === "a" });
  expect(choice).toMatchObject({ host: { metadata: { name: "b" } } });
});
