import { expect, test } from "vitest";
import { troubleOf } from "./facts.ts";

const SINCE = "2026-01-01T00:00:00Z";

test("a host in error says since when, although each attempt renews its status", () => {
  const message = "connect ECONNREFUSED";
  const status = {
    errorType: "registration error",
    errorMessage: message,
    lastUpdated: "2026-01-01T00:59:00Z",
    conditions: [
      { type: "AvailableForProvisioning", status: "False", reason: "X", message, lastTransitionTime: SINCE },
      { type: "Manageable", status: "False", reason: "X", message, lastTransitionTime: "2026-01-01T00:10:00Z" },
      { type: "Progressing", status: "False", reason: "X", message: "", lastTransitionTime: "2026-01-01T00:20:00Z" },
    ],
  };
  const metal = { apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost", metadata: { name: "h" }, status };
  expect(troubleOf(metal)?.lastTransitionTime).toBe("2026-01-01T00:10:00Z");
  const foreign = { ...metal, status: { ...status, conditions: [] } };
  expect(troubleOf(foreign)?.lastTransitionTime).toBe("2026-01-01T00:59:00Z");
});
