import type { EtcdClient, MemberStatus } from "@capstan/etcd";
import { type SpacePlan, type SpaceSettings, spaceProblem } from "./plan-space.ts";

/** A member whose space is looked after. */
export interface SpaceMember {
  readonly client: Pick<EtcdClient, "status" | "compact" | "defragment" | "disarm">;
  readonly endpoint: string;
  readonly status: MemberStatus;
}

/**
 * Carries out a plan: compacts, defragments one member at a time, and lifts the alarm. Returns what is left for a person to do, naming the
 * field with the quota.
 */
export async function makeSpace(
  members: readonly SpaceMember[],
  plan: SpacePlan,
  settings: SpaceSettings | undefined,
  quotaField: string,
): Promise<{ reason: string; message: string } | undefined> {
  const [first] = members;
  if (first === undefined) return undefined;
  if (plan.compact) await first.client.compact(first.endpoint, first.status.revision);
  // One at a time, the leader last, because its pause affects all members.
  const leads = ({ status }: SpaceMember): number => Number(status.memberId === status.leader);
  if (plan.defragment)
    for (const { client, endpoint } of members.toSorted((a, b) => leads(a) - leads(b)))
      await client.defragment(endpoint);
  if (!plan.compact) return undefined;
  const statuses = await Promise.all(members.map(({ client, endpoint }) => client.status(endpoint)));
  const problem = spaceProblem(statuses, settings, quotaField);
  if (problem === undefined) await first.client.disarm(first.endpoint);
  return problem;
}
