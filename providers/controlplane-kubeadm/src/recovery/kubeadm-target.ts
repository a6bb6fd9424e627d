import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { controllerOf, findCondition, ownerReference } from "@capstan/apimachinery";
import {
  CLUSTER_SECRET_TYPE,
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
  Secret,
} from "@capstan/capi";
import { type BackupPlace, takeBackup } from "@capstan/controlplane";
import type { ReconcileContext } from "@capstan/runtime";
import { CLEANUP_HOOK } from "../annotations.ts";
import { backupOwner, describePlane, type MachinePlane, placeOf, storeOf } from "../backup/machine-backups.ts";
import type { EtcdWays } from "../etcd/etcd-ways.ts";
import { machinesOfCluster } from "../indexes.ts";
import { ControlPlaneRecovery, type RecoveryPlan } from "../kinds/control-plane-recovery.ts";
import { machinePlan } from "../machine-plan.ts";
import { readOwned, readScope } from "../scope.ts";
import type { WorkloadSide } from "../workload/workload-side.ts";
import type { Survey, SurveyedMember } from "./record.ts";
import { newNodeScript, restoreScript } from "./restore-script.ts";
import type { ServedFile, ServedSnapshot, SnapshotServer } from "./snapshot-server.ts";
import type { RecoveryTarget } from "./target.ts";

const DEFAULT_NAMING = "{{ .kubeadmControlPlane.name }}-{{ .random }}";

/** What recoveries work with. */
export interface RecoveryDeps {
  readonly ways: EtcdWays;
  readonly side: WorkloadSide;
  readonly place: BackupPlace;
  readonly server: Pick<SnapshotServer, "publish" | "withdraw" | "serves" | "keep">;
}

/** A KubeadmControlPlane as the target of a recovery. */
export class KubeadmTarget implements RecoveryTarget {
  readonly #recovery: ControlPlaneRecovery;
  readonly #plane: MachinePlane;
  readonly #deps: RecoveryDeps;
  readonly #context: ReconcileContext;

  constructor(recovery: ControlPlaneRecovery, plane: MachinePlane, deps: RecoveryDeps, context: ReconcileContext) {
    this.#recovery = recovery;
    this.#plane = plane;
    this.#deps = deps;
    this.#context = context;
  }

  async survey(): Promise<Survey> {
    const members = await Promise.all(this.#machines().map((machine) => this.#ask(machine)));
    const store = await this.#store();
    return { nowMs: this.#context.clock.now(), members, backups: await store.list(this.#owner) };
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
    if (other !== undefined)
      throw new Error(
        `ControlPlaneRecovery ${holder} replaces the control plane Machines already: wait for its end, or delete it if it cannot go on`,
      );
    await this.#annotate(this.#name);
  }

  async release(): Promise<void> {
    // Another recovery may have begun since this one ended.
    if (this.#holder === this.#name) await this.#annotate(null);
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

  async start(name: string, backup: string): Promise<void> {
    const { controlPlane, cluster } = this.#plane;
    const current = this.#machine(name);
    // A person replaces it. It is created again under its name.
    if (current?.metadata.deletionTimestamp !== undefined) return await this.#releaseMachine(current);
    if (current?.status?.nodeRef !== undefined) return;
    await this.#publish(backup, current);
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
      const annotations = { ...object.metadata.annotations, [RESTORE_ANNOTATION]: this.#secretName };
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
    const { namespace } = this.#plane.key;
    await this.#deps.server.withdraw(this.#uid);
    const secret = await this.#context.client.get(Secret, { namespace, name: this.#secretName });
    if (this.#isOurs(secret)) await this.#context.client.delete(secret);
  }

  /** Serves the snapshot and writes the script that fetches it; again after a restart of the manager. */
  async #publish(backup: string, machine: Machine | undefined): Promise<void> {
    const { client } = this.#context;
    const key = { namespace: this.#plane.key.namespace, name: this.#secretName };
    const secret = await client.get(Secret, key);
    if (this.#deps.server.serves(this.#uid) && this.#isOurs(secret)) return;
    if (secret !== undefined && !this.#isOurs(secret))
      throw new Error(
        `Secret ${key.name} has the name of the scripts that restore etcd, and belongs to another owner: delete it`,
      );
    const store = await this.#store();
    const snapshot = await store.snapshot(this.#owner, backup);
    const { file } = snapshot;
    const source = await this.#serve(snapshot, machine);
    const dataDir =
      this.#plane.controlPlane.spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.local?.dataDir ?? "/var/lib/etcd";
    const script = restoreScript({ ...source, sha256: await sha256Of(file), dataDir });
    const desired = {
      apiVersion: "v1",
      kind: Secret.kind,
      metadata: { ...key, ownerReferences: [ownerReference(this.#recovery, { controller: true })] },
      type: CLUSTER_SECRET_TYPE,
      data: { script: base64(script), after: base64(newNodeScript) },
    };
    await client.ensure(desired as Secret, secret);
  }

  /** At the address that a Machine knows already, or at a new one if there is none. */
  async #serve(snapshot: ServedFile, machine: Machine | undefined): Promise<ServedSnapshot> {
    try {
      return await this.#deps.server.publish(this.#uid, snapshot, machine !== undefined);
    } catch (error) {
      if (machine === undefined) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `the snapshot cannot be served where Machine ${machine.metadata.name ?? ""} fetches it (${why}); if that lasts, delete the Machine: it is created again`,
        { cause: error },
      );
    }
  }

  /** Tenants may create a Secret of this name. */
  #isOurs(secret: Secret | undefined): secret is Secret {
    return secret !== undefined && controllerOf(secret)?.uid === this.#uid;
  }

  /** No member is removed from an etcd without quorum: it is replaced as a whole. */
  async #releaseMachine(machine: Machine): Promise<void> {
    if (machine.metadata.annotations?.[CLEANUP_HOOK] === undefined) return;
    await this.#context.client.patch(machine, { metadata: { annotations: { [CLEANUP_HOOK]: null } } });
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

  get #secretName(): string {
    return `${this.#name}-restore-etcd`;
  }
}

function isAvailable(machine: Machine): boolean {
  const condition = findCondition(conditionsOf(machine), "Available");
  return machine.metadata.deletionTimestamp === undefined && condition?.status === "True";
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
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
