import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { type Clock, type Random, systemRandom } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";
import type { ControlPlanePlan, Placement, PlacementState } from "../placement/placement.ts";

/** A test environment for a placement, with the operations that tests need. */
export interface PlacementWorld {
  readonly placement: Placement;
  readonly clock: Clock;
  /** Spec fields that this placement needs. */
  readonly spec: Partial<HostedControlPlaneSpec>;
  /** Creates the placement of a new manager over the same world. */
  again(): Promise<Placement>;
  /** Advances the world: a moment for processes, a step of the pods' cluster. */
  progress(): Promise<void>;
  /** Returns everything that exists of an owner, each with a name that changes when it is replaced. */
  things(owner: string): Promise<string[]>;
  /** Returns an identifier of an owner's data, which differs for other data; undefined without data. */
  dataOf(owner: string): Promise<string | undefined>;
  close(): Promise<void>;
}

/** One behaviour that every placement must have. */
export interface PlacementCase {
  readonly name: string;
  run(): Promise<void>;
}

const OWNER = "default/c1";
const VERSION = "v1.34.4";
const NEXT = "v1.34.5";
const UID = "11111111-2222-3333-4444-555555555555";
/** The last plan of each world, so that cases that share one continue with it. */
const plans = new WeakMap<PlacementWorld, Map<string, ControlPlanePlan>>();
/** Maximum number of steps of the world until something must have happened. */
const PATIENCE = 600;

/**
 * Returns the contract tests of placements: `for (const { name, run } of placementCases(open)) it(name, run)`. `open` may return the same
 * world each time; then the cases run in this order on the same control plane.
 */
export function placementCases(open: () => Promise<PlacementWorld>): PlacementCase[] {
  return Object.entries(CASES).map(([name, run]) => ({
    name,
    run: async () => {
      const world = await open();
      try {
        await run(world);
      } finally {
        await world.close();
      }
    },
  }));
}

const CASES: Record<string, (world: PlacementWorld) => Promise<void>> = {
  "reserves an address before anything runs, the same one every time": async (world) => {
    const first = await reserve(world);
    deepEqual(await reserve(world), first);
    deepEqual(await reserve(world, world.placement, first), first);
    equal((await world.things(OWNER)).filter((thing) => /pod|process/i.test(thing)).length, 0);
  },

  "runs a plan until its API is ready in the requested version": async (world) => {
    const { state } = await start(world);
    equal(state.version, VERSION);
    equal(state.readyReplicas, 1);
    equal(state.problem, undefined);
    deepEqual(
      state.components.filter((component) => !component.ready),
      [],
    );
  },

  "leaves components alone that run as planned, however often it is called": async (world) => {
    const { plan } = await start(world);
    const before = await world.things(OWNER);
    for (let pass = 0; pass < 3; pass++) ok((await world.placement.ensure(plan)).apiReady);
    deepEqual(await world.things(OWNER), before);
  },

  "observes the same state without a plan, and changes nothing": async (world) => {
    const { plan } = await start(world);
    const before = await world.things(OWNER);
    const { components, apiReady, readyReplicas } = await world.placement.ensure(plan);
    const seen = await world.placement.observe(OWNER, { spec: plan.spec, objectUid: UID });
    const byName = (list: typeof components) => list.map(({ name, ready }) => `${name} ${ready}`).toSorted();
    deepEqual(byName(seen.components), byName(components));
    deepEqual([seen.apiReady, seen.readyReplicas], [apiReady, readyReplicas]);
    deepEqual(await world.things(OWNER), before);
    equal((await world.placement.observe("default/never", { spec: plan.spec })).apiReady, false);
  },

  "a new manager finds everything and replaces nothing": async (world) => {
    const { plan } = await start(world);
    const before = await world.things(OWNER);
    const other = await world.again();
    deepEqual(await reserve(world, other, plan.endpoint), plan.endpoint);
    await until(world, "ready", async () => (await other.ensure(plan)).apiReady);
    deepEqual(await world.things(OWNER), before);
  },

  "another version replaces the serving one, which responds until then, and the data stays": async (world) => {
    const { plan } = await start(world);
    const data = await world.dataOf(OWNER);
    const next = { ...plan, version: NEXT, spec: { ...plan.spec, version: NEXT } };
    plans.get(world)?.set(OWNER, next);
    let state = await world.placement.ensure(next);
    await until(
      world,
      "the next version",
      async () => {
        ok(state.apiReady, `the API responds all the time: ${JSON.stringify(state)}`);
        // Until it serves, the upgrade is reported.
        ok(state.version === NEXT || state.upgrade !== undefined, `the upgrade is reported: ${JSON.stringify(state)}`);
        if (state.version === NEXT && state.upgrade === undefined && state.components.every(({ ready }) => ready))
          return true;
        state = await world.placement.ensure(next);
        return false;
      },
      () => JSON.stringify(state),
    );
    equal(await world.dataOf(OWNER), data);
  },

  "a hibernated control plane does not respond and keeps its data, also when it starts again": async (world) => {
    const { plan } = await start(world);
    const data = await world.dataOf(OWNER);
    notEqual(data, undefined);
    const placed = { spec: plan.spec, objectUid: UID };
    await until(world, "nothing ready", async () => {
      equal((await world.placement.hibernate(OWNER, placed)).apiReady, false);
      return (await world.things(OWNER)).every((thing) => !/pod|process/i.test(thing));
    });
    equal((await world.placement.observe(OWNER, placed)).apiReady, false);
    equal(await world.dataOf(OWNER), data);
    await until(world, "ready again", async () => (await world.placement.ensure(plan)).apiReady);
    equal(await world.dataOf(OWNER), data);
  },

  "removing one control plane does not affect another": async (world) => {
    const { plan } = await start(world);
    const before = await world.things(OWNER);
    const other = await start(world, "default/c2");
    const placed = { spec: other.plan.spec, objectUid: UID };
    await until(world, "nothing left", async () => (await world.placement.remove("default/c2", placed)).length === 0);
    deepEqual(await world.things("default/c2"), []);
    ok((await world.placement.ensure(plan)).apiReady);
    deepEqual(await world.things(OWNER), before);
  },

  "removal leaves nothing behind and can be repeated": async (world) => {
    const { plan } = await start(world);
    const placed = { spec: plan.spec, objectUid: UID };
    await until(world, "nothing left", async () => (await world.placement.remove(OWNER, placed)).length === 0);
    deepEqual(await world.things(OWNER), []);
    deepEqual(await world.placement.remove(OWNER, placed), []);
    deepEqual(await world.placement.remove("default/never", placed), []);
  },
};

async function reserve(
  world: PlacementWorld,
  placement = world.placement,
  endpoint?: { host: string; port: number },
  owner = OWNER,
): Promise<{ host: string; port: number }> {
  const spec = { version: VERSION, ...world.spec };
  let answer = await placement.reserve({ owner, objectUid: UID, spec, endpoint });
  for (let turn = 0; answer.type === "wait" && turn < PATIENCE; turn++) {
    await world.progress();
    answer = await placement.reserve({ owner, objectUid: UID, spec, endpoint });
  }
  if (answer.type !== "reserved") throw new Error(`${answer.reason}: ${answer.message}`);
  return answer.endpoint;
}

/** Creates a plan for a control plane with its own endpoint and CAs. */
export async function makePlan(world: PlacementWorld, owner: string): Promise<ControlPlanePlan> {
  const endpoint = await reserve(world, world.placement, undefined, owner);
  return {
    owner,
    objectUid: UID,
    clusterName: owner.split("/")[1] ?? "",
    spec: { version: VERSION, ...world.spec },
    version: VERSION,
    endpoint,
    network: clusterNetwork(undefined),
    authorities: await makeAuthorities(world.clock),
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
  };
}

async function start(world: PlacementWorld, owner = OWNER): Promise<{ plan: ControlPlanePlan; state: PlacementState }> {
  const known = plans.get(world) ?? new Map<string, ControlPlanePlan>();
  plans.set(world, known);
  const plan = known.get(owner) ?? (await makePlan(world, owner));
  known.set(owner, plan);
  let state = await world.placement.ensure(plan);
  await until(
    world,
    "everything ready",
    async () => {
      state = await world.placement.ensure(plan);
      return state.apiReady && state.components.every((component) => component.ready);
    },
    () => JSON.stringify(state),
  );
  return { plan, state };
}

async function until(
  world: PlacementWorld,
  what: string,
  check: () => Promise<boolean>,
  explain: () => string = () => "",
): Promise<void> {
  for (let turn = 0; turn < PATIENCE; turn++) {
    if (await check()) return;
    await world.progress();
  }
  throw new Error(`${what}: not after ${PATIENCE} steps ${explain()}`);
}

async function makeAuthorities(clock: Clock, random: Random = systemRandom): Promise<Authorities> {
  const ca = (commonName: string) =>
    createCertificateAuthority({
      commonName,
      algorithm: "ECDSA-P256",
      notBeforeMs: clock.now() - 300_000,
      validMs: 3650 * 24 * 3600_000,
      random,
    });
  return {
    cluster: await ca("kubernetes"),
    etcd: await ca("etcd-ca"),
    frontProxy: await ca("front-proxy-ca"),
    serviceAccount: await createServiceAccountKey("ECDSA-P256"),
  };
}
