import { providerInfos } from "@capstan/dashboard-server";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import { type Offer, offersOf } from "../api/providers.ts";
import { isBlocked, obstaclesOf } from "./obstacles.ts";
import { newForm, newGroup, type PlanForm, planOf } from "./plan-form.ts";

const OFFERS = offersOf(providerInfos(PROVIDERS));
const offer = (wanted: string): Offer => {
  const found = OFFERS.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`no provider ${wanted}`);
  return found;
};
const plan = (form: Partial<PlanForm>): ReturnType<typeof planOf> =>
  planOf({ ...newForm("v1.34.4", OFFERS), name: "c1", ...form }, OFFERS);
const own = plan({ groups: [{ ...newGroup(1, offer("byoh")), name: "own", replicas: "2" }] });
const home = { placement: "Process", versions: ["v1.33.1"] } as const;
const enough = { shortages: [], warnings: [] };

test("a version that is not installed blocks a control plane as processes, even if machines may wait", () => {
  const found = obstaclesOf(own, home, enough);
  expect(found).toEqual({
    version: {
      problem: "Kubernetes v1.34.4 is not installed on the manager's machine (installed: v1.33.1)",
      command: "capstan kubernetes install v1.34.4",
    },
    shortages: [],
    warnings: [],
  });
  expect(isBlocked(found, true)).toBe(true);
  for (const placement of ["Pods", "Embedded"])
    expect(obstaclesOf({ ...own, placement }, home, undefined).version).toBeUndefined();
  expect(obstaclesOf(own, { ...home, placement: "Pods" }, undefined).version).toBeUndefined();
});

test("too few hosts block unless machines may wait; hosts that could not be listed do not", () => {
  const shortage = { group: "own", kind: "ByoHost", wanted: 2, free: 1, cure: "enrol a host" };
  const found = obstaclesOf({ ...own, placement: "Embedded" }, home, { shortages: [shortage], warnings: [] });
  expect(isBlocked(found, false)).toBe(true);
  expect(isBlocked(found, true)).toBe(false);
  expect(isBlocked(obstaclesOf({ ...own, placement: "Embedded" }, undefined, undefined), false)).toBe(false);
});

test("defaults bare metal to a live image", () => {
  expect(newGroup(1, offer("metal3")).settings).toEqual({ format: "live-iso" });
});
