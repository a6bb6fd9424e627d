import { type Clock, findCondition, isReason, sleep } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, conditionsOf } from "@capstan/capi";
import type { Client, KindRef } from "@capstan/runtime";
import { type CommandInput, type CommandIo, INTERRUPTED, UserError, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { durationMs } from "../duration.ts";
import { printWaitReason } from "../explain/wait-reason.ts";
import { Cluster } from "../kinds/kinds.ts";
import { resourceTypes } from "../kinds/resource-types.ts";
import { LiveText } from "../output/live-text.ts";
import { providersOf } from "../providers.ts";
import { readClusterTree } from "../tree/cluster-tree.ts";
import type { TreeObject } from "../tree/tree-object.ts";

const LOOK_MS = 500;

/** Runs `capstan delete cluster`: asks for confirmation, deletes the Cluster and waits until its objects are deleted. */
export function runDeleteCluster(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const { io } = input;
    const tree = await readClusterTree(target.client, namespace, name, {
      nowMs: clockOf(input).now(),
      providers: await providersOf(input),
    });
    if (tree === undefined) {
      if (input.options["ignoreNotFound"] === true) return 0;
      throw noSuchCluster(target, namespace, name);
    }
    const kinds = await clusterKinds(target.client);
    if (tree.deleting) io.err(`cluster ${namespace}/${name} is already being deleted; continuing\n`);
    else {
      await confirm(input, target, tree);
      io.err(`Deleting cluster ${namespace}/${name} in ${target.description}\n`);
      await target.client.delete({ kind: Cluster, namespace, name });
    }
    if (input.options["wait"] === false) {
      io.out(`cluster/${name} marked for deletion\n`);
      return 0;
    }
    return await waitUntilGone(input, target, kinds);
  });
}

/** Deleting a cluster deletes everything in it, so the user has to type its name. */
async function confirm(input: CommandInput, target: ApiTarget, tree: TreeObject): Promise<void> {
  const { io } = input;
  const { namespace, name } = clusterNames(input);
  if (input.options["yes"] === true) return;
  if (!io.interactive || io.ask === undefined)
    throw usageError(`deleting cluster ${namespace}/${name} needs a confirmation`, "add --yes");
  io.err(
    `Cluster ${namespace}/${name} in ${target.description} will be deleted with all its data and ${summary(tree)}.\n`,
  );
  const answer = await io.ask(`Type its name to delete it: `);
  if (answer.trim() !== name) throw new UserError("nothing was deleted: the name does not match");
}

function summary(tree: TreeObject): string {
  const counted = new Map<string, number>();
  const visit = (node: TreeObject): void => {
    // Hosts are released, not deleted.
    if (!["MachineInfrastructure", "BootstrapConfig", "Host"].includes(node.role ?? ""))
      counted.set(node.kind, (counted.get(node.kind) ?? 0) + 1);
    node.children.forEach(visit);
  };
  tree.children.forEach(visit);
  return counted.size === 0 ? "nothing else" : listKinds(counted);
}

function listKinds(counted: ReadonlyMap<string, number>): string {
  return [...counted].map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`).join(", ");
}

/** Kinds whose objects carry a cluster's name: those of Cluster API, of our own, and Secrets. */
async function clusterKinds(client: Client): Promise<KindRef[]> {
  const types = await resourceTypes(client);
  return types.filter(
    ({ group, plural, namespaced, verbs }) =>
      namespaced &&
      verbs.includes("list") &&
      (group.endsWith("cluster.x-k8s.io") || group === "capstan.dev" || (group === "" && plural === "secrets")),
  );
}

async function waitUntilGone(input: CommandInput, target: ApiTarget, kinds: readonly KindRef[]): Promise<number> {
  const { io } = input;
  const clock: Clock = clockOf(input);
  const { namespace, name } = clusterNames(input);
  const signal = io.interrupted?.();
  const timeoutMs = durationMs("--timeout", String(input.options["timeout"] ?? "30m"));
  const started = clock.monotonic();
  const progress = new Progress(io);
  for (;;) {
    const left = await remaining(target.client, kinds, namespace, name);
    const seconds = ((clock.monotonic() - started) / 1000).toFixed(0);
    if (left.size === 0) {
      progress.end();
      io.out(`cluster/${name} is deleted after ${seconds} s\n`);
      return 0;
    }
    progress.show(`left: ${listKinds(left)}`, await waitsFor(target.client, namespace, name));
    if (clock.monotonic() - started >= timeoutMs) {
      progress.end();
      const options = { nowMs: clock.now(), providers: await providersOf(input) };
      printWaitReason(io, await readClusterTree(target.client, namespace, name, options), { ...options, namespace });
      throw new UserError(
        `cluster ${namespace}/${name} is not deleted after ${seconds} s; what is left: ${listKinds(left)}`,
        {
          hint: `the deletion continues; watch it with the same command, or see the cause: capstan why ${name} -n ${namespace}`,
        },
      );
    }
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) {
      progress.end();
      io.err("Interrupted. The deletion continues; watch it again with the same command.\n");
      return INTERRUPTED;
    }
  }
}

/** What the Cluster reports that it is waiting for. */
async function waitsFor(client: Client, namespace: string, name: string): Promise<string> {
  const cluster = await client.get(Cluster, { namespace, name });
  const deleting = cluster === undefined ? undefined : findCondition(conditionsOf(cluster), "Deleting");
  return deleting?.status === "True" ? deleting.message : "";
}

/** How many objects of each kind are left. */
async function remaining(
  client: Client,
  kinds: readonly KindRef[],
  namespace: string,
  name: string,
): Promise<Map<string, number>> {
  const counted = new Map<string, number>();
  if ((await client.get(Cluster, { namespace, name })) !== undefined) counted.set(Cluster.kind, 1);
  await Promise.all(
    kinds.map(async (kind) => {
      const labelSelector = `${CLUSTER_NAME_LABEL}=${name}`;
      // A kind may be removed while we list.
      const found = await client.list(kind, { namespace, labelSelector }).catch((error: unknown) => {
        if (isReason(error, "NotFound", "Forbidden", "MethodNotAllowed")) return { items: [] };
        throw error;
      });
      if (found.items.length > 0) counted.set(kind.kind, found.items.length);
    }),
  );
  return new Map([...counted].sort(([a], [b]) => a.localeCompare(b)));
}

/** In place on a terminal, one line per change elsewhere. */
class Progress {
  readonly #live: LiveText;
  #before = "";

  constructor(io: CommandIo) {
    this.#live = new LiveText(io);
  }

  show(left: string, message: string): void {
    const text = message === "" ? left : `${left}\n${message}`;
    if (text === this.#before) return;
    this.#before = text;
    this.#live.show(text);
  }

  end(): void {
    this.#live.clear();
  }
}
