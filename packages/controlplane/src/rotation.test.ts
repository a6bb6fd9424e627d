import { expect, test } from "vitest";
import { type Authorities, trusted } from "./authority.ts";
import { type AuthorityData, afterStep, rotationState, rotationStep } from "./rotation.ts";

const idle: AuthorityData = { crt: "old", key: "old key" };

test.each([
  ["Idle", "Trust", "make"],
  ["Trust", "Trust", "none"],
  ["Issue", "Trust", "refused"],
  ["Idle", "Issue", "refused"],
  ["Trust", "Issue", "switch"],
  ["Issue", "Issue", "none"],
  ["Idle", "Retire", "none"],
  ["Trust", "Retire", "refused"],
  ["Issue", "Retire", "drop"],
  ["Trust", undefined, "none"],
] as const)("in state %s phase %s means %s: one step, never backwards", (state, wanted, step) => {
  expect(rotationStep(state, wanted).type).toBe(step);
});

test("goes from the old CA to both, signs with the new one, then drops the old one and its key", () => {
  const both = afterStep(idle, "make", { crt: "new", key: "new key" });
  expect(both).toEqual({ crt: "old", key: "old key", nextCrt: "new", nextKey: "new key" });
  const switched = afterStep(both, "switch");
  expect(switched).toEqual({ crt: "new", key: "new key", previousCrt: "old" });
  expect(afterStep(switched, "drop")).toEqual({ crt: "new", key: "new key" });
  expect([idle, both, switched].map(rotationState)).toEqual(["Idle", "Trust", "Issue"]);
});

test("the bundle stays the same when the signer changes, so that nothing restarts", () => {
  const pair = (certPem: string): { certPem: string; keyPem: string } => ({ certPem, keyPem: "" });
  const authorities = (cluster: string, also?: string): Authorities => ({
    cluster: pair(cluster),
    etcd: pair(""),
    frontProxy: pair(""),
    serviceAccount: { publicKeyPem: "", privateKeyPem: "" },
    ...(also === undefined ? {} : { also: { cluster: also } }),
  });
  expect(trusted(authorities("old"), "cluster")).toBe("old");
  expect(trusted(authorities("old", "new"), "cluster")).toBe("new\nold\n");
  expect(trusted(authorities("new", "old"), "cluster")).toBe("new\nold\n");
});
