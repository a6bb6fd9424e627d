import { findCondition } from "@capstan/apimachinery";
import {
  CONTROL_PLANE_LABEL,
  completeMachine,
  conditionsOf,
  createMachines,
  isIncomplete,
  KubeadmControlPlane,
  Machine,
  type MachinePart,
  newMachineName,
  RECOVERY_ANNOTATION,
  RESTORE_ANNOTATION,
} from "@capstan/capi";
import { type BackupPlace, takeBackup } from "@capstan/controlplane";
import type { ReconcileContext } from "@capstan/runtime";
import { CLEANUP_HOOK } from "../annotations.ts";
import type { BackupOrigins } from "../backup/backup-origins.ts";
import { backupOwner, describePlane, type MachinePlane, placeOf, storeOf } from "../backup/machine-backups.ts";
import type { EtcdWays } from "../etcd/etcd-ways.ts";
import { machinesOfCluster } from "../indexes.ts";
import { ControlPlaneRecovery, type RecoveryPlan } from "../kinds/control-plane-recovery.ts";
import { machinePlan } from "../machine-plan.ts";
import { readOwned, readScope } from "../scope.ts";
import type { WorkloadSide } from "../workload/workload-side.ts";
import type { KeptSnapshots } from "./kept-snapshots.ts";
import { PreparedSnapshot } from "./prepared-snapshot.ts";
import { anotherCluster, type Survey, type SurveyedBackup, type SurveyedMember } from "./record.ts";
import { restoreSecretName } from "./restore-secret.ts";
import type { SnapshotServer } from "./snapshot-server.ts";
import { NotRestorable, type RecoveryTarget } from "./target.ts";

const DEFAULT_NAMING = "{{ .kubeadmControlPlane.name }}-{{ .random }}";

/** What recoveries work with. */
export interface RecoveryDeps {
  readonly ways: EtcdWays;
  readonly side: WorkloadSide;
  readonly place: BackupPlace;
  readonly origins: BackupOrigins;
  readonly server: Pick<SnapshotServer, "publish" | "withdraw" | "serves" | "keep">;
  readonly kept: Pick<KeptSnapshots, "keep" | "remove" | "retain">;
}

/** A KubeadmControlPlane as the target of a recovery. */
export class KubeadmTarget implements RecoveryTarget {
  readonly #recovery: ControlPlaneRecovery;
  readonly #plane: MachinePlane;
  readonly #deps: RecoveryDeps;
  readonly #context: ReconcileContext;
  readonly #snapshot: PreparedSnapshot;

  constructor(recovery: ControlPlaneRecovery, plane: MachinePlane, deps: RecoveryDeps, context: ReconcileContext) {
    this.#recovery = recovery;
    this.#plane = plane;
    this.#deps = deps;
    this.#context = context;
    this.#snapshot = new PreparedSnapshot(recovery, plane, deps, context);
  }

  async survey(): Promise<Survey> {
    const members = await Promise.all(this.#machines().map((machine) => this.#ask(machine)));
    return { nowMs: this.#context.clock.now(), members, backups: await this.#backups() };
  }

  async save({ member }: RecoveryPlan): Promise<string> {
    const store = await this.#store();
    // A recovery of the same name may have saved older data.
    const label = `recovery-${this.#name.slice(0, 40)}-${this.#uid.slice(0, 8)}`;
    // Saved before the status could say so.
    const known = (await store.list(this.#owner)).find(({ name }) => name.endsWith(`Z-${label}`));
    if (known !== undefined) return known.name;
    const machine = this.#machines().find(({ metadata }) => metadata.name === member);
    const place = machine === undefined ? undefined : placeOf(machine);
    if (place === undefined)
      throw new Error(
        `Machine ${member ?? ""}, whose member of etcd has the data, does not exist any more: create another ControlPlaneRecovery`,
      );
    const { client, endpoint } = await this.#deps.ways.open(this.#plane.key, place);
    const subject = {
      owner: this.#owner,
      snapshot: (file: string) => client.snapshot(endpoint, file),
      describe: () => describePlane(this.#plane, this.#context),
    };
    return await takeBackup(subject, store, this.#deps.place.dir, this.#context.clock.now(), label);
  }

  async hold(): Promise<void> {
    const holder = this.#holder;
    if (holder === this.#name) return;
    const { namespace } = this.#plane.key;
    const other =
      holder === undefined ? undefined : this.#context.cache.get(ControlPlaneRecovery, { namespace, name: holder });
    // Two that delete and create Machines at the same time would each restore an etcd of its own.
    if (other !== undefined) throw new Error(stillReplaces(holder ?? ""));
    await this.#annotate(this.#name);
  }

  async release(): Promise<void> {
    // Another recovery may have begun since this one ended.
    if (this.#holder === this.#name) await this.#annotate(null);
  }

  async verify(backup: string): Promise<string> {
    this.#checkOthers();
    const why = (await this.#backups(backup)).find(({ name }) => name === backup)?.foreign;
    if (why !== undefined) throw new NotRestorable(anotherCluster(backup, why));
    return await this.#snapshot.verify(backup);
  }

  async remove(except: string | undefined): Promise<readonly string[]> {
    const { client } = this.#context;
    const machines = this.#machines().filter(({ metadata }) => metadata.name !== except);
    for (const machine of machines) {
      await this.#releaseMachine(machine);
      if (machine.metadata.deletionTimestamp === undefined) await client.delete(machine);
    }
    return machines.map(({ metadata }) => metadata.name ?? "");
  }

  newName(): string {
    const { key, controlPlane } = this.#plane;
    const values = { cluster: { name: key.name }, kubeadmControlPlane: { name: controlPlane.metadata.name ?? "" } };
    const template = controlPlane.spec.machineNaming?.template ?? DEFAULT_NAMING;
    return newMachineName(this.#context, key.namespace, template, values);
  }

  async start(name: string, backup: string, digest: string | undefined): Promise<void> {
    const { controlPlane, cluster } = this.#plane;
    const current = this.#machine(name);
    // A person replaces it. It is created again under its name.
    if (current?.metadata.deletionTimestamp !== undefined) return await this.#releaseMachine(current);
    if (current?.status?.nodeRef !== undefined) return;
    await this.#snapshot.serve(backup, digest, current);
    const scope = await readOwned(readScope(controlPlane, this.#context, this.#deps.side), cluster);
    const plan = machinePlan({
      object: scope.desired,
      clusterName: this.#plane.key.name,
      infrastructure: scope.infrastructure,
      mode: "init",
      cache: this.#context.cache,
    });
    const bootstrap = plan.bootstrap as MachinePart;
    const describe: MachinePart["describe"] = (input) => {
      const object = bootstrap.describe?.(input);
      if (object === undefined) return undefined;
      const annotations = { ...object.metadata.annotations, [RESTORE_ANNOTATION]: restoreSecretName(this.#recovery) };
      return { ...object, metadata: { ...object.metadata, annotations } };
    };
    const restoring = { ...plan, bootstrap: { ...bootstrap, describe } };
    const existing = this.#machine(name);
    const wanted = { name, failureDomain: undefined, annotations: { [CLEANUP_HOOK]: "" } };
    if (existing === undefined) await createMachines(restoring, [wanted], this.#context);
    else if (isIncomplete(restoring, existing)) await completeMachine(restoring, existing, this.#context);
  }

  async waitsFor(name: string): Promise<string | undefined> {
    const machine = this.#machine(name);
    const place = machine === undefined ? undefined : placeOf(machine);
    if (machine?.metadata.deletionTimestamp !== undefined)
      return `Waiting for Machine ${name} to be deleted; it is created again`;
    if (place === undefined) return `Waiting for Machine ${name} to restore etcd and to register its Node`;
    try {
      const { client, endpoint } = await this.#deps.ways.open(this.#plane.key, place);
      const { leader } = await client.status(endpoint);
      return leader === "" || leader === "0" ? `Waiting for etcd on Machine ${name} to elect a leader` : undefined;
    } catch (error) {
      return `Waiting for etcd on Machine ${name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  missing(): string | undefined {
    const wanted = this.#plane.controlPlane.spec.replicas ?? 1;
    // The status of the control plane may still count Machines that the recovery has deleted.
    const available = this.#machines().filter(isAvailable).length;
    return available >= wanted ? undefined : `Scaling up: ${available} of ${wanted} Machines are available`;
  }

  async removeLostNodes(): Promise<void> {
    const { key, controlPlane } = this.#plane;
    const target = {
      cluster: key,
      controlPlane,
      machines: this.#machines(),
      kubeadmConfigs: new Map(),
      etcdManaged: true,
    };
    await this.#deps.side.removeStrayNodes(target);
  }

  async cleanUp(): Promise<void> {
    await this.#snapshot.cleanUp();
  }

  /** No member is removed from an etcd without quorum: it is replaced as a whole. */
  async #releaseMachine(machine: Machine): Promise<void> {
    if (machine.metadata.annotations?.[CLEANUP_HOOK] === undefined) return;
    await this.#context.client.patch(machine, { metadata: { annotations: { [CLEANUP_HOOK]: null } } });
  }

  async #backups(named = this.#recovery.spec.backup): Promise<SurveyedBackup[]> {
    const store = await this.#store();
    const backups = await store.list(this.#owner);
    const foreign = await this.#deps.origins.foreign(this.#plane, store, backups, this.#context, named);
    return backups.map(({ name, timeMs }) => ({ name, timeMs, foreign: foreign.get(name) }));
  }

  /** After another recovery the approval of this one is out of date: it would delete Machines that a person has not seen. */
  #checkOthers(): void {
    const { creationTimestamp = "" } = this.#recovery.metadata;
    const { namespace, name } = this.#plane.key;
    for (const other of this.#context.cache.list(ControlPlaneRecovery, { namespace })) {
      if (other.spec.clusterName !== name || other.metadata.uid === this.#uid) continue;
      const found = findCondition(conditionsOf(other), "Recovered");
      if (found?.status === "True" && found.lastTransitionTime > creationTimestamp)
        throw new NotRestorable(
          `ControlPlaneRecovery ${other.metadata.name ?? ""} has recovered the control plane since this one was created`,
        );
      if (other.status?.phase === "Scaling") throw new Error(stillReplaces(other.metadata.name ?? ""));
    }
  }

  /** The recovery that the control plane is left to. */
  get #holder(): string | undefined {
    return this.#plane.controlPlane.metadata.annotations?.[RECOVERY_ANNOTATION];
  }

  async #annotate(value: string | null): Promise<void> {
    const { controlPlane } = this.#plane;
    // Refused if it has changed meanwhile: another recovery may have been faster.
    const { resourceVersion } = controlPlane.metadata;
    await this.#context.client.patch(controlPlane, {
      metadata: { annotations: { [RECOVERY_ANNOTATION]: value }, resourceVersion },
    });
  }

  async #ask(machine: Machine): Promise<SurveyedMember> {
    const name = machine.metadata.name ?? "";
    const place = placeOf(machine);
    if (place === undefined) return { machine: name, answer: undefined };
    try {
      const { client, endpoint } = await this.#deps.ways.open(this.#plane.key, place);
      const { revision, leader, memberId } = await client.status(endpoint);
      const hasLeader = leader !== "" && leader !== "0";
      // Without a quorum only the member's own list is available; without that, Machines are counted.
      const voting = (await client.members(endpoint).catch(() => undefined))?.filter(({ isLearner }) => !isLearner);
      const voters = voting?.length ?? this.#machines().length;
      const votes = voting?.some(({ id }) => id === memberId) ?? true;
      return { machine: name, answer: { revision, hasLeader, voters, votes } };
    } catch {
      return { machine: name, answer: undefined };
    }
  }

  #machines(): Machine[] {
    return machinesOfCluster(this.#context.cache, this.#plane.key)
      .filter(({ metadata }) => metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined)
      .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  }

  #machine(name: string): Machine | undefined {
    return this.#context.cache.get(Machine, { namespace: this.#plane.key.namespace, name });
  }

  async #store() {
    const store = await storeOf(this.#plane.key, this.#deps.place, this.#context);
    if ("problem" in store) throw new Error(store.problem);
    return store;
  }

  get #owner(): string {
    return backupOwner(this.#plane);
  }

  get #name(): string {
    return this.#recovery.metadata.name ?? "";
  }

  get #uid(): string {
    return this.#recovery.metadata.uid ?? "";
  }
}

function stillReplaces(recovery: string): string {
  return `ControlPlaneRecovery ${recovery} replaces the control plane Machines already: wait for its end, or delete it if it cannot go on`;
}

function isAvailable(machine: Machine): boolean {
  const condition = findCondition(conditionsOf(machine), "Available");
  return machine.metadata.deletionTimestamp === undefined && condition?.status === "True";
}

/** The KubeadmControlPlane of a recovery's Cluster, as the cache knows it. */
export function planeOf(
  { metadata, spec }: ControlPlaneRecovery,
  cluster: MachinePlane["cluster"] | undefined,
  context: ReconcileContext,
): MachinePlane | undefined {
  const reference = cluster?.spec?.controlPlaneRef;
  if (cluster === undefined || reference?.kind !== KubeadmControlPlane.kind) return undefined;
  const namespace = metadata.namespace ?? "";
  const controlPlane = context.cache.get(KubeadmControlPlane, { namespace, name: reference.name });
  return controlPlane === undefined ? undefined : { key: { namespace, name: spec.clusterName }, cluster, controlPlane };
}
