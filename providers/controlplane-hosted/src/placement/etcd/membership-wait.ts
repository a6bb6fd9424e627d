import type { MembershipWait } from "@capstan/etcd";

/** Describes why the members of etcd are not changed now, and what a user can do. */
export function membershipWait({ reason, message }: MembershipWait): { reason: string; message: string } {
  if (reason !== "EtcdQuorumLost") return { reason, message };
  return { reason, message: `${message}; if they do not recover, set spec.etcd.restoreFrom to a backup` };
}
