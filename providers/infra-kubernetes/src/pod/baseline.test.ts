import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CheckedPod, needsPrivileges } from "./baseline.ts";
import { renderPod } from "./render.ts";

interface Recorded extends Partial<CheckedPod> {
  readonly name: string;
  readonly spec: CheckedPod["spec"];
  readonly allowed: boolean;
}

/** What Pod Security of Kubernetes 1.37 says about them. */
const recorded = JSON.parse(
  readFileSync(new URL("testdata/baseline.recorded.json", import.meta.url), "utf8"),
) as Recorded[];

const rendered = (settings: Record<string, unknown>): CheckedPod =>
  renderPod({
    key: { namespace: "a", name: "m1" },
    cluster: "c1",
    controlPlane: false,
    version: "v1.34.4",
    apiPort: 6443,
    settings,
    failureDomain: undefined,
    bootstrapTimeoutSeconds: 600,
  }) as unknown as CheckedPod;

describe("the namespace must allow privileged pods", () => {
  test("for a node by default, and not for one in a user namespace or another runtime", () => {
    expect(needsPrivileges(rendered({}))).toBe(true);
    expect(needsPrivileges(rendered({ podTemplate: { spec: { hostUsers: false } } }))).toBe(false);
    expect(needsPrivileges(rendered({ runtimeClassName: "sysbox" }))).toBe(false);
  });

  test.each(recorded)("exactly where Pod Security's level baseline refuses the pod: $name", (pod) => {
    expect(needsPrivileges({ metadata: pod.metadata ?? {}, spec: pod.spec })).toBe(!pod.allowed);
  });

  test.each(recorded)("by a template's pod as much as by itself: $name", ({ metadata, spec, allowed }) => {
    const podTemplate = { ...(metadata === undefined ? {} : { metadata }), spec: { hostUsers: false, ...spec } };
    expect(needsPrivileges(rendered({ podTemplate }))).toBe(!allowed);
  });
});
