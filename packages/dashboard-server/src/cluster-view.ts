import type { Condition, KubeObject } from "@capstan/apimachinery";
import { assess, clusterTree, conditionsOf, isHidden, parentOf, stateOf } from "@capstan/capi";
import { EventKind, type KindRef } from "@capstan/runtime";
import { changeItem, eventItem, objectItem } from "./cluster-item.ts";
import { clusterMembers } from "./cluster-members.ts";
import type { EventFeeds } from "./event-feeds.ts";
import type { ObjectItem, TimelineItem } from "./protocol.ts";
import { type ItemAccess, type Sequence, Topic } from "./topic.ts";
import type { ViewsOptions } from "./view-kinds.ts";

const EVENTS_PER_OBJECT = 50;
/** Number of timeline entries that are kept, so that a busy cluster cannot exhaust memory. */
const MAX_HAPPENINGS = 500;

/** At most this many causes are sent: a cluster whose hosts have all died has one for each of them. */
const MAX_CAUSES = 50;

/** Keeps one cluster as a topic: its objects, and the timeline of what happened to them. */
export class ClusterView {
  readonly topic: Topic;
  readonly namespace: string;
  readonly #key: string;
  readonly #options: ViewsOptions;
  readonly #events: EventFeeds;
  readonly #closeEvents: () => void;
  /** Ids of the objects that are in the topic. */
  readonly #shown = new Set<string>();
  readonly #conditions = new Map<string, readonly Condition[]>();
  /** Keys of the timeline, in order of arrival. */
  readonly #happenings = new Set<string>();
  #unreadSince: number | undefined;

  constructor(namespace: string, name: string, options: ViewsOptions, sequence: Sequence, events: EventFeeds) {
    this.namespace = namespace;
    this.#key = `${namespace}/${name}`;
    this.topic = new Topic(`cluster:${this.#key}`, sequence);
    this.#options = options;
    this.#events = events;
    this.#closeEvents = events.open(namespace);
  }

  /** Whether the object (`Kind/name`) is shown here. */
  has(id: string): boolean {
    return this.#shown.has(id);
  }

  /** Brings the topic up to date with the cache and the time. */
  refresh(): void {
    const { cache, kinds, clock, providers } = this.#options;
    const members = clusterMembers(cache, kinds, this.#key);
    const before = this.topic.size === 0;
    const states = this.#statesOf(
      [...members.values()].map(({ object }) => object),
      clock.now(),
    );
    const lookup = (id: string): KubeObject | undefined => members.get(id)?.object;
    let changed = false;
    for (const [id, { object, kind }] of members) {
      if (isHidden(kind.kind)) continue;
      changed = this.#showEvents(id) || changed;
      const context = { nowMs: clock.now(), providers };
      const item = { ...objectItem(object, kind, parentOf(object, lookup, context.providers), context), ...states(id) };
      this.#shown.add(id);
      changed = this.topic.set(id, item, accessTo(kind, this.namespace)) || changed;
      changed = this.#showChanges(object, kind, id) || changed;
    }
    for (const id of this.#shown)
      if (!members.has(id)) {
        this.#shown.delete(id);
        this.#conditions.delete(id);
        changed = this.topic.remove(id) || changed;
      }
    if (changed || before) this.topic.announce();
  }

  /** The states of the objects by id, with every cause for the Cluster. */
  #statesOf(
    objects: readonly KubeObject[],
    nowMs: number,
  ): (id: string) => Pick<ObjectItem, "state" | "causes" | "activities"> {
    const { providers } = this.#options;
    const { root, nodes } = clusterTree(objects, { nowMs, providers });
    const whole = root === undefined ? undefined : assess(root, { nowMs, providers, namespace: this.namespace });
    return (id) => {
      const node = nodes.get(id);
      if (node === undefined || node === root)
        return {
          state: whole?.state ?? UNSEEN,
          causes: whole?.causes.slice(0, MAX_CAUSES) ?? [],
          activities: whole?.activities ?? [],
        };
      return { state: stateOf(node, { nowMs, providers }, whole?.state) };
    };
  }

  /** How long this has had no readers. */
  unreadFor(now: number): number {
    if (this.topic.read) {
      this.#unreadSince = undefined;
      return 0;
    }
    this.#unreadSince ??= now;
    return now - this.#unreadSince;
  }

  close(): void {
    this.#closeEvents();
  }

  #showEvents(id: string): boolean {
    let changed = false;
    const access = accessTo(EventKind, this.namespace);
    const newest = this.#events
      .about(this.namespace, id)
      .sort((a, b) => Number(b.metadata.resourceVersion ?? 0) - Number(a.metadata.resourceVersion ?? 0))
      .slice(0, EVENTS_PER_OBJECT);
    for (const event of newest)
      changed = this.#happened(`event/${event.metadata.name ?? ""}`, eventItem(event), access) || changed;
    return changed;
  }

  /** Conditions record their last transition; later ones are observed as they happen. */
  #showChanges(object: KubeObject, kind: KindRef, id: string): boolean {
    const now = conditionsOf(object as { status?: unknown });
    const before = this.#conditions.get(id);
    this.#conditions.set(id, now);
    let changed = false;
    for (const condition of now) {
      const old = before?.find((candidate) => candidate.type === condition.type);
      if (old?.status === condition.status && old.reason === condition.reason) continue;
      const key = `change/${id}/${condition.type}/${condition.lastTransitionTime}/${condition.status}/${condition.reason}`;
      const item = changeItem(kind.kind, object.metadata.name ?? "", condition);
      changed = this.#happened(key, item, accessTo(kind, this.namespace)) || changed;
    }
    return changed;
  }

  #happened(key: string, item: TimelineItem, access: ItemAccess): boolean {
    if (!this.topic.set(key, item, access)) return false;
    this.#happenings.add(key);
    for (const oldest of this.#happenings) {
      if (this.#happenings.size <= MAX_HAPPENINGS) break;
      this.#happenings.delete(oldest);
      this.topic.remove(oldest);
    }
    return true;
  }
}

/** The state of objects whose Cluster is not in the cache. */
const UNSEEN = { state: "Unknown", reason: "NotYetReported", message: "", since: "" } as const;

function accessTo(kind: { group: string; plural: string }, namespace: string): ItemAccess {
  return { group: kind.group, resource: kind.plural, namespace };
}
