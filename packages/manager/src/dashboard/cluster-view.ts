import type { Condition, KubeObject } from "@capstan/apimachinery";
import { conditionsOf } from "@capstan/capi";
import { EventKind, type Kind, type KindRef } from "@capstan/runtime";
import { changeItem, eventItem, isHidden, itemId, objectItem, parentOf } from "./cluster-item.ts";
import type { EventFeeds } from "./event-feeds.ts";
import type { TimelineItem } from "./protocol.ts";
import { type ItemAccess, type Sequence, Topic } from "./topic.ts";
import { CLAIM_INDEX, CLUSTER_INDEX, isHostKind, type ViewsOptions } from "./view-kinds.ts";

interface Member {
  readonly object: KubeObject;
  readonly kind: KindRef;
}

const EVENTS_PER_OBJECT = 20;
/** So much of the past is kept; a cluster that never rests must not fill the memory. */
const MAX_HAPPENINGS = 500;

/** All of one cluster as a topic: its objects, and what happened to them. */
export class ClusterView {
  readonly topic: Topic;
  readonly namespace: string;
  readonly #key: string;
  readonly #options: ViewsOptions;
  readonly #events: EventFeeds;
  readonly #closeEvents: () => void;
  /** Objects as last put into the topic: what is the same object under the same parent needs no second look. */
  readonly #shown = new Map<string, { object: KubeObject; parent: string | undefined }>();
  readonly #conditions = new Map<string, readonly Condition[]>();
  /** Keys of the timeline, in the order they came. */
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

  /** Brings the topic up to date with the cache. */
  refresh(): void {
    const members = this.#members();
    const before = this.topic.size === 0;
    let changed = false;
    const lookup = (id: string): KubeObject | undefined => members.get(id)?.object;
    for (const [id, { object, kind }] of members) {
      if (isHidden(kind.kind)) continue;
      changed = this.#showEvents(id) || changed;
      const parent = parentOf(object, lookup);
      const shown = this.#shown.get(id);
      if (shown?.object === object && shown.parent === parent) continue;
      this.#shown.set(id, { object, parent });
      changed = this.topic.set(id, objectItem(object, kind, parent), accessTo(kind, this.namespace)) || changed;
      changed = this.#showChanges(object, kind, id) || changed;
    }
    for (const id of this.#shown.keys())
      if (!members.has(id)) {
        this.#shown.delete(id);
        this.#conditions.delete(id);
        changed = this.topic.remove(id) || changed;
      }
    if (changed || before) this.topic.announce();
  }

  /** For how long nobody has read this. */
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

  #members(): Map<string, Member> {
    const { cache, kinds } = this.#options;
    const members = new Map<string, Member>();
    const put = (object: KubeObject, kind: KindRef): void => {
      members.set(itemId(kind.kind, object.metadata.name ?? ""), { object, kind });
    };
    const readable = kinds.filter((kind) => cache.synced(kind));
    for (const kind of readable)
      for (const object of cache.byIndex(kind as Kind, CLUSTER_INDEX, this.#key)) put(object, kind);
    // A host belongs to the cluster whose machine claimed it.
    for (const kind of readable.filter(isHostKind))
      for (const id of Array.from(members.keys()))
        for (const host of cache.byIndex(kind as Kind, CLAIM_INDEX, `${this.namespace}/${id}`)) put(host, kind);
    return members;
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

  /** Conditions say when they changed last; from then on every change is seen as it happens. */
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

function accessTo(kind: { group: string; plural: string }, namespace: string): ItemAccess {
  return { group: kind.group, resource: kind.plural, namespace };
}
