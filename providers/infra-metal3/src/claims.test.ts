import assert from "node:assert/strict";
import { claimCases } from "@capstan/capi/testing";
import { test, vi } from "vitest";
import { Fleet } from "./testing/fleet.ts";

vi.setConfig({ testTimeout: 120_000 });

const subject = {
  start: (seed: number) => Fleet.start(seed),
  seeds: [1, 2],
  settleSeconds: 90,
  reuseSeconds: 20,
  noneFree: "of 30 matching BareMetalHosts none is available (30 in use): register another, or wait",
  running: (fleet: Fleet) => {
    const { size } = fleet.world.hosts.running;
    assert.equal(fleet.addresses().size, size, "each machine has an address of its own");
    return size;
  },
};

for (const { name, run } of claimCases(subject)) test(name, run);
