import { expect, test } from "vitest";
import { processOptionsOf } from "./process-options.ts";

test("uses the manager's defaults without options", () => {
  expect(processOptionsOf({ options: {} })).toEqual({ controlPlaneLimits: {} });
});

test("parses limits as Kubernetes quantities", () => {
  const options = {
    trustTenants: true,
    controlPlaneMemory: "2Gi",
    controlPlaneCpu: "1500m",
    controlPlaneProcesses: "1k",
  };
  expect(processOptionsOf({ options })).toEqual({
    trustTenants: true,
    controlPlaneLimits: { memoryBytes: 2 ** 31, cpus: 1.5, processes: 1000 },
  });
});

test.each([
  ["controlPlaneMemory", "much", /^--control-plane-memory much is not a quantity such as 2Gi/],
  ["controlPlaneMemory", "64Mi", /^--control-plane-memory 64Mi is too little/],
  ["controlPlaneCpu", "0", /^--control-plane-cpu 0 is too little/],
  ["controlPlaneProcesses", "-1", /^--control-plane-processes -1 is too little/],
])("%s %s is refused", (name, value, message) => {
  expect(() => processOptionsOf({ options: { [name]: value } })).toThrow(message);
});
