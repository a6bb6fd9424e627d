import { type Clock, sleep } from "@capstan/apimachinery";
import type { ClusterKey } from "@capstan/capi";
import type { ListedMember, MemberAlarm, MemberStatus } from "@capstan/etcd";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";
import { type EtcdFigures, etcdFigures } from "./etcd-figures.ts";

/** One member has this long for all questions. */
const LIMIT_MS = 15_000;
/** kubeadm's etcd has at most a member per Machine; a foreign server may list any number. */
const MAX_MEMBERS = 64;
/** So many members without a Machine are asked; further ones count as failed. */
const MAX_ELSEWHERE = 2;

/** What the member on one Machine answered. */
export interface MemberAnswer {
  readonly place: EtcdPlace;
  readonly memberId: string;
  readonly clusterId: string;
  /** Id of the leader as this member knows it; empty without one. */
  readonly leader: string;
  /** Its own status, with what its data takes. */
  readonly status: MemberStatus;
  /** The members that the quorum confirmed, sorted by id. */
  readonly members: readonly ListedMember[];
  readonly alarms: readonly MemberAlarm[];
  readonly figures: EtcdFigures | undefined;
}

/** What was found out about the member on one Machine. */
export type Inspection =
  | MemberAnswer
  | {
      readonly place: EtcdPlace;
      readonly error: string;
      /** The member runs, and there is no quorum that could confirm what it says. */
      readonly leaderless?: true;
    };

/** Asks the members on all Machines at the same time, and then the voting members that they list elsewhere; each has a limited time. */
export async function inspectEtcd(
  ways: EtcdWays,
  cluster: ClusterKey,
  places: readonly EtcdPlace[],
  clock: Clock,
): Promise<Inspection[]> {
  const found = await askAll(ways, cluster, places, clock);
  return [...found, ...(await askAll(ways, cluster, placesElsewhere(found), clock))];
}

/** Where members without a Machine run: kubeadm names them after their Node, which may be gone. */
function placesElsewhere(found: readonly Inspection[]): EtcdPlace[] {
  const answers = found.filter((each): each is MemberAnswer => !("error" in each));
  const asked = new Set([...answers.map(({ memberId }) => memberId), ...found.map(({ place }) => place.nodeName)]);
  const elsewhere = (answers[0]?.members ?? []).filter(
    ({ id, name, isLearner }) => name !== "" && !isLearner && !asked.has(id) && !asked.has(name),
  );
  return elsewhere.slice(0, MAX_ELSEWHERE).map(({ name, clientUrls }) => ({
    machine: "",
    nodeName: name,
    addresses: clientUrls.flatMap((url) => (URL.canParse(url) ? [new URL(url).hostname.replace(/^\[|\]$/g, "")] : [])),
  }));
}

function askAll(
  ways: EtcdWays,
  cluster: ClusterKey,
  places: readonly EtcdPlace[],
  clock: Clock,
): Promise<Inspection[]> {
  return Promise.all(
    places.map(async (place) => {
      const stop = new AbortController();
      try {
        const late = sleep(clock, LIMIT_MS, stop.signal).then(() => {
          throw new Error(`etcd on Node ${place.nodeName} did not answer within ${LIMIT_MS / 1000} s`);
        });
        late.catch(() => undefined);
        return await Promise.race([inspect(ways, cluster, place), late]);
      } catch (error) {
        return { place, error: error instanceof Error ? error.message : String(error) };
      } finally {
        stop.abort(new Error("answered"));
      }
    }),
  );
}

async function inspect(ways: EtcdWays, cluster: ClusterKey, place: EtcdPlace): Promise<Inspection> {
  const { client, endpoint } = await ways.open(cluster, place);
  const status = await client.status(endpoint);
  // It waits for the end of an election.
  const listed = await client.members(endpoint, { linearizable: true }).catch(async (error: unknown) => {
    if (!hasLeader(await client.status(endpoint))) return undefined;
    throw error;
  });
  if (listed === undefined)
    return { place, error: `the member of etcd on Node ${place.nodeName} runs and has no leader`, leaderless: true };
  if (listed.length > MAX_MEMBERS)
    throw new Error(`etcd on Node ${place.nodeName} lists more than ${MAX_MEMBERS} members`);
  const alarms = await client.alarms(endpoint);
  // Figures are for people: without them everything else still works.
  const metrics = await client.metrics(endpoint).catch(() => "");
  return {
    place,
    memberId: text(status.memberId),
    clusterId: text(status.clusterId),
    leader: hasLeader(status) ? text(status.leader) : "",
    status: saneStatus(status),
    members: listed.map(sane).sort((a, b) => (a.id < b.id ? -1 : 1)),
    alarms: alarms
      .slice(0, 4 * MAX_MEMBERS)
      .map((each) => ({ memberId: text(each.memberId), alarm: text(each.alarm) })),
    figures: etcdFigures(metrics),
  };
}

const hasLeader = ({ leader }: { readonly leader: string }): boolean => text(leader) !== "" && text(leader) !== "0";

/** Any program that holds the cluster's keys may have answered. */
function saneStatus(status: MemberStatus): MemberStatus {
  const size = (value: number): number => (Number.isFinite(value) && value >= 0 ? value : 0);
  return {
    memberId: text(status.memberId),
    clusterId: text(status.clusterId),
    leader: text(status.leader),
    revision: text(status.revision),
    dbSize: size(status.dbSize),
    dbSizeInUse: size(status.dbSizeInUse),
    errors: texts(status.errors),
  };
}

function sane(member: ListedMember): ListedMember {
  return {
    id: text(member.id),
    name: text(member.name),
    peerUrls: texts(member.peerUrls),
    clientUrls: texts(member.clientUrls),
    isLearner: member.isLearner === true,
  };
}

const MAX_TEXT = 253;
const MAX_URLS = 16;

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT) : "";
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_URLS).map(text) : [];
}
