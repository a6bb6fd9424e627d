/** Clients, membership and tools of etcd. */
export {
  type EtcdClient,
  type EtcdConnect,
  type EtcdCredentials,
  etcdClient,
  type ListedMember,
  type MemberAlarm,
  type MemberStatus,
} from "./client.ts";
export { Deadline } from "./deadline.ts";
export { secured } from "./exchange.ts";
export { isExport, readExport, writeExport } from "./export.ts";
export type { EtcdInProcess } from "./in-process.ts";
export { type EtcdMember, initialCluster } from "./member.ts";
export {
  damageOf,
  describeStep,
  type EtcdMemberRecord,
  firstMembers,
  type MembershipStep,
  type MembershipWait,
  type MemberView,
  membershipStep,
} from "./membership.ts";
export { type EtcdEntry, type EtcdTenant, type EtcdTenants, etcdTenants } from "./tenants.ts";
export {
  adoptRestored,
  type EtcdAccess,
  EtcdToolError,
  etcdVersionOf,
  restoreArguments,
  restoreSnapshot,
  saveSnapshot,
} from "./tools.ts";
export { SnapshotDamaged, verifySnapshot } from "./verify-snapshot.ts";
