import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { HostClaims } from "./host-claims.ts";
import { byUID, unclaimed } from "./reference.ts";
import { Lab, type LabHost, type LabMachine } from "./testing/lab.ts";

const signal = new AbortController().signal;
const any = (): boolean => true;

let lab: Lab;
/** Machines that were called since the last look. */
let called: string[];
let stop: () => void;
beforeEach(async () => {
  lab = await Lab.start(byUID, false);
  called = [];
  stop = lab.claims.subscribe(({ name }) => called.push(name));
  for (const name of ["m1", "m2"]) await lab.addMachine(name, undefined);
  await lab.pass(100);
});
afterEach(async () => {
  stop();
  await lab.close();
});

const host = (name = "h1"): LabHost => lab.host(name) as LabHost;
const machine = (name: string): LabMachine => lab.machine(name) as LabMachine;

async function addHost(name = "h1", color = "red"): Promise<void> {
  await lab.addHost(name, color);
  await lab.pass(100);
}

const claim = (name: string, of = "h1") =>
  lab.claims.claim(
    host(of),
    machine(name),
    "c1",
    (each) => ({ ...each, spec: { ...each.spec, closed: true } }),
    signal,
  );

function calls(): string[] {
  return called.splice(0);
}

test("is an error to use before it has a cache", () => {
  const claims = new HostClaims<LabHost, LabMachine>(lab.claims.rules);
  expect(() => claims.cache).toThrow("before bind()");
});

describe("a claim", () => {
  beforeEach(() => addHost());

  test("writes the machine, its cluster and what the provider adds, and returns the host", async () => {
    const taken = await claim("m1");
    expect(taken?.spec).toMatchObject({ closed: true, machineRef: { name: "m1" } });
    expect(taken).toEqual(host());
    expect(host().metadata.labels).toEqual({ color: "red", [CLUSTER_NAME_LABEL]: "c1" });
    await lab.pass(100);
    expect(lab.claims.claimant(host())).toEqual({ namespace: "default", name: "m1" });
    expect(lab.claims.heldBy(machine("m1")).map(({ metadata }) => metadata.name)).toEqual(["h1"]);
    expect(lab.claims.free("default")).toEqual([]);
    expect(lab.claims.list("default")).toHaveLength(1);
    expect(lab.claims.list("elsewhere")).toEqual([]);
  });

  test("of a host that has changed returns nothing and says so of no other error", async () => {
    lab.line.order("contended");
    expect(await claim("m1")).toBeUndefined();
    lab.line.order("refused");
    await expect(claim("m1")).rejects.toThrow("refused");
    const gone = host();
    await lab.deleteHost("h1");
    expect(await lab.claims.update(gone, signal)).toBeUndefined();
  });

  test("is visible while it is in flight, and no longer when it has failed", async () => {
    lab.line.order("slowlyRefused");
    const claiming = expect(claim("m1")).rejects.toThrow("refused");
    expect(lab.claims.isBeingClaimed(host())).toBe(true);
    await lab.pass(200);
    await claiming;
    expect(lab.claims.isBeingClaimed(host())).toBe(false);
  });

  test("whose answer was lost is found by one request", async () => {
    lab.line.order("answerLost");
    await expect(claim("m1")).rejects.toThrow("reset");
    expect(await lab.claims.doubtful(machine("m1"), signal)).toBe("h1");
    expect(await lab.claims.doubtful(machine("m2"), signal)).toBeUndefined();
    expect(lab.line.sent).toEqual(["PUT", "GET"]);
  });

  test("that failed is checked once, one that succeeded never", async () => {
    lab.line.order("refused");
    await expect(claim("m1")).rejects.toThrow("refused");
    for (let i = 0; i < 2; i++) expect(await lab.claims.doubtful(machine("m1"), signal)).toBeUndefined();
    await claim("m1");
    expect(await lab.claims.doubtful(machine("m1"), signal)).toBeUndefined();
    expect(lab.line.sent).toEqual(["PUT", "GET", "PUT"]);
  });

  test("that failed is not taken for one of another machine, nor of a host that was deleted", async () => {
    lab.line.order("refused");
    await expect(claim("m1")).rejects.toThrow("refused");
    await claim("m2");
    expect(await lab.claims.doubtful(machine("m1"), signal)).toBeUndefined();
    await addHost("h2");
    lab.line.order("answerLost");
    await expect(claim("m1", "h2")).rejects.toThrow("reset");
    await lab.deleteHost("h2");
    expect(await lab.claims.doubtful(machine("m1"), signal)).toBeUndefined();
  });

  test("is forgotten with its machine", async () => {
    lab.line.order("answerLost");
    await expect(claim("m1")).rejects.toThrow("reset");
    const gone = machine("m1");
    await lab.deleteMachine("m1", true);
    await lab.pass(100);
    expect(await lab.claims.doubtful(gone, signal)).toBeUndefined();
    expect(lab.line.sent).toEqual(["PUT"]);
  });
});

describe("of several hosts of one machine", () => {
  const hold = async (name: string, used = false): Promise<void> => {
    await addHost(name);
    const { name: machineName, uid } = machine("m1").metadata;
    const machineRef = { apiVersion: "lab.example/v1", kind: "Machine", namespace: "default", name: machineName, uid };
    await lab.patchHost(name, { metadata: { annotations: { used: String(used) } }, spec: { machineRef } });
    await lab.pass(100);
  };
  const names = (): (string | undefined)[] => lab.claims.allOf(machine("m1")).map(({ metadata }) => metadata.name);

  test("the one that it uses comes first, the others by name", async () => {
    await hold("h3");
    await hold("h1");
    await hold("h2");
    expect(names()).toEqual(["h1", "h2", "h3"]);
    await lab.patchHost("h2", { metadata: { annotations: { used: "true" } } });
    await lab.pass(100);
    expect(names()).toEqual(["h2", "h1", "h3"]);
  });

  test("those that only its identity of before names are found if it has no other", async () => {
    await addHost("h1");
    await addHost("h2");
    const rules = { ...lab.claims.rules, findMoved: () => [host("h2")] };
    const moved = new HostClaims<LabHost, LabMachine>(rules);
    moved.bind(lab.claims.cache, lab.claims.client);
    expect(moved.allOf(machine("m1"))).toEqual([host("h2")]);
    await hold("h1");
    expect(moved.allOf(machine("m1")).map(({ metadata }) => metadata.name)).toEqual(["h1"]);
  });
});

describe("calls", () => {
  test("the claimant of a host that changes, is released or is deleted", async () => {
    await addHost();
    await claim("m1");
    await lab.pass(100);
    expect(calls()).toContain("m1");
    await lab.patchHost("h1", { metadata: { annotations: { touched: "1" } } });
    await lab.pass(100);
    expect(calls()).toEqual(["m1"]);
    await lab.claims.update(unclaimed(host(), "machineRef"), signal);
    await lab.pass(100);
    expect(calls()).toEqual(["m1"]);
    await lab.patchHost("h1", { metadata: { annotations: { touched: "2" } } });
    await lab.pass(100);
    expect(calls()).toEqual([]);
    await claim("m2");
    await lab.pass(100);
    calls();
    await lab.deleteHost("h1");
    await lab.pass(100);
    expect(calls()).toEqual(["m2"]);
  });

  test("no machine for a claim of another kind", async () => {
    await addHost();
    const machineRef = { apiVersion: "lab.example/v1", kind: "Other", namespace: "default", name: "m1", uid: "1" };
    await lab.patchHost("h1", { spec: { machineRef } });
    await lab.pass(100);
    expect(calls()).toEqual([]);
  });

  test("the first machine that waits, for a host that is new, free again or changed, and only for one that is free", async () => {
    lab.claims.waits(machine("m1"), ({ metadata }) => metadata.labels?.["color"] === "blue");
    lab.claims.waits(machine("m2"), any);
    await addHost("h1", "blue");
    expect(calls()).toEqual(["m1"]);
    lab.claims.waits(machine("m1"), any);
    await lab.patchHost("h1", { metadata: { annotations: { touched: "1" } } });
    await lab.pass(100);
    expect(calls()).toEqual([]);
    await lab.changeHost("h1", { closed: true });
    await lab.pass(100);
    expect(calls()).toEqual([]);
    await lab.changeHost("h1", { closed: false });
    await lab.pass(100);
    expect(calls()).toEqual(["m1"]);
  });

  test("no machine for a new host that cannot be claimed", async () => {
    lab.claims.waits(machine("m1"), any);
    await lab.addHost("h1", "red", true);
    await lab.pass(100);
    expect(calls()).toEqual([]);
  });

  test("no machine when it has ended", async () => {
    lab.claims.waits(machine("m1"), any);
    stop();
    await addHost();
    expect(calls()).toEqual([]);
    lab.claims.offer(host());
    expect(calls()).toEqual([]);
  });
});

describe("a host on offer", () => {
  beforeEach(async () => {
    lab.claims.waits(machine("m1"), any);
    lab.claims.waits(machine("m2"), any);
    await addHost();
    expect(calls()).toEqual(["m1"]);
  });

  test("is offered to the next machine when the first does not wait any more", () => {
    lab.claims.stopWaiting(machine("m1"));
    expect(calls()).toEqual(["m2"]);
  });

  test("is offered to the next machine when the first is deleted", async () => {
    await lab.deleteMachine("m1", true);
    await lab.pass(100);
    expect(calls()).toEqual(["m2"]);
  });

  test("is offered to the next machine when the first wants another", () => {
    lab.claims.waits(machine("m1"), () => false);
    expect(calls()).toEqual(["m2"]);
  });

  test("is offered to no other machine when the first could not use it", () => {
    lab.claims.waits(machine("m1"), any);
    expect(calls()).toEqual([]);
  });

  test("is offered to the next machine when the first has claimed another", async () => {
    lab.claims.waits(machine("m2"), ({ metadata }) => metadata.name === "h1");
    await addHost("h2");
    expect(calls()).toEqual([]);
    await claim("m1", "h2");
    expect(calls()).toEqual(["m1", "m2"]);
  });

  test("is not offered again by the claim that takes it", async () => {
    await claim("m1");
    expect(calls()).toEqual(["m1"]);
  });

  test("stays with a machine whose claim fails, which gives back what it was offered before", async () => {
    lab.claims.waits(machine("m2"), ({ metadata }) => metadata.name === "h1");
    await addHost("h2");
    lab.line.order("refused");
    await expect(claim("m1")).rejects.toThrow("refused");
    expect(calls()).toEqual([]);
    lab.line.order("refused");
    await expect(claim("m1", "h2")).rejects.toThrow("refused");
    expect(calls()).toEqual(["m2"]);
  });

  test("is not offered again once it is taken, closed, being claimed or deleted", async () => {
    await lab.changeHost("h1", { closed: true });
    await lab.pass(100);
    lab.claims.stopWaiting(machine("m1"));
    expect(calls()).toEqual([]);
    await lab.changeHost("h1", { closed: false });
    await lab.pass(100);
    expect(calls()).toEqual(["m2"]);
    lab.claims.waits(machine("m1"), any);
    lab.line.order("slow");
    const claiming = claim("m1");
    lab.claims.stopWaiting(machine("m2"));
    expect(calls()).toEqual([]);
    await lab.pass(200);
    await claiming;
  });

  test("is not lost with a machine that is deleted before it waits, or while it claims", async () => {
    const gone = machine("m1");
    await lab.deleteMachine("m1", true);
    await lab.pass(100);
    expect(calls()).toEqual(["m2"]);
    lab.claims.stopWaiting(machine("m2"));
    lab.claims.waits(gone, any);
    lab.claims.waits(machine("m2"), any);
    await addHost("h2");
    expect(calls()).toEqual(["m2"]);
    lab.claims.waits(machine("m2"), any);
    lab.line.order("refused");
    await expect(lab.claims.claim(host(), gone, "c1", (each) => each, signal)).rejects.toThrow("refused");
    expect(calls()).toEqual(["m2"]);
    expect(await lab.claims.doubtful(gone, signal)).toBeUndefined();
    expect(lab.line.sent).toEqual(["PUT"]);
  });
});
