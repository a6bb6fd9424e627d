import { seededRandom } from "@capstan/apimachinery";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { PROVISIONING_STATES, type ProvisioningState } from "../kinds/bare-metal-host-status.ts";
import { failure, finished, type StepResult, working } from "../provisioner/provisioner.ts";
import { afterCall, afterStep, type Turn } from "./after-step.ts";
import { nextStep } from "./next-step.ts";
import { emptyStatus, type HostStatus, stateOf } from "./status.ts";
import { DEFAULT_LIMITS, type DriverCall, type HostMemory, type HostView } from "./step.ts";

const IMAGES = ["http://i/a.iso", "http://i/b.iso"];

/** What a person wants at some moment. */
interface Wish {
  readonly online: boolean;
  readonly image: string | undefined;
  readonly adopted: boolean;
  readonly deleting: boolean;
  readonly annotations: Record<string, string>;
}

const wish: fc.Arbitrary<Wish> = fc.record({
  online: fc.boolean(),
  image: fc.option(fc.constantFrom(...IMAGES), { nil: undefined }),
  adopted: fc.boolean(),
  deleting: fc.boolean(),
  annotations: fc
    .subarray(["reboot.metal3.io", "reboot.metal3.io/x", "inspect.metal3.io", "baremetalhost.metal3.io/detached"])
    .map((keys) => Object.fromEntries(keys.map((key) => [key, ""]))),
});

/** How a management controller answers. */
const mood = fc.constantFrom("fine", "slow", "failing", "away", "fatal");

/** A host, a machine and a driver as far as the state machine sees them. */
class Model {
  status: HostStatus = emptyStatus();
  memory: HostMemory = { fingerprint: "" };
  nowMs = 0;
  on = false;
  runs: string | undefined;
  forgotten = false;
  readonly calls: string[] = [];
  annotations: Record<string, string> = {};
  readonly #random = seededRandom(1);

  view(wanted: Wish): HostView {
    const host = {
      apiVersion: BareMetalHost.apiVersion,
      kind: BareMetalHost.kind,
      metadata: {
        name: "h",
        namespace: "d",
        uid: "u",
        annotations: this.annotations,
        ...(wanted.deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
      },
      spec: {
        online: wanted.online,
        bmc: { address: "memory://h", credentialsName: "s" },
        ...(wanted.image === undefined ? {} : { image: { url: wanted.image } }),
        ...(wanted.adopted ? { externallyProvisioned: true } : {}),
      },
    } as BareMetalHost;
    const fingerprint = JSON.stringify(wanted);
    return {
      host,
      status: this.status,
      access: { type: "good", secret: "s", version: "1" },
      conflict: undefined,
      memory: { ...this.memory, fingerprint },
      nowMs: this.nowMs,
      limits: DEFAULT_LIMITS,
    };
  }

  /** One step; gives how long to wait for the next. */
  step(wanted: Wish, how: string): number | undefined {
    const view = this.view(wanted);
    const step = nextStep(view);
    if (step.type === "call") this.check(step.call, wanted);
    const turn: Turn =
      step.type === "call"
        ? afterCall(view, step.call, this.answer(step.call, wanted, how), this.#random)
        : afterStep(view, step, this.#random);
    expect(PROVISIONING_STATES).toContain(turn.status.provisioning.state as ProvisioningState);
    expect(turn.status.errorType === undefined ? turn.status.errorMessage : "").toBe("");
    if (stateOf(view.status) === "deleting") expect(stateOf(turn.status)).toBe("deleting");
    this.status = turn.status;
    this.memory = turn.memory;
    if (turn.forget === true) this.forgotten = true;
    for (const name of turn.dropAnnotations ?? []) delete this.annotations[name];
    return turn.againMs;
  }

  /** What must never be asked of a machine. */
  check({ op }: DriverCall, wanted: Wish): void {
    this.calls.push(op);
    const state = stateOf(this.status);
    if (op === "provision")
      expect([state, wanted.image !== undefined, wanted.deleting]).toEqual(["provisioning", true, false]);
    if (op === "deprovision") expect(state).toBe("deprovisioning");
    if (op === "inspect") expect(state).toBe("inspecting");
    if (op === "powerOn") expect(wanted.online).toBe(true);
  }

  answer(call: DriverCall, wanted: Wish, how: string): StepResult<unknown> {
    if (how === "away") return failure("no answer", { access: "unreachable" });
    if (how === "failing") return failure("no");
    if (how === "fatal") return failure("never", { fatal: true });
    if (how === "slow") return working("slow", 1_000);
    if (call.op === "powerOn" || call.op === "reboot") this.on = true;
    if (call.op === "powerOff" || call.op === "deprovision") this.on = false;
    if (call.op === "deprovision") this.runs = undefined;
    if (call.op === "provision") [this.on, this.runs] = [true, wanted.image];
    if (call.op === "register") return finished({ id: "h" });
    return finished(call.op === "inspect" ? {} : call.op === "power" ? { on: this.on } : undefined);
  }

  /** Lets time pass until nothing is to be done, at most so many steps. */
  settle(wanted: Wish, how: string, steps: number): void {
    for (let count = 0; count < steps && !this.forgotten; count++) {
      const again = this.step(wanted, how);
      if (again === undefined) return;
      this.nowMs += again;
    }
  }
}

test("whatever people want and management controllers answer, nothing forbidden is asked; and with a good one all comes to its end", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(wish, mood, fc.integer({ min: 1, max: 30 })), { maxLength: 12 }),
      wish,
      (past, last) => {
        const model = new Model();
        for (const [wanted, how, steps] of past) {
          model.annotations = { ...wanted.annotations };
          // Deletion cannot be reverted.
          model.settle({ ...wanted, deleting: false }, how, steps);
        }
        model.annotations = last.deleting
          ? {}
          : Object.fromEntries(Object.entries(last.annotations).filter(([key]) => key === "reboot.metal3.io"));
        model.memory = { fingerprint: "" };
        const { provisioningFailCount: _, ...fresh } = model.status;
        model.status = fresh;
        model.settle(last, "fine", 200);
        const state = stateOf(model.status);
        if (last.deleting) {
          expect(model.forgotten).toBe(true);
          if (model.calls.includes("provision") && !model.calls.includes("release")) expect(model.runs).toBeUndefined();
          return;
        }
        expect(model.status.errorType).toBeUndefined();
        expect(model.annotations).toEqual({});
        if (state === "available" || state === "provisioned" || state === "externally provisioned") {
          expect(model.on).toBe(last.online);
          expect(model.status.poweredOn).toBe(last.online);
        } else throw new Error(`stuck in ${state}`);
        if (last.adopted && state !== "provisioned") expect(state).toBe("externally provisioned");
        if (!last.adopted && last.image !== undefined && last.online)
          expect([state, model.status.provisioning.image?.url]).toEqual(["provisioned", last.image]);
        if (!last.adopted && last.image === undefined) expect(state).toBe("available");
      },
    ),
    { numRuns: 300, seed: 1 },
  );
});

test("a management controller that is away is asked ever more rarely", () => {
  const model = new Model();
  const wanted: Wish = { online: true, image: undefined, adopted: false, deleting: false, annotations: {} };
  const waits: number[] = [];
  for (let count = 0; count < 60; count++) {
    const again = model.step(wanted, "away") ?? 0;
    if (again > 0) waits.push(again);
    model.nowMs += again;
  }
  for (const [index, wait] of waits.entries()) {
    const base = Math.min(10_000 * 2 ** index, 1_800_000);
    expect(wait).toBeGreaterThanOrEqual(base);
    expect(wait).toBeLessThanOrEqual(1.5 * base);
  }
  expect(waits.length).toBeGreaterThan(10);
});

test("a change resets the back-off", () => {
  const model = new Model();
  const wanted: Wish = { online: true, image: undefined, adopted: false, deleting: false, annotations: {} };
  model.settle(wanted, "away", 10);
  const before = model.calls.length;
  expect(nextStep(model.view(wanted)).type).toBe("call");
  model.step(wanted, "away");
  expect(nextStep(model.view(wanted))).toMatchObject({ type: "wait" });
  expect(nextStep(model.view({ ...wanted, online: false }))).toMatchObject({ type: "call", call: { op: "register" } });
  expect(model.calls.length).toBe(before + 1);
});
