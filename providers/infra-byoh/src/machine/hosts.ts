import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { byUID, CLUSTER_NAME_LABEL, claimOn, HostClaims, Machine, unclaimed } from "@capstan/capi";
import { ByoHost, ENROLMENT_ANNOTATION } from "@capstan/host-agent";
import { type Cache, type Client, keyText, type Request } from "@capstan/runtime";
import { AgentPermissions } from "../host/agent-permissions.ts";
import { MACHINE_ID_ANNOTATION, MachineIds } from "../host/machine-ids.ts";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { K8sInstallerConfig } from "../kinds/k8s-installer-config.ts";
import { type HostLists, isNews, isSilent, type Knowledge, SILENT_AFTER_MS, whyTaken } from "./choose-host.ts";

/** Finalizer that keeps a claimed ByoHost until it is clean again. */
export const HOST_FINALIZER = "byohost.infrastructure.cluster.x-k8s.io";
/** A machine-id that no other host had for this long is recorded as the host's. */
const RECORD_MS = 60_000;

const BY_PROVIDER_ID = "provider-id";
const BY_CLUSTER = "cluster";
const BY_MACHINE_ID = "machine-id";
/** The field of a ByoHost that holds its claim. */
const CLAIM_FIELD = "machineRef";

/** Finds, claims and releases hosts through their ByoHost objects; the backend of the provider. */
export class Hosts {
  readonly claims = new HostClaims<ByoHost, ByoMachine>({
    host: ByoHost,
    machine: ByoMachine,
    field: CLAIM_FIELD,
    identity: byUID,
    whyTaken,
    isNews,
    isUsed: (host, { spec }) => spec?.providerID !== undefined && host.spec?.providerID === spec.providerID,
    findMoved: (machine) => this.#moved(machine),
  });
  readonly permissions = new AgentPermissions(() => this.#client);
  /** The last heartbeat of each host and when it was seen to arrive; nothing is known of what was there before we were. */
  readonly #heard = new Map<string, { beat: string; at: number | undefined }>();
  /** From when on each host has been listened to without a gap, and when that was last checked. */
  readonly #listening = new Map<string, { since: number; last: number }>();
  readonly #machineIds = new MachineIds();
  /** What is known of hosts beyond their objects. */
  readonly knowledge: Knowledge = {
    isTaken: (host) => this.claims.isBeingClaimed(host),
    heardAt: (host) => this.heardAt(host),
    twinOf: (host) => this.twinOf(host),
  };

  /** Sets the cache and client for ByoHosts and adds indexes; call it before the cache starts. */
  bind(cache: Cache): void {
    this.claims.bind(cache, cache.client.withFieldManager("capstan-byoh"));
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
  }

  get #cache(): Cache {
    return this.claims.cache;
  }

  get #client(): Client {
    return this.claims.client;
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
    this.permissions.forget(uid);
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

  /** Hosts are checked several times within the silence timeout: a longer gap means that this process slept or was disconnected. */
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
    return { free: this.claims.free(namespace), all: () => this.claims.list(namespace) };
  }

  /** The host a machine has claimed. */
  of(machine: ByoMachine): ByoHost | undefined {
    return this.claims.allOf(machine)[0];
  }

  /** All hosts that name a machine, as requests. */
  allOf(machine: ByoMachine): Request[] {
    return this.claims.allOf(machine).map(requestOf);
  }

  /** A machine that was moved or restored has another UID; then its name and its provider ID identify it. */
  #moved({ metadata, spec: { providerID } = {} }: ByoMachine): ByoHost[] {
    if (providerID === undefined) return [];
    const found = this.#cache.byIndex(ByoHost, BY_PROVIDER_ID, keyText(metadata.namespace, providerID));
    return found.filter(({ spec }) => spec?.machineRef?.name === metadata.name);
  }

  /** All hosts of a Cluster, as requests. */
  ofCluster(cluster: KubeObject): Request[] {
    return this.#cache.byIndex(ByoHost, BY_CLUSTER, keyOf(cluster)).map(requestOf);
  }

  /** Claims a host for a machine; false if another writer was faster. */
  async claim(
    host: ByoHost,
    machine: ByoMachine,
    given: { bootstrapSecret?: string; providerID: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { namespace = "" } = machine.metadata;
    const { providerID, bootstrapSecret } = given;
    const data = bootstrapSecret === undefined ? {} : { bootstrapSecret: { namespace, name: bootstrapSecret } };
    const change = (taken: ByoHost): ByoHost =>
      withMachineID(withFinalizer({ ...taken, spec: { ...taken.spec, ...data, providerID } }, true));
    const cluster = machine.metadata.labels?.[CLUSTER_NAME_LABEL];
    return (await this.claims.claim(host, machine, cluster, change, signal)) !== undefined;
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

  /** Makes one enrolment the only one whose certificates can act as this host: certificates of earlier agents become invalid. */
  async enrol(host: ByoHost, enrolment: string, signal: AbortSignal): Promise<void> {
    const annotations = { [ENROLMENT_ANNOTATION]: enrolment };
    const { uid, resourceVersion } = host.metadata;
    const isKnown = host.metadata.annotations?.[ENROLMENT_ANNOTATION] === enrolment;
    const live = isKnown
      ? host
      : await this.#client.patch(host, { metadata: { annotations, uid, resourceVersion } }, {}, signal);
    await this.permissions.renew(live, signal);
  }

  /** Asks the agent to clean the host. */
  async release(host: ByoHost, asked: Release, signal: AbortSignal): Promise<void> {
    await this.#update(host, { ...host.spec, release: withNode(asked, host) }, signal);
  }

  /** Releases the machine's claim; `release` stays while the agent still has to clean the host. */
  async releaseClaim(host: ByoHost, cleaned: boolean, signal: AbortSignal): Promise<boolean> {
    const free = unclaimed(host, CLAIM_FIELD);
    const {
      bootstrapSecret: _data,
      installationSecret: _installation,
      providerID: _id,
      release,
      ...rest
    } = free.spec ?? {};
    // Before the next machine can claim the host and gets its own permissions. Those of a deleted host are deleted with it.
    if (host.metadata.deletionTimestamp === undefined) await this.permissions.ensure({ ...host, spec: rest }, signal);
    const isClean = cleaned || release === undefined;
    const spec = isClean ? rest : { ...rest, release };
    return await this.#update(withFinalizer(free, !isClean), spec, signal);
  }

  /** Adds or removes the finalizer that keeps a host until it is clean. */
  async keep(host: ByoHost, isKept: boolean, signal: AbortSignal): Promise<void> {
    await this.#update(withFinalizer(host, isKept), host.spec ?? {}, signal);
  }

  /** Takes a host from a machine that is not there or has another; it is free once its agent has cleaned it. */
  async takeBack(host: ByoHost, asked: Release, signal: AbortSignal): Promise<void> {
    const release = host.spec?.release ?? withNode(asked, host);
    await this.releaseClaim({ ...host, spec: { ...host.spec, release } }, false, signal);
  }

  /** Calls back for the machine of a host that changed, and for one that waits when a host becomes free. */
  subscribe(changed: (machine: Request) => void): () => void {
    const stopClaims = this.claims.subscribe(changed);
    // A clone may be a host of its own once the one it was cloned from is deleted or has changed.
    const freed = (host: ByoHost): void => {
      for (const other of this.#withMachineID(host))
        if (other.metadata.uid !== host.metadata.uid && isNews(other, undefined)) this.claims.offer(other);
    };
    const stopHosts = this.#cache.informer(ByoHost).addHandler({
      update: (host, old) => {
        if (host.status?.machineID !== old.status?.machineID) freed(old);
      },
      delete: (host) => {
        this.#forget(host);
        freed(host);
      },
    });
    // An installer is called as its machine.
    const tellMachine = (config: KubeObject): void => changed(requestOf(config));
    const stopInstallers = this.#cache
      .informer(K8sInstallerConfig)
      .addHandler({ add: tellMachine, update: tellMachine, delete: tellMachine });
    return () => {
      stopClaims();
      stopHosts();
      stopInstallers();
    };
  }

  async #update(host: ByoHost, spec: NonNullable<ByoHost["spec"]>, signal: AbortSignal): Promise<boolean> {
    return (await this.claims.update({ ...host, spec }, signal)) !== undefined;
  }
}

/** Returns the machine that claims a host; undefined if there is none or it is in another namespace. */
export function claimOf(host: ByoHost): Request | undefined {
  const claim = claimOn(host, CLAIM_FIELD);
  return claim === undefined ? undefined : { namespace: claim.namespace, name: claim.name };
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
