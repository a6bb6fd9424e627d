import type { Clock, Random } from "@capstan/apimachinery";
import { firstMembers } from "@capstan/etcd";
import type { Client, Logger } from "@capstan/runtime";
import {
  Deployment,
  type execInPod,
  type HostCluster,
  type HostClusters,
  HostNode,
  HostSecret,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
} from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { BACKUP_AGAIN_MS, backupFailed } from "../etcd-upgrade/pods-ground.ts";
import { recordEtcdEvent } from "../etcd-upgrade/record.ts";
import type {
  ControlPlanePlan,
  PlacedObject,
  Placement,
  PlacementState,
  Reservation,
  ReserveRequest,
} from "../placement.ts";
import { fixedProblem, refuseForeignData, refuseToBeginAnew } from "./checks.ts";
import { PodsEtcd, type PodsEtcdOptions, type PodsEtcdReport } from "./etcd.ts";
import { apiService, endpointOf, konnectivityEndpoint } from "./exposure.ts";
import { disruptionBudget, etcdNetworkPolicy, etcdService } from "./guards.ts";
import { asPodsProblem, PodHosts, PodsProblem } from "./host.ts";
import { PodsInputs, wantedEtcd } from "./inputs.ts";
import { etcdView, type MemberSight, memberSights } from "./members.ts";
import { filesSecretName, nameOf, type PodComponent, type PodNames, podNames } from "./names.ts";
import {
  apiserverDeployment,
  controllerManagerDeployment,
  etcdMember,
  filesSecret,
  type PodsInput,
  schedulerDeployment,
} from "./objects.ts";
import { type PodsRecord, readPodsRecord } from "./record.ts";
import { PodsRestore } from "./restore.ts";
import { type ComponentView, gaveUp, servingVersion, stateOf, troubleOf, viewOf } from "./state.ts";
import { hurry, removeWorkers, stopAll } from "./stop.ts";
import { VERSION_ANNOTATION } from "./template.ts";

/** Dependencies of the pods placement. */
export interface PodsPlacementOptions {
  hosts: HostClusters;
  /** Client of the management cluster, whose Secrets hold kubeconfigs of host clusters. */
  management: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Another client of etcd, in tests. */
  etcdClient?: NonNullable<PodsEtcdOptions["client"]>;
  /** Another way to run a program in a pod, in tests. */
  exec?: typeof execInPod;
}

/** A host cluster that does not respond, or pods that do not terminate, delay a deletion by at most this time. */
const GIVE_UP_MS = 2 * 60_000;
const COMPONENTS: readonly PodComponent[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Runs a control plane as pods of the management cluster or another cluster, which also holds all its state. */
export class PodsPlacement implements Placement {
  readonly #options: PodsPlacementOptions;
  readonly #hosts: PodHosts;
  readonly #inputs: PodsInputs;
  readonly #etcd: PodsEtcd;
  readonly #restore: PodsRestore;

  constructor(options: PodsPlacementOptions) {
    this.#options = options;
    const { clock, etcdClient } = options;
    this.#etcd = new PodsEtcd({ clock, client: etcdClient });
    this.#restore = new PodsRestore(clock, options.exec);
    this.#hosts = new PodHosts(options.hosts, options.management);
    this.#inputs = new PodsInputs(options.clock, options.random);
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    try {
      const host = await this.#hosts.find(request.owner, request.spec);
      await this.#hosts.ensureNamespace(host, request.owner);
      const names = podNames(request.owner);
      const service = await this.#service(host, names, request.spec, request.endpoint);
      if (request.endpoint !== undefined) return { type: "reserved", endpoint: request.endpoint };
      const { items } = request.spec.expose?.type === "NodePort" ? await host.client.list(HostNode) : { items: [] };
      return endpointOf(service, request.spec, items);
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { type: "failed", ...problem };
    }
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    try {
      return await this.#run(plan);
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { components: [], apiReady: false, problem };
    }
  }

  async observe(owner: string, { spec }: PlacedObject): Promise<PlacementState> {
    try {
      const host = await this.#hosts.find(owner, spec);
      const names = podNames(owner);
      const version = serving(host, names);
      const seen = observed(host, names, memberSights(host, names, recordOf(host, names)?.members ?? []));
      return { ...seen, ...(version === undefined ? {} : { version }) };
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { components: [], apiReady: false, problem };
    }
  }

  async hibernate(owner: string, placed: PlacedObject): Promise<PlacementState> {
    try {
      const host = await this.#hosts.find(owner, placed.spec);
      const names = podNames(owner);
      if (recordOf(host, names)?.storage.type === "EmptyDir")
        throw new PodsProblem(
          "DataWouldBeLost",
          "spec.replicas is 0, but spec.etcd.storage.type EmptyDir keeps no data without pods; set replicas back to 1, or create a control plane with PersistentVolumeClaim",
        );
      await stopAll(host, names);
      return { components: [], apiReady: false };
    } catch (error) {
      const problem = asPodsProblem(error);
      if (problem === undefined) throw error;
      return { components: [], apiReady: false, problem };
    }
  }

  async remove(owner: string, placed: PlacedObject): Promise<string[]> {
    const { clock, hosts, log } = this.#options;
    const patience = (placed.deletingSinceMs ?? clock.now()) + GIVE_UP_MS - clock.now();
    try {
      const host = await this.#hosts.find(owner, placed.spec);
      // A kube-apiserver whose etcd stops first takes half a minute to exit.
      const inOrder = patience > GIVE_UP_MS / 2;
      const left = (inOrder ? await removeWorkers(host, owner) : undefined) ?? (await host.removeAll(owner));
      if (left.length > 0 && patience > 0) return left.map((object) => `${object.kind} ${object.metadata.name}`);
    } catch (error) {
      const problem = asPodsProblem(error);
      const why = problem?.message ?? String(error);
      const nowhere = problem?.reason === "NothingRunsPods";
      if (!nowhere && patience > 0) return [`the host cluster (${why})`];
      if (!nowhere)
        log.warn("removing a control plane although its host cluster does not respond: pods may be left", {
          owner,
          why,
        });
    }
    this.#inputs.forget(owner);
    this.#etcd.forget(owner);
    hosts.release(owner);
    return [];
  }

  subscribe(listener: (owner: string) => void): () => void {
    return this.#options.hosts.subscribe(listener);
  }

  async snapshot(plan: ControlPlanePlan, file: string): Promise<void> {
    const names = podNames(plan.owner);
    const host = await this.#hosts.find(plan.owner, plan.spec);
    const service = await this.#service(host, names, plan.spec, plan.endpoint);
    const input = await this.#inputs.of(host, names, plan, service, recordOf(host, names));
    const ready = this.#etcd.sights(host, input).find((sight) => sight.ready && sight.record.learner !== true);
    if (ready === undefined) throw new Error("no member of etcd is ready");
    await this.#etcd.client(host, input).snapshot(etcdMember(names, ready.record.index).clientUrl, file);
  }

  async #run(wanted: ControlPlanePlan): Promise<PlacementState> {
    const names = podNames(wanted.owner);
    const host = await this.#hosts.find(wanted.owner, wanted.spec);
    const known = recordOf(host, names);
    refuseForeignData(wanted, known);
    refuseToBeginAnew(wanted, known);
    const held = await this.#beforeUpgrade(host, names, wanted, known);
    // A control plane that must not be upgraded keeps running as it is.
    const plan = held === undefined ? wanted : { ...wanted, version: held.version };
    const service = await this.#service(host, names, plan.spec, plan.endpoint);
    const input = await this.#inputs.of(host, names, plan, service, known);
    const running = serving(host, names);
    if (running === undefined || running === plan.version) delete input.record.backedUpFor;
    else if (!etcdChanges(plan, known)) input.record.backedUpFor = plan.version;
    const restoring = await this.#goOnRestoring(host, input);
    if (restoring !== undefined) return { components: [], apiReady: false, problem: restoring };
    await this.#ensureGuards(host, input);

    const ran = await this.#etcd.run(host, input, running);
    const sights = this.#etcd.sights(host, input);
    const etcd = etcdView(sights);
    const hasQuorum = etcd.ready > input.record.members.length / 2;
    const before = viewOf(host, names, "kube-apiserver");
    // Without etcd it would crash repeatedly, with a longer backoff each time.
    if (hasQuorum || before.live !== undefined) {
      const version = etcd.settled && !ran.holdsUpgrade ? plan.version : (annotatedVersion(before) ?? plan.version);
      await host.ensure(Deployment, apiserverDeployment(input, version, Math.max(plan.spec.replicas ?? 1, 1)));
    }
    const apiserver = viewOf(host, names, "kube-apiserver");
    const version = servingVersion(apiserver);
    if (apiserver.ready > 0 || viewOf(host, names, "kube-scheduler").live !== undefined) {
      // They are never newer than the API they work with.
      const others = version ?? annotatedVersion(viewOf(host, names, "kube-scheduler")) ?? plan.version;
      const replicas = (plan.spec.replicas ?? 1) > 1 ? 2 : 1;
      await host.ensure(Deployment, controllerManagerDeployment(input, others, replicas));
      await host.ensure(Deployment, schedulerDeployment(input, others, replicas));
    }
    const kept = await this.#etcd.keep(host, input, sights, apiserver.settled);
    const pending = held?.problem ?? kept.pending ?? ran.restarting;
    const state = this.#stateOf(host, input, service, version, {
      ...kept,
      ...(pending === undefined ? {} : { pending }),
    });
    const againMs = held === undefined ? Infinity : this.#options.clock.now() + BACKUP_AGAIN_MS;
    return { ...state, recheckAtMs: Math.min(state.recheckAtMs ?? Infinity, ran.recheckAtMs, againMs) };
  }

  /** Checks whether an upgrade may start, and takes a backup before it changes anything; otherwise the running version stays. */
  async #beforeUpgrade(
    host: HostCluster,
    names: PodNames,
    plan: ControlPlanePlan,
    known: PodsRecord | undefined,
  ): Promise<{ version: string; problem: { reason: string; message: string } } | undefined> {
    const version = serving(host, names);
    if (version === undefined || version === plan.version || known?.backedUpFor === plan.version) return undefined;
    const problem = plan.upgradeRefusal?.();
    if (problem !== undefined) return { version, problem };
    // Another etcd is tried first; the backup is taken just before it gets the data.
    if (etcdChanges(plan, known)) return undefined;
    try {
      await plan.backUp?.(`before-${plan.version}`);
      return undefined;
    } catch (error) {
      return { version, problem: backupFailed(error) };
    }
  }

  /** Restores etcd's volumes from a backup if requested. Lost data is never silently replaced with empty data. */
  async #goOnRestoring(host: HostCluster, input: PodsInput): Promise<{ reason: string; message: string } | undefined> {
    const { plan, names, record } = input;
    const asked = plan.restore?.name !== record.restored ? plan.restore : undefined;
    // A requested restore takes precedence over the rollback of a failed change of etcd.
    const back = asked === undefined ? backOf(plan, record) : undefined;
    const restore = back ?? plan.restore;
    const sights = this.#etcd.sights(host, input);
    const allLost =
      sights.length > 0 && sights.every(({ hasData, record: member }) => !hasData && member.started === true);
    if (restore === undefined) {
      // A restore that was started and is no longer requested leaves the volumes incomplete, so nothing starts.
      if (allLost || record.restoring !== undefined)
        throw new PodsProblem(
          "DataLost",
          "the volumes of etcd are empty; set spec.etcd.restoreFrom to a backup, or delete this control plane",
        );
      await this.#restore.clear(host, names);
      return undefined;
    }
    if (back === undefined && restore.name === record.restored && !allLost && record.restoring === undefined) {
      await this.#restore.clear(host, names);
      return undefined;
    }
    if (record.storage.type === "EmptyDir")
      throw new PodsProblem(
        "RestoreNeedsVolume",
        "spec.etcd.restoreFrom: with spec.etcd.storage.type EmptyDir there is no volume to restore into; make a control plane with PersistentVolumeClaim",
      );
    const waiting = (message: string) => ({ reason: "Restoring", message: `Backup ${restore.name}: ${message}` });
    if (record.restoring !== restore.name) {
      record.restoring = restore.name;
      if (back === undefined) forgetEtcd(record, wantedEtcd(plan, record).version);
      record.members = firstMembers(back === undefined ? (plan.spec.etcd?.replicas ?? 1) : record.members.length);
    }
    // A pod that restarts before it is stopped must find no permission to begin with empty data.
    for (const member of record.members) member.started = true;
    await this.#etcd.save(host, input);
    const left = await stopAll(host, names);
    // Nothing of them is kept, and a kube-apiserver without etcd takes a minute to exit.
    await hurry(host, names);
    if (left.length > 0) return waiting(`waiting for ${left.join(", ")} to be deleted`);
    const step = await this.#restore.step(host, input, restore);
    if (step !== undefined) return waiting(step);
    if (back === undefined) record.restored = restore.name;
    // The backup is restored: nothing else of the change has to be rolled back.
    else recordEtcdEvent(record, { type: "restored" });
    delete record.restoring;
    await this.#etcd.save(host, input);
    return waiting((await this.#restore.clear(host, names)) ? "etcd is starting" : "the volumes are being restored");
  }

  /** Objects that must exist before the first component starts. */
  async #ensureGuards(host: HostCluster, input: PodsInput): Promise<void> {
    const { names } = input;
    await Promise.all([
      ...COMPONENTS.map((component) => host.ensure(HostSecret, filesSecret(input, component))),
      ...COMPONENTS.map((component) => host.ensure(PodDisruptionBudget, disruptionBudget(names, component))),
      host.ensure(Service, etcdService(names)),
      host.ensure(NetworkPolicy, etcdNetworkPolicy(names)),
    ]);
  }

  #stateOf(
    host: HostCluster,
    input: PodsInput,
    service: Service,
    serving: string | undefined,
    etcd: PodsEtcdReport,
  ): PlacementState {
    const { plan, names } = input;
    const sights = this.#etcd.sights(host, input);
    const konnectivity = konnectivityEndpoint(service, plan.spec, plan.endpoint);
    const upgrade =
      fixedProblem(input) ?? etcd.pending ?? upgradeOf(host, input, componentViews(host, names, sights), serving);
    return {
      ...observed(host, names, sights),
      ...(serving === undefined ? {} : { version: serving }),
      ...(konnectivity === undefined ? {} : { konnectivity }),
      ...(upgrade === undefined ? {} : { upgrade }),
      ...(etcd.trouble === undefined ? {} : { etcd: etcd.trouble }),
      recheckAtMs: Math.min(this.#inputs.renewalMs(plan.owner), etcd.recheckAtMs),
    };
  }

  #service(
    host: HostCluster,
    names: PodNames,
    spec: HostedControlPlaneSpec,
    endpoint: { host: string; port: number } | undefined,
  ): Promise<Service> {
    const live = host.get(Service, { namespace: names.namespace, name: nameOf(names, "kube-apiserver") });
    return host.ensure(Service, apiService(names, spec, endpoint, live));
  }
}

/** The backup to which a failed change of etcd is rolled back. */
function backOf(plan: ControlPlanePlan, { etcdChange }: PodsRecord): ControlPlanePlan["restore"] {
  const { openBackup } = plan;
  const name = etcdChange?.backup;
  if (etcdChange?.restores !== true || name === undefined || openBackup === undefined) return undefined;
  return { name: `${plan.owner}/${name}`, snapshotFile: () => openBackup(name) };
}

/** Clears the state of earlier changes of etcd, which do not apply to restored data. */
function forgetEtcd(record: PodsRecord, image: string): void {
  recordEtcdEvent(record, { type: "dataReplaced" });
  recordEtcdEvent(record, { type: "refusalEnded" });
  record.etcdImage = image;
}

/** What is known of a control plane's data. */
function recordOf(host: HostCluster, names: PodNames): PodsRecord | undefined {
  const key = { namespace: names.namespace, name: filesSecretName(names, "etcd") };
  return readPodsRecord(host.get(HostSecret, key));
}

/** Whether an upgrade brings another etcd. */
function etcdChanges(plan: ControlPlanePlan, known: PodsRecord | undefined): boolean {
  const serves = known?.etcdServes;
  if (serves === undefined || known?.storage.type === "EmptyDir") return false;
  return wantedEtcd(plan, known).version !== serves.version;
}

/** The version that kube-apiservers are configured to run. */
function serving(host: HostCluster, names: PodNames): string | undefined {
  return annotatedVersion(viewOf(host, names, "kube-apiserver"));
}

/** One component if there is one member; several are named individually. */
function memberViews(sights: readonly MemberSight[]): (readonly [string, ComponentView])[] {
  return sights.map((sight) => {
    const name = sights.length === 1 ? "etcd" : `etcd-${sight.record.index}`;
    return [name, { ...etcdView([sight]), live: sight.live }] as const;
  });
}

/** Every component with its pods, etcd first. */
function componentViews(
  host: HostCluster,
  names: PodNames,
  sights: readonly MemberSight[],
): (readonly [string, ComponentView])[] {
  const others = COMPONENTS.slice(1).map((component) => [component, viewOf(host, names, component)] as const);
  return [...memberViews(sights), ...others];
}

/** Observes the existing parts of a control plane. */
function observed(
  host: HostCluster,
  names: PodNames,
  sights: readonly MemberSight[],
): Pick<PlacementState, "components" | "apiReady" | "readyReplicas"> {
  const components = componentViews(host, names, sights)
    .filter(([, view]) => view.live !== undefined)
    .map(([component, view]) => stateOf(host, names, component, view));
  const { ready } = viewOf(host, names, "kube-apiserver");
  return { components, apiReady: ready > 0, readyReplicas: ready };
}

function upgradeOf(
  host: HostCluster,
  { plan, names }: PodsInput,
  views: readonly (readonly [string, ComponentView])[],
  serving: string | undefined,
): { reason: string; message: string } | undefined {
  if (serving === undefined) return undefined;
  for (const [component, view] of views) {
    if (view.live === undefined || view.settled) continue;
    const trouble = troubleOf(host, names, view) ?? "its pods are being replaced one by one";
    const message = `${component}: ${trouble}`;
    if (gaveUp(view))
      return { reason: "UpgradeFailed", message: `${message}; ${serving} keeps serving. Correct it, or set it back` };
    return { reason: serving === plan.version ? "RollingOut" : "Upgrading", message };
  }
  return serving === plan.version ? undefined : { reason: "Upgrading", message: `${serving} keeps serving` };
}

function annotatedVersion(view: ComponentView): string | undefined {
  return view.live?.metadata.annotations?.[VERSION_ANNOTATION];
}
