import { formatTime } from "@capstan/apimachinery";
import type { ByoHost } from "@capstan/host-agent";
import { expect, test } from "vitest";
import { chooseHost, hostMatches, isNews } from "./choose-host.ts";

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
  const twinOf = (one: ByoHost): ByoHost | undefined =>
    hosts.find((other) => other !== one && other.status?.machineID === one.status?.machineID);
  const choice = chooseHost({ free: hosts, all: () => hosts }, wanted, NOW, { twinOf });
  return "host" in choice ? (choice.host.metadata.name ?? "") : choice.reason;
};

test("claims the first free host by name", () => {
  expect(choose([host("b"), host("a", { spec: used }), host("c")])).toBe("b");
});

test("matches selectors against labels", () => {
  expect(
    choose([host("a"), host("b", { labels: { disk: "ssd" } })], { selector: { matchLabels: { disk: "ssd" } } }),
  ).toBe("b");
  expect(choose([host("a")], { selector: { matchLabels: { disk: "ssd" } } })).toContain(
    "none of 1 hosts matches the selector",
  );
});

test("reports an invalid selector and claims no host", () => {
  const wanted = { selector: { matchLabels: { disk: "b c" } } };
  expect(choose([host("a")], wanted)).toContain("spec.selector is not a valid selector");
  expect(hostMatches(wanted)(host("a"))).toBe(false);
});

test.each([
  ["in use", host("a", { spec: used })],
  ["being cleaned", host("a", { spec: { release: { machineUID: "u", requestedAt: "" } } })],
  ["set unschedulable", host("a", { spec: { unschedulable: true } })],
  ["not reporting", host("a", { silent: true })],
  ["not ready", host("a", { ready: "False" })],
])("does not claim a host that is %s, and reports the reason with a remedy", (why, one) => {
  expect(choose([one])).toBe(`of 1 matching hosts none is free (1 ${why}): enrol another with: capstan host add NAME`);
});

test("does not claim a cloned host", () => {
  expect(choose([host("a", { id: "same" }), host("b", { id: "same" })])).toContain("with the machine-id of");
});

test("without any hosts, names the command that enrols one", () => {
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

test("a host with a claim in flight is in use", () => {
  const hosts = [host("a"), host("b")];
  const isTaken = ({ metadata }: ByoHost): boolean => metadata.name === "a";
  const choice = chooseHost({ free: hosts, all: () => hosts }, {}, NOW, { isTaken });
  expect(choice).toMatchObject({ host: { metadata: { name: "b" } } });
});

test.each<[string, ByoHost, ByoHost | undefined, boolean]>([
  ["a new free host", host("a"), undefined, true],
  ["one in use", host("a", { spec: used }), undefined, false],
  ["one that is given back", host("a"), host("a", { spec: used }), true],
  ["one that is ready again", host("a"), host("a", { ready: "False" }), true],
  ["one that is heard of again", host("a"), host("a", { silent: true }), true],
  ["one with another label", host("a", { labels: { disk: "ssd" } }), host("a"), true],
  ["one that is no clone any more", host("a"), host("a", { id: "same" }), true],
  ["another heartbeat", host("a"), host("a"), false],
])("%s wakes waiting machines or not", (_, now, before, expected) => {
  expect(isNews(now, before)).toBe(expected);
});

test("a machine waits only for hosts that match", () => {
  const ssd = { matchLabels: { disk: "ssd" } };
  expect(hostMatches({ selector: ssd })(host("a"))).toBe(false);
  expect(hostMatches({ selector: ssd })(host("a", { labels: { disk: "ssd" } }))).toBe(true);
  expect(hostMatches({ failureDomain: "r1" })(host("a"))).toBe(false);
});
