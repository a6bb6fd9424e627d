import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../../packages/cli/src/program.ts";
import { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import { RecoveryWorld } from "../testing/recovery-world.ts";

let at: RecoveryWorld;

beforeEach(async () => {
  at = await RecoveryWorld.start();
}, 60_000);
afterEach(() => at.close());

interface Run {
  code: number;
  errors: string;
}

/** Runs `capstan recover c1` while virtual time advances; `ask` is called with the plan that is shown. */
async function recover(ask: (shown: string) => Promise<void>): Promise<Run> {
  let errors = "";
  let running = true;
  const client = at.world.user;
  const io = {
    out: () => undefined,
    err: (text: string) => {
      errors += text;
    },
    env: {},
    interactive: true,
    clock: systemClock,
    target: { client, description: "the plane", server: "", caPem: "", close: () => Promise.resolve() },
    ask: async () => {
      await ask(errors);
      return "yes";
    },
  };
  const ended = runProgram(["recover", "c1", "--no-wait"], io).finally(() => {
    running = false;
  });
  while (running) {
    await at.world.plane.settle(100);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return { code: await ended, errors };
}

const names = async (): Promise<string[]> => (await at.world.machines()).map(({ metadata }) => metadata.name ?? "");

test("approves the plan that it has shown", async () => {
  const [survivor, ...others] = (await at.powerOff(1)).map(({ metadata }) => metadata.name ?? "");
  const { code, errors } = await recover((shown) => {
    expect(shown).toContain(`Do not answer: ${others.join(", ")}; answer: ${survivor}.`);
    return Promise.resolve();
  });
  expect(errors).not.toContain("error:");
  expect(code).toBe(0);
  const [recovery] = await at.world.list(ControlPlaneRecovery);
  await at.reached(
    ({ status }) => status?.phase === "Starting" && status.machine !== undefined,
    recovery?.metadata.name,
  );
});

test("does not approve a plan that changed while the question was open, and nothing is deleted", async () => {
  const before = await at.powerOff(1);
  at.ways.behind.set(before[0]?.status?.nodeRef?.name ?? "", 90);
  const { code, errors } = await recover(async () => {
    at.ways.dead.delete(before[1]?.status?.nodeRef?.name ?? "");
    at.ways.dead.add(before[0]?.status?.nodeRef?.name ?? "");
    await at.world.plane.settle(60_000);
  });
  expect(code).toBe(1);
  expect(errors).toContain("the plan has changed since it was shown");
  await at.world.plane.settle(60_000);
  expect(await names()).toEqual(before.map(({ metadata }) => metadata.name));
});
