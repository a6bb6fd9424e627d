import { clusterObjects } from "@capstan/capi";
import { providerInfos } from "@capstan/dashboard-server";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import { type Offer, offersOf } from "../api/providers.ts";
import { commandOf, newForm, newGroup, type PlanForm, pairsOf, planOf, problemsOf } from "./plan-form.ts";

const OFFERS = offersOf(providerInfos(PROVIDERS));
const offer = (wanted: string): Offer => {
  const found = OFFERS.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`no provider ${wanted}`);
  return found;
};
const form = (more: Partial<PlanForm> = {}): PlanForm => ({ ...newForm("v1.34.4", OFFERS), name: "c1", ...more });

test.each([
  [{}, []],
  [{ name: "Bad_Name" }, ["name"]],
  [{ name: "" }, ["name"]],
  [{ namespace: "-x" }, ["namespace"]],
  [{ version: "1.34" }, ["version"]],
  [{ groups: [{ ...newGroup(1, offer("memory")), replicas: "x" }] }, ["groups.1.replicas"]],
  [{ groups: [newGroup(1, offer("metal3"))] }, ["groups.1.image"]],
  [{ groups: [{ ...newGroup(1, offer("byoh")), select: "rack" }] }, ["groups.1.select"]],
  [{ groups: [newGroup(1, offer("memory")), { ...newGroup(2, offer("byoh")), name: "workers" }] }, ["groups.2.name"]],
] satisfies [Partial<PlanForm>, string[]][])("%j", (more, fields) => {
  expect(Object.keys(problemsOf(form(more), OFFERS))).toEqual(fields);
});

test("builds a mixed cluster from several providers, and the equivalent command", () => {
  const plan = planOf(
    form({
      groups: [
        { ...newGroup(1, offer("byoh")), select: "rack=1" },
        {
          ...newGroup(2, offer("metal3")),
          replicas: "3",
          settings: { image: "http://i/n.iso", format: "live-iso", checksum: "" },
        },
      ],
    }),
    OFFERS,
  );
  const kinds = clusterObjects(plan, PROVIDERS).map((object) => object.kind);
  expect(kinds).toEqual(expect.arrayContaining(["Cluster", "MetaCluster", "ByoCluster", "Metal3Cluster"]));
  expect(plan.placement).toBeUndefined();
  expect(commandOf(plan)).toBe(
    "capstan create cluster c1 --kubernetes-version v1.34.4 --workers name=workers,provider=byoh,replicas=1,select.rack=1 --workers name=workers-2,provider=metal3,replicas=3,image=http://i/n.iso,format=live-iso",
  );
});

test("a cluster of memory machines alone needs no real control plane", () => {
  expect(planOf(form(), OFFERS).placement).toBe("Embedded");
  expect(pairsOf("a=1, b=2,")).toEqual({ a: "1", b: "2" });
});

test("groups of a pool share one count", () => {
  const pooled = form({
    pooled: true,
    pool: { name: "general", replicas: "4", strategy: "Cheapest" },
    groups: [
      { ...newGroup(1, offer("byoh")), name: "own", share: { min: "", max: "2", cost: "0.10", weight: "" } },
      { ...newGroup(2, offer("memory")), name: "spare", replicas: "not counted" },
    ],
  });
  expect(problemsOf(pooled, OFFERS)).toEqual({});
  const plan = planOf(pooled, OFFERS);
  const pool = clusterObjects(plan, PROVIDERS).find((object) => object.kind === "WorkerPool") as
    | { spec?: unknown }
    | undefined;
  expect(pool?.spec).toMatchObject({
    replicas: 4,
    members: [{ name: "own", max: 2, cost: "0.10" }, { name: "spare" }],
  });
  expect(clusterObjects(plan, PROVIDERS).some((object) => object.kind === "MachineDeployment")).toBe(false);
  expect(commandOf(plan)).toContain(
    " --pool name=general,replicas=4,strategy=Cheapest --workers name=own,provider=byoh,max=2,cost=0.10 --workers name=spare,provider=memory",
  );
  const wrong = {
    ...pooled,
    groups: [{ ...newGroup(1, offer("memory")), share: { min: "x", max: "", cost: "dear", weight: "" } }],
  };
  expect(Object.keys(problemsOf(wrong, OFFERS))).toEqual(["groups.1.min", "groups.1.cost"]);
});
