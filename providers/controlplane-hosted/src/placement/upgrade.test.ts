import type { ProgramState } from "@capstan/workloads";
import { expect, test } from "vitest";
import { decideUpgrade, READY_WITHIN_MS, type UpgradeRecord } from "./upgrade.ts";

const program = (phase: ProgramState["phase"], restarts = 0, message = ""): ProgramState => ({
  id: { owner: "default/c1", name: "kube-apiserver-next" },
  phase,
  restarts,
  since: 0,
  message,
});
const at = (stage: UpgradeRecord["stage"], rolled = 0): UpgradeRecord => ({
  to: "v1.35.0",
  stage,
  sinceMs: 1000,
  rolled,
});
const view = { lastRolled: undefined, replicas: 2, nowMs: 2000 };

test("tries a successor, which then serves next to the old replicas until they are replaced one by one", () => {
  const stages: string[] = [];
  let upgrade = at("trial");
  for (;;) {
    stages.push(`${upgrade.stage} ${upgrade.rolled}`);
    const decision = decideUpgrade(upgrade, { ...view, successor: program("Ready"), lastRolled: program("Ready") });
    if (decision.type !== "next") {
      expect(decision).toEqual({ type: "done" });
      break;
    }
    upgrade = decision.upgrade;
  }
  expect(stages).toEqual(["trial 0", "surge 0", "roll 1", "roll 2"]);
});

test.each(["trial", "surge"] as const)(
  "fails in %s with the successor's message if the successor keeps exiting",
  (stage) => {
    const successor = program("Failed", 3, "its last error: Error: unknown flag");
    expect(decideUpgrade(at(stage), { ...view, successor })).toEqual({
      type: "failed",
      message: "kube-apiserver v1.35.0 does not become ready: its last error: Error: unknown flag",
    });
  },
);

test("fails if the successor is not ready in time, and waits until then", () => {
  const successor = program("Running", 0, "/readyz answered 500");
  const nowMs = 1000 + READY_WITHIN_MS;
  expect(decideUpgrade(at("trial"), { ...view, successor, nowMs })).toMatchObject({ type: "failed" });
  expect(decideUpgrade(at("trial"), { ...view, successor, nowMs: nowMs - 5 })).toMatchObject({
    type: "wait",
    recheckMs: 5,
  });
});

test("leaves the others alone while one is replaced, however long it takes", () => {
  const late = { ...view, successor: program("Ready"), lastRolled: program("Starting"), nowMs: 1e12 };
  expect(decideUpgrade(at("roll", 1), late)).toMatchObject({ type: "wait" });
});
