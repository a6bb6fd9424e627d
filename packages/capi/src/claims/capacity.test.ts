import { afterEach, beforeEach, expect, test } from "vitest";
import type { CapacityRequest } from "../sdk/capacity.ts";
import type { AnyKindDefinition } from "../sdk/infra-kinds.ts";
import { claimCapacity } from "./capacity.ts";
import { byUID } from "./reference.ts";
import { Lab, type LabHost, type LabMachine } from "./testing/lab.ts";

const signal = new AbortController().signal;
const TEMPLATE = { kind: "Template" } as unknown as AnyKindDefinition;
const request = { template: { namespace: "default", name: "workers" } } as CapacityRequest;

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.start(byUID, false);
  await lab.addMachine("m1", undefined);
  await lab.addHost("h1", "red");
  await lab.addHost("h2", "blue");
  await lab.addHost("h3", "red", true);
  await lab.pass(100);
});
afterEach(() => lab.close());

const source = (exists = true) =>
  claimCapacity<LabHost, LabMachine>(lab.claims, {
    template: TEMPLATE,
    fits: () => (exists ? ({ metadata }) => metadata.labels?.["color"] === "red" : undefined),
  });
const free = (of = request, exists = true): number => source(exists).free(of, lab.claims.cache, lab.clock.now());

test("counts the free hosts of the namespace that fit, without those that are being claimed", async () => {
  expect(free()).toBe(1);
  expect(free({ template: { namespace: "elsewhere", name: "workers" } } as CapacityRequest)).toBe(0);
  expect(free(request, false)).toBe(0);
  lab.line.order("slow");
  const claiming = lab.claims.claim(
    lab.host("h1") as LabHost,
    lab.machine("m1") as LabMachine,
    undefined,
    (h) => h,
    signal,
  );
  expect(free()).toBe(0);
  await lab.pass(200);
  await claiming;
});

test("reports a machine as provided when it has a host", async () => {
  const key = { namespace: "default", name: "m1" };
  // The cache reads machines because something subscribes to them.
  const stop = lab.claims.subscribe(() => undefined);
  await lab.pass(100);
  expect(source().isProvided(key, lab.claims.cache)).toBe(false);
  await lab.claims.claim(lab.host("h1") as LabHost, lab.machine("m1") as LabMachine, undefined, (h) => h, signal);
  await lab.pass(100);
  expect(source().isProvided(key, lab.claims.cache)).toBe(true);
  expect(source().isProvided({ namespace: "default", name: "m2" }, lab.claims.cache)).toBe(false);
  stop();
});

test("names the kinds of the provider, and counts again for what is news for its machines", () => {
  const { machine, template, kind, isNews } = source();
  expect([machine, template, kind]).toEqual([lab.claims.rules.machine, TEMPLATE, lab.claims.rules.host]);
  const [open, closed] = [lab.host("h1"), lab.host("h3")] as [LabHost, LabHost];
  expect([isNews?.(open, closed), isNews?.(closed, open)]).toEqual([true, false]);
});
