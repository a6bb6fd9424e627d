import { deepCopy, findCondition, isReason, type KubeObject } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, Machine, resolveReference } from "@capstan/capi";
import { ByoHost, ENROLMENT_ANNOTATION } from "@capstan/host-agent";
import { type Cache, type Client, keyText, type ObjectKey, type Request } from "@capstan/runtime";
import { AgentRights } from "./agent-rights.ts";
import {
  type HostLists,
  hostMatches,
  isNews,
  isSilent,
  type Knowledge,
  SILENT_AFTER_MS,
  type Wanted,
  whyTaken,
} from "./choose-host.ts";
import { K8sInstallerConfig } from "./kinds/k8s-installer-config.ts";
import { MACHINE_ID_ANNOTATION, MachineIds } from "./machine-ids.ts";

/** Finalizer that keeps a claimed ByoHost until it is clean again. */
export const HOST_FINALIZER = "byohost.infrastructure.cluster.x-k8s.io";
/** A machine-id that nobody else had for this long is written down as the host's. */
const RECORD_MS = 60_000;

const BY_MACHINE = "machine-uid";
const BY_PROVIDER_ID = "provider-id";
const BY_CLUSTER = "cluster";
const BY_MACHINE_ID = "machine-id";
const FREE = "free";

/** A machine that may have a host. */
type Claimant = KubeObject & { spec?: { providerID?: string } };

/** Finds, claims and releases hosts through their ByoHost objects; the backend of the provider. */
export class Hosts {
  #bound: { cache: Cache; client: Client } | undefined;
  /** Machines that found no host, in the order they came, and which hosts would do. */
  readonly #waiting = new Map<string, { request: Request; matches(host: ByoHost): boolean }>();
  readonly rights = new AgentRights(() => this.#client);
  /** Hosts with a claim under way. */
  readonly #claiming = new Set<string>();
  /** Machines whose last claim failed, and on which host: its answer may have been lost after it was carried out. */
  readonly #doubts = new Map<string, ObjectKey>();
  /** The last heartbeat of each host and when it was seen to arrive; nothing is known of what was there before we were. */
  readonly #heard = new Map<string, { beat: string; at: number | undefined }>();
  /** From when on each host has been listened to without a gap, and when that was last checked. */
  readonly #listening = new Map<string, { since: number; last: number }>();
  readonly #machineIds = new MachineIds();
  /** What is known of hosts beyond their objects. */
  readonly knowledge: Knowledge = {
    isTaken: (host) => this.isBeingClaimed(host),
    heardAt: (host) => this.heardAt(host),
    twinOf: (host) => this.twinOf(host),
  };

  /** Sets the cache and client for ByoHosts and adds indexes; call it before the cache starts. */
  bind(cache: Cache): void {
    this.#bound = { cache, client: cache.client.withFieldManager("capstan-byoh") };
    // A claim counts in the host's own namespace only: whoever writes a host must not speak for the machines of others.
    cache.addIndex(ByoHost, BY_MACHINE, (host) =>
      claimOf(host) === undefined ? [] : [keyText(host.metadata.namespace, host.spec?.machineRef?.uid ?? "")],
    );
    cache.addIndex(ByoHost, BY_PROVIDER_ID, (host) =>
      claimOf(host) === undefined || host.spec?.providerID === undefined
        ? []
        : [keyText(host.metadata.namespace, host.spec.providerID)],
    );
    cache.addIndex(ByoHost, BY_MACHINE_ID, (host) =>
      host.status?.machineID === undefined ? [] : [`${host.metadata.namespace}/${host.status.machineID}`],
    );
    cache.addIndex(ByoHost, BY_CLUSTER, (host) => {
      const name = host.metadata.labels?.[CLUSTER_NAME_LABEL] ?? host.spec?.release?.clusterName;
      return name === undefined ? [] : [`${host.metadata.namespace}/${name}`];
    });
    cache.addIndex(ByoHost, FREE, (host) =>
      whyTaken(host) === undefined ? (host.metadata.namespace ?? "") : undefined,
    );
  }

  get #cache(): Cache {
    return this.#where.cache;
  }

  get #client(): Client {
    return this.#where.client;
  }

  get #where(): { cache: Cache; client: Client } {
    if (this.#bound === undefined) throw new Error("hosts are used before bind()");
    return this.#bound;
  }

  /** Notes a heartbeat. Returns by how much the host's clock is behind ours, if one has just arrived. */
  observe(host: ByoHost, nowMs: number): number | undefined {
    const { uid = "" } = host.metadata;
    this.#listen(uid, nowMs);
    const beat = host.status?.lastHeartbeatTime;
    const before = this.#heard.get(uid);
    if (beat === undefined || beat === before?.beat) return undefined;
    this.#heard.set(uid, { beat, at: before === undefined ? undefined : nowMs });
    return before === undefined ? undefined : nowMs - Date.parse(beat);
  }

  #forget(host: ByoHost): void {
    const { uid = "" } = host.metadata;
    this.#heard.delete(uid);
    this.#listening.delete(uid);
    this.rights.forget(uid);
    this.#machineIds.forget(uid);
  }

  /** When a heartbeat of a host was last seen to arrive. */
  heardAt(host: ByoHost): number | undefined {
    return this.#heard.get(host.metadata.uid ?? "")?.at;
  }

  /** Whether a host's agent has stopped reporting; after a restart, what was found before it holds until it is certain. */
  isSilent(host: ByoHost, nowMs: number): boolean {
    const found = findCondition(host.status?.conditions ?? [], "AgentConnected");
    const before = found === undefined || found.status === "False";
    return isSilent(host, nowMs, this.heardAt(host)) && (before || this.#hasListened(host, nowMs));
  }

  /** The same by what this process has seen alone: nothing that cannot be undone is decided from less. */
  isSurelySilent(host: ByoHost, nowMs: number): boolean {
    return isSilent(host, nowMs, this.heardAt(host)) && this.#hasListened(host, nowMs);
  }

  #hasListened(host: ByoHost, nowMs: number): boolean {
    const listening = this.#listening.get(host.metadata.uid ?? "");
    return listening !== undefined && nowMs - listening.since > SILENT_AFTER_MS;
  }

  /** Hosts are looked at several times in the time that silence takes: a longer gap means that this process slept or was cut off. */
  #listen(uid: string, nowMs: number): void {
    const isCurrent = !this.#cache.problems().some(({ kind }) => kind.kind === ByoHost.kind);
    const before = this.#listening.get(uid);
    const goesOn = before !== undefined && isCurrent && nowMs - before.last < SILENT_AFTER_MS;
    this.#listening.set(uid, { since: goesOn ? before.since : nowMs, last: nowMs });
  }

  /** The host that had this one's machine-id before, if it has another's. */
  twinOf(host: ByoHost): ByoHost | undefined {
    const first = this.#machineIds.first(this.#withMachineID(host));
    return first?.metadata.uid === host.metadata.uid ? undefined : first;
  }

  #withMachineID(host: ByoHost): ByoHost[] {
    const id = host.status?.machineID;
    return id === undefined ? [] : this.#cache.byIndex(ByoHost, BY_MACHINE_ID, `${host.metadata.namespace}/${id}`);
  }

  /** Records a machine-id that a host has had for some time, so that the next manager also treats it as the first. */
  async recordMachineID(host: ByoHost, nowMs: number, signal: AbortSignal): Promise<void> {
    const ageMs = this.#machineIds.observe(host, nowMs);
    const id = host.status?.machineID;
    if (id === undefined || host.metadata.annotations?.[MACHINE_ID_ANNOTATION] === id) return;
    if (ageMs < RECORD_MS || this.twinOf(host) !== undefined) return;
    await this.#client.patch(host, { metadata: { annotations: { [MACHINE_ID_ANNOTATION]: id } } }, {}, signal);
  }

  get client(): Client {
    return this.#client;
  }

  /** The Machines of a namespace, whatever they run on. */
  machines(namespace: string): Machine[] {
    return this.#cache.list(Machine, { namespace });
  }

  /** The hosts of a namespace, those that may be free apart. */
  in(namespace: string): HostLists {
    const cache = this.#cache;
    return { free: cache.byIndex(ByoHost, FREE, namespace), all: () => cache.list(ByoHost, { namespace }) };
  }

  /** The host a machine has claimed. */
  of(machine: Claimant): ByoHost | undefined {
    const all = this.#claimedBy(machine);
    if (all.length <= 1) return all[0];
    // More than one only when a claim that seemed lost came through late: the rest is given back.
    const known = machine.spec?.providerID;
    const sorted = [...all].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
    return sorted.find((host) => known !== undefined && host.spec?.providerID === known) ?? sorted[0];
  }

  /** All hosts that name a machine, as requests. */
  allOf(machine: Claimant): Request[] {
    return this.#claimedBy(machine).map(requestOf);
  }

  /** A machine that was moved or restored has another UID; then its name and its provider ID say that it is the one. */
  #claimedBy(machine: Claimant): ByoHost[] {
    const { namespace, name, uid = "" } = machine.metadata;
    const own = this.#cache.byIndex(ByoHost, BY_MACHINE, keyText(namespace, uid));
    const known = machine.spec?.providerID;
    if (own.length > 0 || known === undefined) return own;
    return this.#cache
      .byIndex(ByoHost, BY_PROVIDER_ID, keyText(namespace, known))
      .filter(({ spec }) => spec?.machineRef?.name === name);
  }

  /** All hosts of a Cluster, as requests. */
  ofCluster(cluster: KubeObject): Request[] {
    return this.#cache.byIndex(ByoHost, BY_CLUSTER, keyOf(cluster)).map(requestOf);
  }

  waits(machine: KubeObject, wanted: Wanted): void {
    this.#waiting.set(keyOf(machine), { request: requestOf(machine), matches: hostMatches(wanted) });
  }

  waitsNoMore(machine: KubeObject): void {
    this.#waiting.delete(keyOf(machine));
  }

  /** Whether some machine is claiming this host right now: a second try would only end in a conflict. */
  isBeingClaimed(host: ByoHost): boolean {
    return this.#claiming.has(keyOf(host));
  }

  /** Claims a host; false if another machine was faster. One update guarded by resourceVersion, so only one can succeed. */
  async claim(
    host: ByoHost,
    machine: KubeObject,
    given: { bootstrapSecret?: string; providerID: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    this.waitsNoMore(machine);
    const { namespace = "", name = "", uid = "" } = machine.metadata;
    this.#doubts.set(uid, requestOf(host));
    this.#claiming.add(keyOf(host));
    try {
      const spec = {
        ...host.spec,
        machineRef: { apiVersion: machine.apiVersion, kind: machine.kind, namespace, name, uid },
        ...(given.bootstrapSecret === undefined ? {} : { bootstrapSecret: { namespace, name: given.bootstrapSecret } }),
        providerID: given.providerID,
      };
      const taken = withMachineID(
        withFinalizer(withCluster(host, machine.metadata.labels?.[CLUSTER_NAME_LABEL]), true),
      );
      const done = await this.#update(taken, spec, signal);
      if (done) this.#doubts.delete(uid);
      return done;
    } finally {
      this.#claiming.delete(keyOf(host));
    }
  }

  /** The host that a claim got although it seemed to have failed; the cache shows it soon. */
  async doubtful(machine: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const { uid = "" } = machine.metadata;
    const key = this.#doubts.get(uid);
    if (key === undefined) return undefined;
    const live = await this.#client.get(ByoHost, key, signal);
    if (live?.spec?.machineRef?.uid === uid) return key.name;
    this.#doubts.delete(uid);
    return undefined;
  }

  /** Hands a claimed host what its agent is to run. */
  async hand(
    host: ByoHost,
    given: { bootstrapSecret: string; installationSecret: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { namespace = "" } = host.metadata;
    const bootstrapSecret = { namespace, name: given.bootstrapSecret };
    const installationSecret = { namespace, name: given.installationSecret };
    return await this.#update(host, { ...host.spec, bootstrapSecret, installationSecret }, signal);
  }

  /** Makes one enrolment the only one whose certificates can act as this host: what an earlier agent holds is worth nothing from now on. */
  async enrol(host: ByoHost, enrolment: string, signal: AbortSignal): Promise<void> {
    const annotations = { [ENROLMENT_ANNOTATION]: enrolment };
    const { uid, resourceVersion } = host.metadata;
    const isKnown = host.metadata.annotations?.[ENROLMENT_ANNOTATION] === enrolment;
    const live = isKnown
      ? host
      : await this.#client.patch(host, { metadata: { annotations, uid, resourceVersion } }, {}, signal);
    await this.rights.renew(live, signal);
  }

  /** Asks the agent to clean the host. */
  async release(host: ByoHost, asked: Release, signal: AbortSignal): Promise<void> {
    await this.#update(host, { ...host.spec, release: withNode(asked, host) }, signal);
  }

  /** Gives the host up as far as the machine is concerned; `release` stays when its agent still has to clean it. */
  async letGo(host: ByoHost, cleaned: boolean, signal: AbortSignal): Promise<boolean> {
    const {
      machineRef: _ref,
      bootstrapSecret: _data,
      installationSecret: _installation,
      providerID: _id,
      release,
      ...rest
    } = host.spec ?? {};
    // Before the next machine can claim the host and gets rights of its own. Those of a host that goes, go with it.
    if (host.metadata.deletionTimestamp === undefined) await this.rights.ensure({ ...host, spec: rest }, signal);
    const isClean = cleaned || release === undefined;
    const spec = isClean ? rest : { ...rest, release };
    return await this.#update(withFinalizer(withCluster(host, undefined), !isClean), spec, signal);
  }

  /** Has a host stay until it is clean, or lets it go for good. */
  async keep(host: ByoHost, isKept: boolean, signal: AbortSignal): Promise<void> {
    await this.#update(withFinalizer(host, isKept), host.spec ?? {}, signal);
  }

  /** Takes a host from a machine that is not there or has another; it is free once its agent has cleaned it. */
  async takeBack(host: ByoHost, asked: Release, signal: AbortSignal): Promise<void> {
    const release = host.spec?.release ?? withNode(asked, host);
    await this.letGo({ ...host, spec: { ...host.spec, release } }, false, signal);
  }

  /** Calls back for the machine of a host that changed, and for one that waits when a host becomes free. */
  subscribe(changed: (machine: Request) => void): () => void {
    const tell = (host: ByoHost): void => {
      const claim = claimOf(host);
      if (claim !== undefined) changed(claim);
    };
    const added = (host: ByoHost): void => {
      tell(host);
      if (isNews(host, undefined)) this.#offer(host, changed);
    };
    // A clone may be a host of its own once the one it was cloned from is gone or has changed.
    const freed = (host: ByoHost): void => {
      for (const other of this.#withMachineID(host))
        if (other.metadata.uid !== host.metadata.uid) this.#offer(other, changed);
    };
    const removed = (host: ByoHost): void => {
      this.#forget(host);
      tell(host);
      freed(host);
    };
    const tellBoth = (host: ByoHost, old: ByoHost): void => {
      tell(host);
      if (host.status?.machineID !== old.status?.machineID) freed(old);
      if (isNews(host, old)) this.#offer(host, changed);
      if (old.spec?.machineRef?.uid !== host.spec?.machineRef?.uid) tell(old);
    };
    const stopHosts = this.#cache.informer(ByoHost).addHandler({ add: added, update: tellBoth, delete: removed });
    // An installer is called as its machine.
    const tellMachine = (config: KubeObject): void => changed(requestOf(config));
    const stopInstallers = this.#cache
      .informer(K8sInstallerConfig)
      .addHandler({ add: tellMachine, update: tellMachine, delete: tellMachine });
    return () => {
      stopHosts();
      stopInstallers();
    };
  }

  /** One host helps one machine. */
  #offer(host: ByoHost, changed: (machine: Request) => void): void {
    for (const [key, { request, matches }] of this.#waiting) {
      if (request.namespace !== host.metadata.namespace || !matches(host)) continue;
      this.#waiting.delete(key);
      changed(request);
      return;
    }
  }

  async #update(host: ByoHost, spec: NonNullable<ByoHost["spec"]>, signal: AbortSignal): Promise<boolean> {
    const { status: _status, ...rest } = deepCopy(host);
    try {
      await this.#client.update({ ...rest, spec } as ByoHost, {}, signal);
      return true;
    } catch (error) {
      if (isReason(error, "Conflict", "NotFound")) return false;
      throw error;
    }
  }
}

/** Returns the machine that claims a host; undefined if there is none or it is in another namespace. */
export function claimOf(host: ByoHost): Request | undefined {
  const reference = host.spec?.machineRef;
  const target = reference === undefined ? undefined : resolveReference(host, reference, "spec.machineRef");
  return target === undefined || "problem" in target ? undefined : target;
}

/** What is asked of an agent whose host a machine leaves. */
type Release = NonNullable<NonNullable<ByoHost["spec"]>["release"]>;

/** The Node outlives the claim if the host is away: it is named so that it can be removed when the host is back. */
function withNode(asked: Release, host: ByoHost): Release {
  const providerID = host.spec?.providerID;
  const clusterName = host.metadata.labels?.[CLUSTER_NAME_LABEL];
  return {
    ...asked,
    ...(providerID === undefined ? {} : { providerID }),
    ...(clusterName === undefined ? {} : { clusterName }),
  };
}

/** A host with the label of the cluster it works for, or with none. */
function withCluster(host: ByoHost, clusterName: string | undefined): ByoHost {
  const { [CLUSTER_NAME_LABEL]: _, ...labels } = host.metadata.labels ?? {};
  const next = clusterName === undefined ? labels : { ...labels, [CLUSTER_NAME_LABEL]: clusterName };
  return { ...host, metadata: { ...host.metadata, labels: next } };
}

function withFinalizer(host: ByoHost, isKept: boolean): ByoHost {
  const others = (host.metadata.finalizers ?? []).filter((each) => each !== HOST_FINALIZER);
  // Nothing can be added to what is being deleted.
  const had = host.metadata.finalizers?.includes(HOST_FINALIZER) === true;
  const keeps = isKept && (had || host.metadata.deletionTimestamp === undefined);
  return { ...host, metadata: { ...host.metadata, finalizers: keeps ? [...others, HOST_FINALIZER] : others } };
}

/** A host that is claimed has its machine-id to itself. */
function withMachineID(host: ByoHost): ByoHost {
  const id = host.status?.machineID;
  if (id === undefined) return host;
  const annotations = { ...host.metadata.annotations, [MACHINE_ID_ANNOTATION]: id };
  return { ...host, metadata: { ...host.metadata, annotations } };
}

function requestOf(object: KubeObject): Request {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}
