import type { Condition, KubeObject } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { silentAtMs, troubleOf } from "./trouble.ts";

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
  expect(troubleOf(host({ status: "True", reason: "HeartbeatsArrive" }), at(60))).toBeUndefined();
  expect(troubleOf(host(), at(180))).toBeUndefined();
  expect(troubleOf(host(), at(0))).toBeUndefined();
  expect(troubleOf(BARE, at(0))).toBeUndefined();
});

test("silence shows in the time before the manager says so, and counts since the last heartbeat", () => {
  expect(troubleOf(host(), at(181))).toMatchObject({
    type: "Ready",
    status: "Unknown",
    reason: "AgentSilent",
    lastTransitionTime: HEARD,
  });
  expect(troubleOf(host({ status: "False", reason: "HeartbeatTimeout" }), at(0))).toEqual({
    type: "Ready",
    status: "Unknown",
    reason: "AgentSilent",
    message: "why",
    lastTransitionTime: HEARD,
  });
});

test("a host whose clock is behind is silent only when the manager says so", () => {
  const skew = { type: "ClockInSync", status: "False", reason: "ClockSkew", message: "", lastTransitionTime: HEARD };
  const skewed = (connected: Partial<Condition>): KubeObject => {
    const { status } = host(connected) as { status: { conditions: object[] } };
    return { ...BARE, status: { ...status, conditions: [...status.conditions, skew] } } as KubeObject;
  };
  const heard = skewed({ status: "True", reason: "HeartbeatsArrive" });
  expect(troubleOf(heard, at(600))).toBeUndefined();
  expect(silentAtMs(heard, at(0))).toBeUndefined();
  expect(troubleOf(skewed({ status: "False", reason: "HeartbeatTimeout" }), at(600))?.reason).toBe("AgentSilent");
});

test("silence with a cause of its own keeps it: another cure belongs to it", () => {
  expect(troubleOf(host({ status: "False", reason: "CertificateExpired" }), at(0))?.reason).toBe("CertificateExpired");
});
