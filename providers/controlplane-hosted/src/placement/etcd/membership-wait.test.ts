import { expect, test } from "vitest";
import { membershipWait } from "./membership-wait.ts";

test("says what to do only when the quorum is lost", () => {
  const changing = { reason: "EtcdMembersChanging", message: "etcd-1 starts" } as const;
  expect(membershipWait({ type: "wait", ...changing })).toEqual(changing);
  expect(membershipWait({ type: "wait", reason: "EtcdQuorumLost", message: "etcd-1: its data is gone" })).toEqual({
    reason: "EtcdQuorumLost",
    message: "etcd-1: its data is gone; if they do not recover, set spec.etcd.restoreFrom to a backup",
  });
});
