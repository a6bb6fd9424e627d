import { expect, test } from "vitest";
import { authoritiesCondition } from "./authorities-condition.ts";

const FAR_MS = 10 * 365 * 24 * 3600_000;

test.each([
  [[{ authority: "cluster", state: "Idle" }], FAR_MS, /^True Current/],
  [[{ authority: "cluster", state: "Trust" }], FAR_MS, /^False NewTrusted: .*every node.*phase to Issue$/],
  [[{ authority: "etcd", state: "Trust" }], FAR_MS, /^False NewTrusted: .*nodes are not affected.*phase to Issue$/],
  [[{ authority: "cluster", state: "Issue" }], FAR_MS, /^False NewInUse: .*fetch new kubeconfigs.*phase to Retire$/],
  [[{ authority: "serviceAccount", state: "Issue" }], FAR_MS, /^False NewInUse: .*new tokens.*phase to Retire$/],
  [
    [{ authority: "cluster", state: "Idle", problem: "too early" }],
    FAR_MS,
    /^False InvalidRotation: .*Cluster: too early/,
  ],
  [[{ authority: "cluster", state: "Idle" }], 1000, /^False ExpiresSoon: .*phase to Trust/],
] as const)("reports %j with the next step", (reports, endMs, text) => {
  const condition = authoritiesCondition(reports, endMs, 0);
  expect(`${condition.status} ${condition.reason}: ${condition.message}`).toMatch(text);
});
