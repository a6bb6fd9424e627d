import { expect, test } from "vitest";
import { isDeferrable, type StatusDeferral } from "./status-deferral.ts";

const FIELDS: StatusDeferral = {
  explaining: new Set(["conditions", "observedGeneration"]),
  decisive: new Set(["Ready", "Available"]),
};

const condition = (type: string, status: string, message = "") => ({ type, status, reason: "R", message });

test.each<[string, object | undefined, object, boolean]>([
  ["a first status that waits", undefined, { replicas: 0, conditions: [condition("Ready", "False")] }, true],
  ["a first status that is there", undefined, { conditions: [condition("Available", "True")] }, false],
  ["a first status with a flag", undefined, { initialization: { provisioned: true }, conditions: [] }, false],
  [
    "another message",
    { conditions: [condition("Ready", "Unknown", "a")] },
    { conditions: [condition("Ready", "False", "b")] },
    true,
  ],
  [
    "what became true",
    { conditions: [condition("Ready", "False")] },
    { conditions: [condition("Ready", "True")] },
    false,
  ],
  ["a reason", { conditions: [] }, { conditions: [condition("MachinesReady", "True")] }, true],
  ["what ceased", { conditions: [condition("Ready", "True")] }, { conditions: [condition("Ready", "Unknown")] }, false],
  ["replicas", { replicas: 1, conditions: [] }, { replicas: 2, conditions: [] }, false],
  [
    "an observed generation",
    { observedGeneration: 1, conditions: [] },
    { observedGeneration: 2, conditions: [] },
    true,
  ],
  ["a flag", { conditions: [] }, { initialization: { provisioned: true }, conditions: [] }, false],
  ["a reference", { conditions: [] }, { nodeRef: { name: "n" }, conditions: [] }, false],
])("%s", (_, old, next, deferrable) => {
  expect(isDeferrable(old, next, FIELDS)).toBe(deferrable);
});

test("the field lists decide what is deferred", () => {
  const [old, next] = [{ phase: "Pending" }, { phase: "Running" }];
  expect(isDeferrable(old, next, FIELDS)).toBe(false);
  expect(isDeferrable(old, next, { ...FIELDS, explaining: new Set(["phase"]) })).toBe(true);
});
