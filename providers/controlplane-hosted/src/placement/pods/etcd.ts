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
import { type EtcdDescription, sameEtcd } from "../etcd/change.ts";
import { EtcdChanges } from "../etcd/changes.ts";
import { membershipWait } from "../etcd/membership-wait.ts";
import { EtcdSpaceKeeper } from "../etcd/space-keeper.ts";
import type { ControlPlanePlan } from "../placement.ts";
import { describedPods, PodsGround } from "./etcd-change.ts";
import { endTrial } from "./etcd-trial.ts";
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

/** A step that could not be taken, or waits for a member to catch up, is tried again after this. */
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

  /** The members as they are; what is seen of them for the first time goes into the record. */
  sights(host: HostCluster, { names, record }: PodsInput): MemberSight[] {
    const sights = memberSights(host, names, record.members);
    for (const { record: member, ready } of sights)
      if (ready && member.learner !== true && member.replacing === undefined) {
        member.started = true;
        delete member.joined;
      }
    return sights;
  }

  /** Writes what is known of the data, and with it how members begin. */
  async save(host: HostCluster, input: PodsInput): Promise<void> {
    await host.ensure(HostSecret, filesSecret(input, "etcd"));
  }

  /** Lets the members run as wanted, or as they ran before where that was not proved or did not work. */
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
    // kube-apiservers of another version follow when the etcd that belongs to it serves.
    const holds = record.etcdChange !== undefined || aim.version !== (record.etcdServes ?? aim).version;
    const told = holds ? upgradeFailed(plan, record, serving) : undefined;
    const trouble = told ?? pending ?? waits ?? fixed;
    return {
      holdsUpgrade: holds || waits !== undefined,
      ...(trouble === undefined ? {} : { restarting: trouble }),
      recheckAtMs: this.#options.clock.now() + (recheckMs ?? Infinity),
    };
  }

  /** The etcd that is aimed at, and what of it can be had now. */
  #wanted({ plan, record }: PodsInput): { aim: EtcdDescription; wanted: EtcdDescription; fixed?: Trouble } {
    const aim = wantedEtcd(plan, record);
    const serves = record.etcdServes;
    if (serves === undefined) return { aim, wanted: aim };
    if (record.storage.type === "EmptyDir") {
      if (sameEtcd({ ...aim, version: serves.version }, serves)) return { aim: serves, wanted: serves };
      const message =
        "spec.etcd.storage.type EmptyDir keeps no data without its pod, so etcd stays as it was started; set spec.etcd and spec.pods back, or make a control plane with PersistentVolumeClaim";
      return { aim: serves, wanted: serves, fixed: { reason: "DataWouldBeLost", message } };
    }
    const fixed = olderRefused(plan, aim);
    return {
      aim,
      wanted: record.etcdChange === undefined && membersChange(record) ? serves : aim,
      ...(fixed === undefined ? {} : { fixed }),
    };
  }

  /** Lets every member run; a changed description replaces one pod at a time, when all others are ready. */
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
      message: `${waiting.join(", ")}: replaced when all other members of etcd are ready`,
    };
  }

  /** A StatefulSet waits for a pod to become ready before it replaces it: one that never will is taken away by us. */
  async #freeStuck(host: HostCluster, input: PodsInput): Promise<void> {
    if (input.record.storage.type === "EmptyDir") return;
    for (const { live, pod, ready, podCurrent } of this.sights(host, input)) {
      const seen = (live?.status?.observedGeneration ?? 0) >= (live?.metadata.generation ?? 0);
      if (pod === undefined || ready || podCurrent || !seen || pod.metadata.deletionTimestamp !== undefined) continue;
      await host.client.delete(pod);
    }
  }

  /** Brings number and health of the members a step forward. `settled`: kube-apiservers run with the list of members as it is. */
  async keep(
    host: HostCluster,
    input: PodsInput,
    sights: readonly MemberSight[],
    settled: boolean,
  ): Promise<PodsEtcdReport> {
    const { plan, record } = input;
    const nowMs = this.#options.clock.now();
    // What fails while it changes is taken back, which says more than what it fails with.
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
        // What goes is watched.
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

  /** Asks etcd through the API of the host cluster: the network of its pods need not be reached. */
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
   * Every step finds out first what of it was done already: the manager may have ended in its midst. Gives back what is waited
   * for, when it takes more than one pass.
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
      if (left !== undefined) return `: waiting for ${left} to go`;
    }
    const { peerUrl } = etcdMember(names, step.index);
    const helper = sights.find(
      (each) => each.ready && each.record.learner !== true && each.record.index !== step.index,
    );
    if (helper === undefined) throw new Error("no other member of etcd answers");
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
        // With a quorum of others it may vote at once, and kube-apiservers that ask it are not turned away.
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

  /** Stops a member that is to be replaced, and gives its volume up when that is damaged. Tells what is still there. */
  async #stop(host: HostCluster, input: PodsInput, sight: MemberSight, why: string): Promise<string | undefined> {
    const { names } = input;
    const { record } = sight;
    // What is empty need not be given up, and a volume made by hand would be missed.
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

  /** What is left of members that are none any more goes, with its volume. */
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

/** The leader hands over before it goes: the last of two could not tell the other that it went. */
async function leave(client: EtcdClient, endpoint: string, id: string, own: string): Promise<void> {
  const stays = await client.status(endpoint);
  if (stays.leader === id) await client.moveLeader(own, stays.memberId);
  await client.removeMember(endpoint, id);
}

/** An image that was asked for by name and is older than what has served. */
function olderRefused({ spec }: ControlPlanePlan, aim: EtcdDescription): Trouble | undefined {
  const image = spec.etcd?.image;
  if (image === undefined || image === aim.version) return undefined;
  return {
    reason: "EtcdNotOlder",
    message: `spec.etcd.image ${image} is older than ${aim.version}, which has served: etcd does not go back with its data, so that one goes on; set spec.etcd.image to it or a newer one, or restore a backup made before it into a new control plane`,
  };
}

/** An upgrade whose etcd did not work. */
function upgradeFailed(
  plan: ControlPlanePlan,
  { etcdRefused, etcdChange }: PodsRecord,
  serving: string | undefined,
): Trouble | undefined {
  if (etcdRefused === undefined || etcdChange !== undefined || serving === undefined || serving === plan.version)
    return undefined;
  return {
    reason: "UpgradeFailed",
    message: `etcd of ${plan.version} does not become ready: ${etcdRefused.message}; ${serving} goes on serving. Set spec.version back to it, correct what is wrong and try again`,
  };
}
