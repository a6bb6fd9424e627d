import { ApiError } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { hostOutcome } from "./host-outcome.ts";

const forbidden = (message: string): ApiError =>
  new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "Forbidden",
    message,
    code: 403,
  });

test("an unknown RuntimeClass is a problem of the template, not of permissions", () => {
  const error = forbidden('pods "m1" is forbidden: pod rejected: RuntimeClass "sysbox" not found');
  expect(hostOutcome(error, "default")).toMatchObject({
    type: "failed",
    reason: "HostClusterRefuses",
    message: error.message,
    cure: expect.stringContaining("Create that RuntimeClass") as string,
  });
});
