import type { Clock } from "@capstan/apimachinery";
import {
  describeStep,
  type EtcdClient,
  type EtcdConnect,
  type EtcdCredentials,
  etcdClient,
  type MembershipStep,
  membershipStep,
} from "@capstan/etcd";
import { forwardPort, type HostCluster, HostSecret, PersistentVolumeClaim, StatefulSet } from "@capstan/workloads";
import { membershipWait } from "../etcd/membership-wait.ts";
import { EtcdSpaceKeeper } from "../etcd/space-keeper.ts";
import { type EtcdDescription, sameEtcd } from "../etcd-upgrade/description.ts";
import { EtcdChanges } from "../etcd-upgrade/plan.ts";
import { describedPods, PodsGround } from "../etcd-upgrade/pods-ground.ts";
import { endTrial } from "../etcd-upgrade/pods-trial.ts";
import type { ControlPlanePlan } from "../placement.ts";
import { wantedEtcd } from "./inputs.ts";
import { type MemberSight, memberSights } from "./members.ts";
import { memberClaim, memberName } from "./names.ts";
import {
  ETCD_PORTS,
  etcdMember,
  etcdStatefulSet,
  filesSecret,
  type PodsInput,
  TEMPLATE_ANNOTATION,
} from "./objects.ts";
import { membersChange, type PodsMember, type PodsRecord } from "./record.ts";

/** A step that could not be taken, or waits for a member to catch up, is retried after this time. */
const STEP_AGAIN_MS = 3000;

/** Dependencies of PodsEtcd. */
export interface PodsEtcdOptions {
  clock: Clock;
  /** Another client, in tests. */
  client?: (credentials: EtcdCredentials, connect: EtcdConnect) => EtcdClient;
}

interface Trouble {
  reason: string;
  message: string;
}

/** Problems and pending changes of etcd in pods. */
export interface PodsEtcdReport {
  /** A problem of etcd although its members respond. */
  trouble?: Trouble;
  /** Set while its members are not the desired ones. */
  pending?: Trouble;
  recheckAtMs: number;
}

/** How the members of etcd currently run. */
export interface PodsEtcdRun {
  /** Why they do not run as desired. */
  restarting?: Trouble;
  /** Whether kube-apiservers must not change their version yet. */
  holdsUpgrade: boolean;
  recheckAtMs: number;
}

/** Manages etcd in pods: runs, adds, removes and replaces members, and keeps them from running out of space. */
export class PodsEtcd {
  readonly #options: PodsEtcdOptions;
  readonly #space = new EtcdSpaceKeeper();
  readonly #changes: EtcdChanges;

  constructor(options: PodsEtcdOptions) {
    this.#options = options;
    this.#changes = new EtcdChanges(options.clock);
  }

  forget(owner: string): void {
    this.#space.forget(owner);
  }

  /** Observes the members; what is seen of them for the first time is recorded. */
  sights(host: HostCluster, { names, record }: PodsInput): MemberSight[] {
    const sights = memberSights(host, names, record.members);
    for (const { record: member, ready } of sights)
      if (ready && member.learner !== true && member.replacing === undefined) {
        member.started = true;
        delete member.joined;
      }
    return sights;
  }

  /** Writes the record of the data, which includes how members start. */
  async save(host: HostCluster, input: PodsInput): Promise<void> {
    await host.ensure(HostSecret, filesSecret(input, "etcd"));
  }

  /** Runs the members as requested, or as before while that is not proven or does not work. */
  async run(host: HostCluster, input: PodsInput, serving: string | undefined): Promise<PodsEtcdRun> {
    const { record, plan } = input;
    const save = (): Promise<void> => this.save(host, input);
    const ground = new PodsGround({ host, input, serving, nowMs: this.#options.clock.now(), save });
    const { aim, wanted, fixed } = this.#wanted(input);
    const choice = await this.#changes.choose(ground, wanted);
    let waits = await this.#runAs(host, input, choice.description);
    const after = await this.#changes.judge(ground, choice.description, ground.states(choice.description));
    if (!sameEtcd(after.description, choice.description)) waits = await this.#runAs(host, input, after.description);
    if (record.etcdChange?.stage !== "trial") await endTrial(host, input.names);
    await this.save(host, input);
    const pending = after.pending ?? choice.pending;
    const recheckMs = after.recheckMs ?? choice.recheckMs;
    // kube-apiservers change to another version once its etcd serves.
    const holds = record.etcdChange !== undefined || aim.version !== (record.etcdServes ?? aim).version;
    const told = holds ? upgradeFailed(plan, record, serving) : undefined;
    const trouble = told ?? pending ?? waits ?? fixed;
    return {
      holdsUpgrade: holds || waits !== undefined,
      restarting: trouble,
      recheckAtMs: this.#options.clock.now() + (recheckMs ?? Infinity),
    };
  }

  /** The target etcd, and the part of it that is possible now. */
  #wanted({ plan, record }: PodsInput): { aim: EtcdDescription; wanted: EtcdDescription; fixed?: Trouble } {
    const aim = wantedEtcd(plan, record);
    const serves = record.etcdServes;
    if (serves === undefined) return { aim, wanted: aim };
    if (record.storage.type === "EmptyDir") {
      if (sameEtcd({ ...aim, version: serves.version }, serves)) return { aim: serves, wanted: serves };
      const message =
        "spec.etcd.storage.type EmptyDir loses the data with its pod, so etcd cannot be changed; set spec.etcd and spec.pods back, or create a control plane with PersistentVolumeClaim";
      return { aim: serves, wanted: serves, fixed: { reason: "DataWouldBeLost", message } };
    }
    const fixed = olderRefused(plan, aim);
    return {
      aim,
      wanted: record.etcdChange === undefined && membersChange(record) ? serves : aim,
      fixed,
    };
  }

  /** Runs every member; a changed specification replaces one pod at a time, when all others are ready. */
  async #runAs(host: HostCluster, input: PodsInput, as: EtcdDescription): Promise<Trouble | undefined> {
    input.record.etcdImage = as.version;
    const own = describedPods(input, as);
    const sights = this.sights(host, input);
    const waiting: string[] = [];
    let busy = false;
    for (const { record: member, live, ready } of sights) {
      const desired = etcdStatefulSet(own, member);
      const { metadata } = desired;
      const runs = live !== undefined && (live.spec?.replicas ?? 0) > 0;
      const digest = live?.metadata.annotations?.[TEMPLATE_ANNOTATION];
      const changes = runs && digest !== metadata.annotations?.[TEMPLATE_ANNOTATION];
      const others = sights.filter(({ record }) => record.index !== member.index);
      if (
        changes &&
        member.replacing === undefined &&
        (busy || others.some((other) => !other.ready || !other.settled))
      ) {
        waiting.push(metadata.name ?? "");
        continue;
      }
      await host.ensure(StatefulSet, desired);
      if (changes || !ready) busy = true;
    }
    await this.#freeStuck(host, input);
    await this.#removeOthers(host, input);
    if (waiting.length === 0) return undefined;
    return {
      reason: "EtcdRestarting",
      message: `${waiting.join(", ")}: will be replaced once all other members of etcd are ready`,
    };
  }

  /** A StatefulSet waits for a pod to become ready before it replaces it: this deletes a pod that never will be. */
  async #freeStuck(host: HostCluster, input: PodsInput): Promise<void> {
    if (input.record.storage.type === "EmptyDir") return;
    for (const { live, pod, ready, podCurrent } of this.sights(host, input)) {
      const seen = (live?.status?.observedGeneration ?? 0) >= (live?.metadata.generation ?? 0);
      if (pod === undefined || ready || podCurrent || !seen || pod.metadata.deletionTimestamp !== undefined) continue;
      await host.client.delete(pod);
    }
  }

  /** Takes one step towards the requested healthy members. `settled`: kube-apiservers run with the current list of members. */
  async keep(
    host: HostCluster,
    input: PodsInput,
    sights: readonly MemberSight[],
    settled: boolean,
  ): Promise<PodsEtcdReport> {
    const { plan, record } = input;
    const nowMs = this.#options.clock.now();
    // A member that fails during a change is rolled back, and the message of the rollback says more.
    if (record.etcdChange !== undefined && record.etcdChange.stage !== "trial") return { recheckAtMs: Infinity };
    const wanted = plan.spec.etcd?.replicas ?? 1;
    const step = membershipStep(sights, wanted, settled, nowMs);
    const report: PodsEtcdReport = { recheckAtMs: Infinity };
    if (step.type === "wait") report.pending = membershipWait(step);
    else if (step.type !== "none") {
      report.pending = { reason: "EtcdMembersChanging", message: describeStep(step, wanted) };
      try {
        const waits = await this.#take(step, host, input, sights);
        report.pending.message += waits;
        await this.save(host, input);
        // Pods that are being deleted are watched.
        if (waits === "") report.recheckAtMs = nowMs;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        report.pending.message += `: ${why}`;
        report.recheckAtMs = nowMs + STEP_AGAIN_MS;
      }
    } else if (sights.every(({ ready }) => ready)) {
      const endpoints = record.members.map(({ index }) => etcdMember(input.names, index).clientUrl);
      const client = this.client(host, input);
      await this.#space.keep({ owner: plan.owner, spec: plan.spec.etcd, client, endpoints, nowMs, record });
      await this.save(host, input);
    }
    const space = this.#space.seen(plan.owner);
    if (space === undefined) return report;
    return {
      ...report,
      recheckAtMs: Math.min(report.recheckAtMs, space.nextCheckMs),
      ...(space.trouble === undefined ? {} : { trouble: space.trouble }),
    };
  }

  /** Connects to etcd through the API of the host cluster, because its pod network may not be reachable. */
  client(host: HostCluster, { names, files }: PodsInput): EtcdClient {
    const { clock, client } = this.#options;
    const make = client ?? ((keys: EtcdCredentials, connect: EtcdConnect) => etcdClient(keys, clock, connect));
    const credentials = {
      ca: files["etcd/ca.crt"] ?? "",
      cert: files["apiserver-etcd-client.crt"] ?? "",
      key: files["apiserver-etcd-client.key"] ?? "",
    };
    return make(credentials, (url) => {
      const [name = ""] = url.hostname.split(".");
      return forwardPort(host.client, { namespace: names.namespace, name }, ETCD_PORTS.client);
    });
  }

  /**
   * Every step first checks what of it is already done, because the manager may have been killed halfway. Returns what it
   * waits for, if it takes more than one reconcile.
   */
  async #take(
    step: Exclude<MembershipStep, { type: "none" | "wait" }>,
    host: HostCluster,
    input: PodsInput,
    sights: readonly MemberSight[],
  ): Promise<string> {
    const { names, record } = input;
    const records = record.members;
    if (step.type === "serve") {
      for (const member of records) delete member.joining;
      return "";
    }
    if (step.type === "leave") {
      for (const member of records) if (member.index >= step.index) member.leaving = true;
      return "";
    }
    const sight = sights.find((each) => each.record.index === step.index);
    if (step.type === "replace" && sight !== undefined) {
      const left = await this.#stop(host, input, sight, step.why);
      if (left !== undefined) return `: waiting for ${left} to be deleted`;
    }
    const { peerUrl } = etcdMember(names, step.index);
    const helper = sights.find(
      (each) => each.ready && each.record.learner !== true && each.record.index !== step.index,
    );
    if (helper === undefined) throw new Error("no other member of etcd responds");
    const endpoint = etcdMember(names, helper.record.index).clientUrl;
    const client = this.client(host, input);
    const listed = (await client.members(endpoint)).find(({ peerUrls }) => peerUrls.includes(peerUrl));
    const own = records.find(({ index }) => index === step.index);
    const began = [...new Set([...records.map(({ index }) => index), step.index])];
    switch (step.type) {
      case "promote":
        if (listed?.isLearner === true) await client.promoteMember(endpoint, listed.id);
        delete own?.learner;
        return "";
      case "add":
        if (listed === undefined) await client.addMember(endpoint, peerUrl, true);
        record.members = [...records, { index: step.index, began, joined: true, learner: true, joining: true }];
        return "";
      case "replace": {
        if (listed !== undefined && listed.name !== "") await client.removeMember(endpoint, listed.id);
        // With a quorum of other members it may vote immediately, so that it does not reject requests of kube-apiservers.
        if (listed === undefined || listed.name !== "") await client.addMember(endpoint, peerUrl, false);
        const fresh: PodsMember = { index: step.index, began, joined: true, replacedMs: this.#options.clock.now() };
        record.members = records.map((member) => (member.index === step.index ? fresh : member));
        return "";
      }
      case "remove":
        if (listed !== undefined) await leave(client, endpoint, listed.id, etcdMember(names, step.index).clientUrl);
        record.members = records.filter(({ index }) => index !== step.index);
        return "";
    }
  }

  /** Stops a member that is to be replaced, and deletes its volume if that is damaged. Returns what still exists. */
  async #stop(host: HostCluster, input: PodsInput, sight: MemberSight, why: string): Promise<string | undefined> {
    const { names } = input;
    const { record } = sight;
    // An empty volume need not be deleted, and one that was created manually would be lost.
    const wipe = sight.claimLost || sight.damage !== undefined;
    record.replacing ??= { why, wipe };
    await this.save(host, input);
    await host.ensure(StatefulSet, etcdStatefulSet(input, record));
    if (sight.pod !== undefined) return `pod ${sight.pod.metadata.name}`;
    if (!record.replacing.wipe) return undefined;
    const key = { namespace: names.namespace, name: memberClaim(names, record.index) };
    const claim = host.get(PersistentVolumeClaim, key);
    if (claim === undefined) return undefined;
    if (claim.metadata.deletionTimestamp === undefined) await host.client.delete(claim);
    return `claim ${key.name}`;
  }

  /** Deletes what is left of removed members, including their volumes. */
  async #removeOthers(host: HostCluster, { names, record, plan }: PodsInput): Promise<void> {
    const wanted = new Set(record.members.map(({ index }) => memberName(names, index)));
    for (const live of host.of(StatefulSet, plan.owner)) {
      const name = live.metadata.name ?? "";
      if (wanted.has(name) || live.metadata.deletionTimestamp !== undefined) continue;
      await host.client.delete(live, { propagationPolicy: "Background" });
      const claim = host.get(PersistentVolumeClaim, { namespace: names.namespace, name: `data-${name}-0` });
      if (claim !== undefined) await host.client.delete(claim);
    }
  }
}

/** The leader transfers leadership before it is removed: with two members it could not inform the other one afterwards. */
async function leave(client: EtcdClient, endpoint: string, id: string, own: string): Promise<void> {
  const stays = await client.status(endpoint);
  if (stays.leader === id) await client.moveLeader(own, stays.memberId);
  await client.removeMember(endpoint, id);
}

/** An explicitly requested image that is older than the etcd that has served. */
function olderRefused({ spec }: ControlPlanePlan, aim: EtcdDescription): Trouble | undefined {
  const image = spec.etcd?.image;
  if (image === undefined || image === aim.version) return undefined;
  return {
    reason: "EtcdNotOlder",
    message: `spec.etcd.image ${image} is older than ${aim.version}, which has served: etcd cannot be downgraded with its data, so ${aim.version} keeps running; set spec.etcd.image to it or a newer one, or restore an earlier backup into a new control plane`,
  };
}

/** An upgrade whose etcd failed. */
function upgradeFailed(
  plan: ControlPlanePlan,
  { etcdRefused, etcdChange }: PodsRecord,
  serving: string | undefined,
): Trouble | undefined {
  if (etcdRefused === undefined || etcdChange !== undefined || serving === undefined || serving === plan.version)
    return undefined;
  return {
    reason: "UpgradeFailed",
    message: `etcd of ${plan.version} does not become ready: ${etcdRefused.message}; ${serving} keeps serving. Set spec.version back to it, correct what is wrong and try again`,
  };
}
