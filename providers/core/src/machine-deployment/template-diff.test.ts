import type { MachineDeployment } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { isExpired, rolloutDifferences, sameRollout, untilRollout } from "./template-diff.ts";

type Template = MachineDeployment["spec"]["template"];
type Spec = Template["spec"];

const ref = (kind: string, name: string) => ({ apiGroup: "example.com", kind, name });
const spec: Spec = {
  clusterName: "c",
  version: "v1.36.1",
  bootstrap: { configRef: ref("KubeadmConfigTemplate", "b") },
  infrastructureRef: ref("LabMachineTemplate", "i"),
};
const template = (more: Partial<Spec> = {}): Template => ({ spec: { ...spec, ...more } });

describe("templates", () => {
  test.each<[string, Partial<Spec>, string[]]>([
    ["the same template", {}, []],
    ["a field that changes in place", { deletion: { nodeDrainTimeoutSeconds: 5 } }, []],
    ["another version", { version: "v1.37.1" }, ["Version v1.36.1, v1.37.1 required"]],
    ["a failure domain", { failureDomain: "a" }, ["Failure domain , a required"]],
    [
      "another bootstrap template",
      { bootstrap: { configRef: ref("KubeadmConfigTemplate", "other") } },
      ["KubeadmConfigTemplate is not up-to-date"],
    ],
    [
      "another kind of bootstrap template",
      { bootstrap: { configRef: ref("OtherTemplate", "b") } },
      ["spec.bootstrap is not up-to-date"],
    ],
    ["bootstrap data", { bootstrap: { dataSecretName: "s" } }, ["spec.bootstrap is not up-to-date"]],
    [
      "another infrastructure template",
      { infrastructureRef: ref("LabMachineTemplate", "other") },
      ["LabMachineTemplate is not up-to-date"],
    ],
    [
      "another kind of infrastructure template",
      { infrastructureRef: ref("OtherTemplate", "i") },
      ["LabMachineTemplate, OtherTemplate required"],
    ],
    [
      "several differences",
      { version: "v1.37.1", infrastructureRef: ref("LabMachineTemplate", "other") },
      ["Version v1.36.1, v1.37.1 required", "LabMachineTemplate is not up-to-date"],
    ],
  ])("%s", (_what, more, differences) => {
    expect(rolloutDifferences(template(), template(more))).toEqual(differences);
    expect(sameRollout(template(), template(more))).toBe(differences.length === 0);
    expect(sameRollout(template(more), template())).toBe(differences.length === 0);
  });
});

describe("rollout.after", () => {
  const AFTER = "2026-01-01T00:00:00Z";
  const at = Date.parse(AFTER);
  const deployment = (after?: string) =>
    ({ spec: after === undefined ? {} : { rollout: { after } } }) as MachineDeployment;
  const before = new Date(at - 1000).toISOString();

  test.each<[string, string | undefined, number, number | undefined]>([
    ["not set", undefined, at, undefined],
    ["no time", "soon", at, undefined],
    ["ahead", AFTER, at - 5000, 5000],
    ["now", AFTER, at, 0],
    ["in the past", AFTER, at + 5000, 0],
  ])("%s", (_what, after, now, left) => expect(untilRollout(deployment(after), now)).toBe(left));

  test.each<[string, string | undefined, string | undefined, number, boolean]>([
    ["an object created before it, when it has passed", AFTER, before, at, true],
    ["an object created before it, while it is ahead", AFTER, before, at - 1, false],
    ["an object created at that very time", AFTER, AFTER, at, false],
    ["an object created afterwards", AFTER, new Date(at + 1000).toISOString(), at + 2000, false],
    ["an object without a creation time", AFTER, undefined, at, false],
    ["without rollout.after", undefined, before, at, false],
    ["a rollout.after that is no time", "soon", before, at, false],
  ])("expires %s", (_what, after, created, now, expired) =>
    expect(isExpired(deployment(after), created, now)).toBe(expired),
  );
});
