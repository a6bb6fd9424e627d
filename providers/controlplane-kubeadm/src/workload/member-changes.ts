import type { ClusterKey } from "@capstan/capi";
import type { EtcdClient } from "@capstan/etcd";
import type { Logger } from "@capstan/runtime";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";

/** Where members are changed. */
export interface MemberTarget {
  readonly ways: EtcdWays;
  readonly cluster: ClusterKey;
  readonly places: readonly EtcdPlace[];
  readonly log: Logger;
  /** Called once the leader changes because of this. */
  readonly moved: () => void;
}

interface Opened {
  readonly place: EtcdPlace;
  readonly client: EtcdClient;
  readonly endpoint: string;
  readonly memberId: string;
  readonly leader: string;
}

/** Removes a member; a leader hands over first. Succeeds if the member is not there any more. */
export async function removeMember(
  target: MemberTarget,
  memberId: string,
  moveLeaderTo: readonly string[],
): Promise<void> {
  const { opened, errors } = await openAll(target);
  // A member that is being removed must not be the one that has to answer.
  const helper = opened.find((each) => each.memberId !== memberId) ?? opened[0];
  if (helper === undefined) throw new Error(`no member of etcd can be reached: ${errors.join("; ")}`);
  const members = await helper.client.members(helper.endpoint, { linearizable: true });
  if (!members.some(({ id }) => id === memberId)) return;
  if (members.length === 1) throw new Error("the last member of etcd is never removed: it has all data of the cluster");
  const leader = opened.find((each) => each.memberId === each.leader);
  const handsOver = leader?.memberId === memberId && moveLeaderTo.length > 0;
  if (handsOver) await handOver(target, leader, moveLeaderTo);
  await helper.client.removeMember(helper.endpoint, memberId);
  // The others elect another one.
  if (!handsOver && helper.leader === memberId) target.moved();
}

/** Moves the leadership to the first member that accepts it; does nothing if one of them leads already. */
export async function moveLeader(target: MemberTarget, to: readonly string[]): Promise<void> {
  const { opened, errors } = await openAll(target);
  if (opened.length === 0) throw new Error(`no member of etcd can be reached: ${errors.join("; ")}`);
  const leader = opened.find((each) => each.memberId === each.leader);
  if (leader === undefined) {
    const known = opened.find((each) => each.leader !== "" && each.leader !== "0")?.leader;
    if (known === undefined) throw new Error("etcd has no leader at the moment");
    if (to.includes(known)) return;
    // Only a leader can hand over. Without an answer of it, its removal or its end lets the others elect another one.
    target.log.info("the leader of etcd cannot be reached to hand over its leadership", { leader: known, errors });
    return;
  }
  if (to.includes(leader.memberId)) return;
  await handOver(target, leader, to);
}

async function handOver(target: MemberTarget, leader: Opened, to: readonly string[]): Promise<void> {
  const refusals: string[] = [];
  for (const id of to) {
    try {
      await leader.client.moveLeader(leader.endpoint, id);
      target.moved();
      return;
    } catch (error) {
      refusals.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`no other member of etcd takes over the leadership: ${refusals.join("; ")}`);
}

async function openAll({ ways, cluster, places }: MemberTarget): Promise<{ opened: Opened[]; errors: string[] }> {
  const opened: Opened[] = [];
  const errors: string[] = [];
  await Promise.all(
    places.map(async (place) => {
      try {
        const { client, endpoint } = await ways.open(cluster, place);
        const { memberId, leader } = await client.status(endpoint);
        opened.push({ place, client, endpoint, memberId, leader });
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error));
      }
    }),
  );
  opened.sort((a, b) => (a.place.nodeName < b.place.nodeName ? -1 : 1));
  return { opened, errors: errors.toSorted() };
}
