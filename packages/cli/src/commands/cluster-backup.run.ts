import { findCondition, formatTime, sleep, type Unstructured } from "@capstan/apimachinery";
import { conditionsOf, controlPlaneOfKind, field } from "@capstan/capi";
import { type KindRef, kindRef } from "@capstan/runtime";
import { type CommandInput, INTERRUPTED, UserError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { durationMs } from "../duration.ts";
import { Cluster } from "../kinds/kinds.ts";
import { textOption } from "../options.ts";
import { renderTable } from "../output/table.ts";
import { providersOf } from "../providers.ts";

const ours = { group: "capstan.dev", version: "v1alpha1", namespaced: true };
const ControlPlaneBackup = kindRef<Unstructured>({
  ...ours,
  kind: "ControlPlaneBackup",
  plural: "controlplanebackups",
});
const ControlPlaneRecovery = kindRef<Unstructured>({
  ...ours,
  kind: "ControlPlaneRecovery",
  plural: "controlplanerecoveries",
});
const REQUEST = { metadata: { annotations: { "capstan.dev/backup": "now" } } };
const LOOK_MS = 500;

/** What holds the backups of a cluster: its control plane object, or a ControlPlaneBackup. */
interface Keeper {
  readonly kind: Awaited<ReturnType<ApiTarget["client"]["kindOf"]>>;
  readonly ownBackups: boolean;
  readonly name: string;
  readonly object: Unstructured | undefined;
}

/** Runs `capstan backup create`: requests a backup and waits until it is stored. */
export function runBackupCreate(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const keeper = await keeperOf(input, target, name);
    const before = statusOf(keeper.object)["lastName"];
    if (keeper.object === undefined)
      await target.client.create({
        apiVersion: `${ours.group}/${ours.version}`,
        kind: ControlPlaneBackup.kind,
        metadata: { namespace, name: keeper.name, ...REQUEST.metadata },
        spec: { clusterName: name },
      });
    else await target.client.patch({ kind: keeper.kind, namespace, name: keeper.name }, REQUEST);
    if (input.options["wait"] === false) {
      input.io.out(`backup of cluster/${name} requested\n`);
      return 0;
    }
    const last = await waitFor(input, `no backup of cluster ${namespace}/${name} yet`, async () => {
      const object = await target.client.get(keeper.kind, { namespace, name: keeper.name });
      const taken = statusOf(object)["lastName"];
      if (typeof taken === "string" && taken !== before) return taken;
      const condition = findCondition(conditionsOf({ status: object?.["status"] }), "BackedUp");
      if (condition?.status === "False" && condition.reason !== "NoBackupYet")
        throw new Waiting(condition.message ?? condition.reason ?? "");
      return undefined;
    });
    if (last === undefined) return INTERRUPTED;
    input.io.out(`${last}\n`);
    return 0;
  });
}

/** Runs `capstan backup list`: prints the backups that the status lists. */
export function runBackupList(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const keeper = await keeperOf(input, target, name);
    const { backups, location } = statusOf(keeper.object);
    const all = (Array.isArray(backups) ? backups : []) as {
      name: string;
      sizeBytes: number;
      otherCluster?: boolean | undefined;
    }[];
    if (all.length === 0) {
      input.io.err(`Cluster ${namespace}/${name} has no backups; take one: capstan backup create ${name}\n`);
      return 0;
    }
    input.io.out(
      renderTable(
        ["NAME", "BYTES", ...(all.some(({ otherCluster }) => otherCluster === true) ? ["CLUSTER"] : [])],
        all.map(({ name: backup, sizeBytes, otherCluster }) => [
          backup,
          String(sizeBytes),
          ...(otherCluster === true ? ["another one"] : []),
        ]),
      ),
    );
    input.io.err(`In ${String(location ?? "")}\n`);
    return 0;
  });
}

/** Runs `capstan backup restore`: in place for a hosted control plane, as a recovery for one on machines. */
export function runBackupRestore(input: CommandInput): Promise<number> {
  const [, backup = ""] = input.arguments;
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const keeper = await keeperOf(input, target, name);
    if (!keeper.ownBackups) return await recoverPlane(input, target, backup);
    await confirm(
      input,
      `Restore backup ${backup} of cluster ${namespace}/${name}? Everything written since then is lost.`,
    );
    await target.client.patch(
      { kind: keeper.kind, namespace, name: keeper.name },
      { spec: { etcd: { restoreFrom: { backup } } } },
    );
    input.io.out(`cluster/${name} is being restored from ${backup}\n`);
    input.io.err(`Watch it: capstan describe cluster ${name} -n ${namespace} --watch\n`);
    return 0;
  });
}

/** Runs `capstan recover`: shows the plan of a recovery, asks, and waits until it is done. */
export function runRecover(input: CommandInput): Promise<number> {
  return withTarget(input, (target) => recoverPlane(input, target, textOption(input, "fromBackup")));
}

async function recoverPlane(input: CommandInput, target: ApiTarget, backup: string | undefined): Promise<number> {
  const { namespace, name } = clusterNames(input);
  const keeper = await keeperOf(input, target, name);
  if (keeper.ownBackups)
    throw new UserError(`the control plane of cluster ${namespace}/${name} is hosted and repairs itself`, {
      hint: `see what it is waiting for: capstan why ${name}, or restore a backup: capstan backup restore ${name} BACKUP`,
    });
  const key = { namespace, name: await recoveryName(input, target, namespace, name, backup) };
  const read = async (): Promise<Unstructured | undefined> => await target.client.get(ControlPlaneRecovery, key);
  /** The recovery, unless there is nothing to recover. */
  const possible = async (): Promise<Unstructured | undefined> => {
    const object = await read();
    if (statusOf(object)["phase"] !== "Refused") return object;
    await target.client.delete({ kind: ControlPlaneRecovery, ...key });
    throw new UserError(messageOf(object));
  };
  const shown = await waitFor(input, "the recovery has no plan yet", async () => {
    const object = await possible();
    const { phase } = statusOf(object);
    return phase === undefined || phase === "Planning" ? undefined : object;
  });
  if (shown === undefined) return INTERRUPTED;
  const digest = digestOf(shown);
  if (waitsForApproval(shown)) {
    input.io.err(`${messageOf(shown).replace(/ To start it, .*$/, "")}\n`);
    await confirm(input, "Recover the control plane?");
    refuseChange(await possible(), digest);
    await target.client.patch(
      { kind: ControlPlaneRecovery, ...key },
      { spec: { approved: true, approvedPlan: digest } },
    );
  }
  if (input.options["wait"] === false) {
    input.io.out(`cluster/${name} is being recovered\n`);
    return 0;
  }
  let said: unknown;
  const end = await waitFor(input, `cluster ${namespace}/${name} is not recovered yet`, async () => {
    const object = await possible();
    refuseChange(object, digest);
    const { phase } = statusOf(object);
    if (phase !== said) input.io.err(`${String(phase)}\n`);
    said = phase;
    return phase === "Done" ? "done" : undefined;
  });
  if (end === undefined) {
    input.io.err("Interrupted. The recovery continues without this command.\n");
    return INTERRUPTED;
  }
  input.io.out(`cluster/${name} is recovered\n`);
  return 0;
}

/** What a recovery reports about itself. */
function messageOf(object: Unstructured | undefined): string {
  return findCondition(conditionsOf({ status: object?.["status"] }), "Recovered")?.message ?? "";
}

function digestOf(object: Unstructured | undefined): unknown {
  return field(object, "status", "plan", "digest");
}

/** Whether nobody has approved the plan that the status shows. */
function waitsForApproval(object: Unstructured): boolean {
  if (statusOf(object)["phase"] !== "WaitingForApproval") return false;
  const { approved, approvedPlan } = (field(object, "spec") ?? {}) as Record<string, unknown>;
  return approved !== true || (approvedPlan !== undefined && approvedPlan !== digestOf(object));
}

/** An approval is one of the plan that was shown. */
function refuseChange(object: Unstructured | undefined, shown: unknown): void {
  if (statusOf(object)["phase"] !== "WaitingForApproval" || digestOf(object) === shown) return;
  throw new UserError("the plan has changed since it was shown, and nothing was changed", {
    hint: "run the same command again: it shows the new plan",
  });
}

/** The recovery that is under way, or a new one. */
async function recoveryName(
  input: CommandInput,
  target: ApiTarget,
  namespace: string,
  cluster: string,
  backup: string | undefined,
): Promise<string> {
  const { items } = await target.client.list(ControlPlaneRecovery, { namespace });
  const running = items.find(
    (object) => field(object, "spec", "clusterName") === cluster && statusOf(object)["phase"] !== "Done",
  );
  if (running !== undefined && field(running, "spec", "backup") === backup) return running.metadata.name ?? "";
  const stamp = formatTime(clockOf(input).now())
    .replaceAll(/[^0-9TZ]/g, "")
    .toLowerCase();
  const name = `${cluster}-${stamp}`;
  await target.client.create({
    apiVersion: `${ours.group}/${ours.version}`,
    kind: ControlPlaneRecovery.kind,
    metadata: { namespace, name },
    spec: { clusterName: cluster, backup },
  });
  return name;
}

async function keeperOf(input: CommandInput, target: ApiTarget, name: string): Promise<Keeper> {
  const { namespace } = clusterNames(input);
  const cluster = await target.client.get(Cluster, { namespace, name });
  if (cluster === undefined) throw noSuchCluster(target, namespace, name);
  const reference = cluster.spec?.controlPlaneRef;
  if (reference === undefined) throw new UserError(`cluster ${namespace}/${name} has no control plane`);
  if (controlPlaneOfKind(reference.kind, await providersOf(input))?.ownBackups === true) {
    const kind = await target.client.mapper.preferred(reference.apiGroup, reference.kind);
    const object = await target.client.get(kind, { namespace, name: reference.name });
    return { kind, ownBackups: true, name: reference.name, object };
  }
  const { items } = await target.client.list(ControlPlaneBackup, { namespace });
  const [object] = items
    .filter((each) => field(each, "spec", "clusterName") === name)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1));
  return { kind: ControlPlaneBackup as KindRef, ownBackups: false, name: object?.metadata.name ?? name, object };
}

/** The part of a status that describes backups or a recovery. */
function statusOf(object: Unstructured | undefined): Record<string, unknown> {
  const status = field(object, "status") as Record<string, unknown> | undefined;
  return { ...status, ...(status?.["backup"] as Record<string, unknown> | undefined) };
}

async function confirm(input: CommandInput, question: string): Promise<void> {
  if (input.options["yes"] === true) return;
  const { ask, interactive } = input.io;
  if (!interactive || ask === undefined)
    throw new UserError("this needs a confirmation", { hint: "read what it would do above, then add --yes" });
  if (!/^y(es)?$/i.test((await ask(`${question} (yes or no) [no]: `)).trim()))
    throw new UserError("nothing was changed");
}

/** Says what a wait is for, if it takes too long. */
class Waiting extends Error {}

/** Asks until there is an answer; undefined when the user interrupts. */
async function waitFor<T>(
  input: CommandInput,
  problem: string,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const clock = clockOf(input);
  const until = clock.monotonic() + durationMs("--timeout", String(input.options["timeout"] ?? "30m"));
  const signal = input.io.interrupted?.();
  for (let said = ""; ; ) {
    try {
      const answer = await read();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!(error instanceof Waiting)) throw error;
      if (error.message !== said) input.io.err(`${error.message}\n`);
      said = error.message;
    }
    if (clock.monotonic() >= until)
      throw new UserError(said === "" ? problem : `${problem}: ${said}`, {
        hint: `see what it is waiting for: capstan why ${input.arguments[0] ?? ""}`,
      });
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) return undefined;
  }
}
