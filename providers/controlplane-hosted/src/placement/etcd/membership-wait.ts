import type { MembershipWait } from "@capstan/etcd";

/** Why the members of etcd do not change now, and what a person can do about it. */
export function membershipWait({ reason, message }: MembershipWait): { reason: string; message: string } {
  if (reason !== "EtcdQuorumLost") return { reason, message };
  return { reason, message: `${message}; if they do not come back, set spec.etcd.restoreFrom to a backup` };
}
