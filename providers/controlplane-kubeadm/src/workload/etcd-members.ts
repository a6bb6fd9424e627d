import type { Machine, Node } from "@capstan/capi";
import type { ListedMember } from "@capstan/etcd";
import { REASONS } from "../own-reasons.ts";
import type { Inspection, MemberAnswer } from "./etcd-inspection.ts";
import { health, withoutNode } from "./static-pods.ts";
import type { ObservedMember, ReportedHealth, WorkloadProblem } from "./workload-side.ts";

/** The members of etcd as far as its answers agree, and the health of the member on each Machine. */
export interface EtcdSight {
  readonly members: readonly ObservedMember[] | { readonly unknown: string };
  /** By name of the Machine. */
  readonly health: ReadonlyMap<string, ReportedHealth>;
  /** Set if etcd cannot serve with the members that answer. */
  readonly lostQuorum?: WorkloadProblem | undefined;
}

/** A Node, or what is known of it through its Machine, that members are matched with. */
export interface MemberPlace {
  readonly nodeName: string;
  readonly addresses: readonly string[];
}

const MAX_TEXT = 2000;

/** Combines what the members answered. Lists and cluster ids that differ are never guessed about. */
export function etcdSight(
  machines: readonly Machine[],
  nodes: readonly MemberPlace[],
  inspections: readonly Inspection[],
): EtcdSight {
  const answers = inspections.filter((each): each is MemberAnswer => !("error" in each));
  const cluster = clusterOf(answers.filter(({ place }) => place.machine !== ""));
  const inside = answers.filter(({ clusterId }) => clusterId === cluster);
  const found = membersOf(answers, inside, inspections, nodes);
  // It becomes part of conditions, and whoever answers chooses the names.
  const members = "unknown" in found ? { unknown: found.unknown.slice(0, MAX_TEXT) } : found;
  const of = new Map(inspections.map((each) => [each.place.machine, each]));
  const judged = machines.map((machine): [string, ReportedHealth] => [
    machine.metadata.name ?? "",
    healthOf(machine, of.get(machine.metadata.name ?? ""), members, cluster),
  ]);
  return { members, health: new Map(judged), lostQuorum: lostQuorum(inspections) };
}

/** The cluster that most members on Machines belong to; undefined if that is not clear. */
function clusterOf(answers: readonly MemberAnswer[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { clusterId } of answers) counts.set(clusterId, (counts.get(clusterId) ?? 0) + 1);
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  return first === undefined || first[1] === second?.[1] ? undefined : first[0];
}

function membersOf(
  answers: readonly MemberAnswer[],
  inside: readonly MemberAnswer[],
  inspections: readonly Inspection[],
  nodes: readonly MemberPlace[],
): EtcdSight["members"] {
  const [first] = inside;
  if (first === undefined) {
    if (answers.length > 0)
      return { unknown: `members of etcd belong to different clusters: ${clustersText(answers)}` };
    const errors = [...new Set(inspections.flatMap((each) => ("error" in each ? [each.error] : [])))];
    return { unknown: errors.length === 0 ? "no Machine has a Node yet" : errors.join("; ") };
  }
  const different = inside.find(({ members }) => JSON.stringify(members) !== JSON.stringify(first.members));
  if (different !== undefined)
    return {
      unknown: `the members on Nodes ${first.place.nodeName} and ${different.place.nodeName} list different members: ${namesText(first.members)} and ${namesText(different.members)}`,
    };
  const leader = leaderOf(inside);
  return first.members.map((member) => {
    const own = inside.find(({ memberId }) => memberId === member.id);
    const alarms = inside.flatMap((answer) => answer.alarms.filter(({ memberId }) => memberId === member.id));
    return {
      id: member.id,
      name: member.name,
      nodeName: nodeOf(member, nodes, inside),
      learner: member.isLearner,
      leader: member.id === leader,
      alarms: [...new Set(alarms.map(({ alarm }) => alarm))].filter((alarm) => alarm !== "NONE" && alarm !== ""),
      peerUrls: member.peerUrls,
      clientUrls: member.clientUrls,
      answered: own !== undefined,
      dbSize: own?.status.dbSize,
    };
  });
}

/** During an election members may disagree for a moment: then there is none. */
function leaderOf(answers: readonly MemberAnswer[]): string | undefined {
  const known = new Set(answers.flatMap(({ leader }) => (leader === "" ? [] : [leader])));
  return known.size === 1 ? [...known][0] : undefined;
}

/**
 * The Node of a member: kubeadm names the member after it. Another name is matched by the member that answered there, then by address,
 * never by the name of a Machine.
 */
function nodeOf(
  member: ListedMember,
  nodes: readonly MemberPlace[],
  answers: readonly MemberAnswer[],
): string | undefined {
  if (member.name !== "" && nodes.some(({ nodeName }) => nodeName === member.name)) return member.name;
  const answered = answers.find(({ memberId }) => memberId === member.id);
  if (answered !== undefined) return answered.place.nodeName;
  const hosts = new Set([...member.peerUrls, ...member.clientUrls].flatMap(hostOf));
  const found = nodes.filter(({ addresses }) => addresses.some((address) => hosts.has(address)));
  return found.length === 1 ? found[0]?.nodeName : undefined;
}

function hostOf(url: string): string[] {
  return URL.canParse(url) ? [new URL(url).hostname.replace(/^\[|\]$/g, "")] : [];
}

/** Places of all control plane Nodes, and of Machines whose Node is not known at the moment. */
export function memberPlaces(machines: readonly Machine[], nodes: readonly Node[]): MemberPlace[] {
  const places = new Map<string, Set<string>>();
  const add = (nodeName: string, addresses: readonly { address: string }[] | undefined): void => {
    const known = places.get(nodeName) ?? new Set<string>();
    for (const { address } of addresses ?? []) known.add(address);
    places.set(nodeName, known);
  };
  for (const { metadata, status } of nodes) add(metadata.name ?? "", status?.addresses);
  for (const { status } of machines)
    if (status?.nodeRef?.name !== undefined) add(status.nodeRef.name, status.addresses);
  return [...places].map(([nodeName, addresses]) => ({ nodeName, addresses: [...addresses] }));
}

/** Says that too few members of etcd answer for it to repair itself, by name of their Machines; an election is no loss. */
export function lostQuorum(inspections: readonly Inspection[]): WorkloadProblem | undefined {
  const alive = inspections.filter((each) => "error" in each && each.leaderless === true);
  const isLost = alive.length * 2 <= inspections.length && inspections.every((each) => "error" in each);
  if (inspections.length === 0 || !isLost) return undefined;
  const names = (some: readonly Inspection[]): string =>
    some
      .map(({ place }) => place.machine)
      .sort()
      .join(", ");
  const lost = inspections.filter((each) => !alive.includes(each));
  return {
    reason: REASONS.quorumLost,
    message: `etcd has lost its quorum. Members lost: ${names(lost)}; alive: ${names(alive) || "none"}`,
  };
}

function healthOf(
  machine: Machine,
  inspection: Inspection | undefined,
  members: EtcdSight["members"],
  cluster: string | undefined,
): ReportedHealth {
  if (machine.metadata.deletionTimestamp !== undefined) return health("False", "Deleting", "Machine is deleting");
  const waiting = withoutNode(machine);
  if (waiting !== undefined) return waiting;
  if (inspection === undefined) return health("Unknown", "InspectionFailed", "etcd has not answered yet");
  if ("error" in inspection)
    return health("Unknown", "InspectionFailed", `Failed to connect to etcd: ${inspection.error}`);
  if (cluster !== undefined && inspection.clusterId !== cluster)
    return health(
      "False",
      "NotHealthy",
      `The etcd member on Node ${inspection.place.nodeName} belongs to cluster ${inspection.clusterId}, the other members to ${cluster}`,
    );
  if ("unknown" in members) return health("Unknown", "InspectionFailed", members.unknown);
  const { nodeName } = inspection.place;
  const member = members.find((each) => each.nodeName === nodeName);
  if (member === undefined)
    return health(
      "False",
      "NotHealthy",
      `Etcd reports the cluster is composed by ${members.map(({ name }) => name).join(", ")}, but the etcd member hosted on Machine ${machine.metadata.name} (${nodeName}) is not included`,
    );
  if (member.learner) return health("False", "NotHealthy", "Waiting for learner etcd member to be promoted");
  if (member.alarms.length > 0)
    return health("False", "NotHealthy", `Etcd reports alarms: ${member.alarms.join(", ")}`);
  return health("True", "Healthy");
}

function namesText(members: readonly ListedMember[]): string {
  return `[${members.map(({ id, name }) => (name === "" ? id : name)).join(", ")}]`;
}

function clustersText(answers: readonly MemberAnswer[]): string {
  return answers.map(({ place, clusterId }) => `${place.nodeName} to ${clusterId}`).join(", ");
}
