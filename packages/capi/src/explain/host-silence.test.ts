import type { Condition, KubeObject } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { silenceOf } from "./host-silence.ts";

const BARE = { apiVersion: "v1", kind: "ByoHost", metadata: { name: "h" } };
const HEARD = "2026-01-01T00:00:00Z";
const at = (seconds: number): number => Date.parse(HEARD) + seconds * 1000;

const host = (connected?: Partial<Condition>): KubeObject & { status: object } => ({
  ...BARE,
  status: {
    lastHeartbeatTime: HEARD,
    conditions: [
      { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: HEARD },
      ...(connected === undefined
        ? []
        : [{ type: "AgentConnected", message: "why", lastTransitionTime: "2026-01-01T00:03:00Z", ...connected }]),
    ],
  },
});

test("a host that is heard of is not silent", () => {
  expect(silenceOf(host({ status: "True", reason: "HeartbeatsArrive" }), at(60))).toBeUndefined();
  expect(silenceOf(host(), at(180))).toBeUndefined();
  expect(silenceOf(host())).toBeUndefined();
  expect(silenceOf(BARE, at(0))).toBeUndefined();
});

test("silence shows in the time before the manager says so, and counts since the last heartbeat", () => {
  expect(silenceOf(host(), at(181))).toMatchObject({
    type: "Ready",
    status: "Unknown",
    reason: "AgentSilent",
    lastTransitionTime: HEARD,
  });
  expect(silenceOf(host({ status: "False", reason: "HeartbeatTimeout" }))).toEqual({
    type: "Ready",
    status: "Unknown",
    reason: "AgentSilent",
    message: "why",
    lastTransitionTime: HEARD,
  });
});

test("silence with a cause of its own keeps it: another cure belongs to it", () => {
  expect(silenceOf(host({ status: "False", reason: "CertificateExpired" }))?.reason).toBe("CertificateExpired");
});
