import { join } from "node:path";
import { deepEqual, isReason, type Unstructured } from "@capstan/apimachinery";
import {
  type ClusterPlan,
  clusterObjects,
  diskImages,
  isTroubled,
  PLAN_ANNOTATION,
  versionProblem,
} from "@capstan/capi";
import { type ApiTarget, clockOf } from "../api-target.ts";
import { type CommandInput, INTERRUPTED, UserError, usageError } from "../command.ts";
import { parsePlan } from "../create/plan.ts";
import { checkCapacity, checkInstalled, type InstalledHere, missingHere, shortagesAt } from "../create/preflight.ts";
import { askForPlan, type Notes } from "../create/prompts.ts";
import { kubernetesCacheDirs } from "../data-dir.ts";
import { durationMs } from "../duration.ts";
import { explainWait } from "../explain-wait.ts";
import { followCluster } from "../follow-cluster.ts";
import { Cluster } from "../kinds.ts";
import { installedVersions } from "../kubernetes-versions.ts";
import { dataDirOf, dataFlag, namespaceOf, textOption } from "../options.ts";
import { parseOutput } from "../output.ts";
import { withTarget } from "../with-cluster.ts";

const FALLBACK_VERSION = "v1.34.4";
/** Flags that describe the cluster; without any of them a repeated `create` continues with the plan of the first one. */
const PLAN_FLAGS = ["kubernetesVersion", "placement", "controlPlaneReplicas", "endpoint", "pool"];

/** Runs `capstan create cluster`: prints or creates the objects of a cluster, and waits until all its machines are available. */
export async function runCreateCluster(input: CommandInput): Promise<number> {
  const dryRun = dryRunMode(input);
  const folders = [join(dataDirOf(input), "kubernetes"), ...kubernetesCacheDirs(input.io.env)];
  const versions = await installedVersions(folders);
  const usable = versions.filter((version) => versionProblem(version) === undefined);
  const newest = usable.at(-1) ?? FALLBACK_VERSION;
  const installed = { versions, flags: dataFlag(input) };
  const asked =
    input.arguments.length === 0
      ? await askForPlan(input, newest, (soFar) => notesOn(soFar, newest, installed))
      : input;
  // Mistakes are told before anything is asked of a server.
  const plan = parsePlan(asked, newest);
  for (const warning of diskImages(plan.workers)) input.io.err(`warning: ${warning}\n`);
  if (dryRun === "client") return printObjects(input, clusterObjects(plan));
  return await withTarget(asked, async (target) => {
    const wanted = { ...plan, namespace: namespaceOf(asked) };
    if (dryRun === "server") return await checkAtServer(input, target, wanted);
    return await create(asked, target, wanted, installed);
  });
}

/** The obstacles to the cluster as specified so far; none when the API cannot answer, as the create request will report that. */
async function notesOn(soFar: CommandInput, newest: string, installed: InstalledHere): Promise<Notes> {
  const plan = parsePlan(soFar, newest);
  const look = async (target: ApiTarget): Promise<Notes> => ({
    version: missingHere(plan, target, installed),
    shortages: await shortagesAt({ ...plan, namespace: namespaceOf(soFar) }, target),
  });
  return await withTarget(soFar, look).catch(() => ({ version: undefined, shortages: [] }));
}

function dryRunMode(input: CommandInput): "none" | "client" | "server" {
  const value = input.options["dryRun"];
  const mode = value === undefined ? "none" : value === true ? "client" : String(value);
  if (mode !== "none" && mode !== "client" && mode !== "server")
    throw usageError(`--dry-run ${mode}: must be client or server`);
  if (mode === "none" && input.options["output"] !== undefined)
    throw usageError("-o shows what --dry-run would make", "add --dry-run");
  return mode;
}

function printObjects(input: CommandInput, objects: readonly Unstructured[]): number {
  const text = textOption(input, "output") ?? "yaml";
  const format = parseOutput(text);
  if (format.type === "name")
    for (const { kind, metadata } of objects) input.io.out(`${kind.toLowerCase()}/${metadata.name ?? ""}\n`);
  else if (format.type === "table") throw usageError("-o: with --dry-run yaml, json or name");
  else if (text === "yaml") input.io.out(objects.map((object) => format.render(object)).join("---\n"));
  else input.io.out(format.render({ apiVersion: "v1", kind: "List", items: objects }));
  return 0;
}

/** What the server would store, defaults and all; nothing is stored. */
async function checkAtServer(input: CommandInput, target: ApiTarget, plan: ClusterPlan): Promise<number> {
  const checked: Unstructured[] = [];
  for (const object of clusterObjects(plan)) checked.push(await target.client.create(object, { dryRun: true }));
  input.io.err(`Checked by ${target.description}; nothing was made\n`);
  for (const object of checked) delete object.metadata.managedFields;
  return printObjects(input, checked);
}

async function create(
  input: CommandInput,
  target: ApiTarget,
  wanted: ClusterPlan,
  installed: InstalledHere,
): Promise<number> {
  const { io } = input;
  const clock = clockOf(input);
  const { namespace, name } = wanted;
  const existing = await target.client.get(Cluster, { namespace, name });
  const plan = existing === undefined ? wanted : resumedPlan(input, existing, wanted);
  const timeoutMs = durationMs("--timeout", String(input.options["timeout"] ?? "30m"));
  const started = clock.monotonic();
  if (existing === undefined) {
    checkInstalled(plan, target, installed);
    if (input.options["waitForCapacity"] !== true) await checkCapacity(plan, target);
  }
  io.err(
    `${existing === undefined ? "Creating" : "Going on with"} cluster ${namespace}/${name} in ${target.description}\n`,
  );
  if (existing === undefined) await refuseLeftovers(target, plan);
  for (const object of clusterObjects(plan)) await createOnce(target, object);
  if (input.options["wait"] === false) {
    io.out(`cluster/${name} created\n`);
    io.err(`Watch it come up: capstan describe cluster ${name}${inNamespace(namespace)} --watch\n`);
    return 0;
  }
  const { end, tree } = await followCluster({
    client: target.client,
    namespace,
    name,
    io,
    clock,
    timeoutMs,
    done: (now) =>
      now.conditions.length > 0 && !isTroubled(now) && workersUp(now.counts?.replicas, now.counts?.available),
  });
  const seconds = ((clock.monotonic() - started) / 1000).toFixed(0);
  switch (end) {
    case "done":
      io.out(`cluster/${name} is available after ${seconds} s\n`);
      io.err(`Next: capstan kubeconfig ${name}${inNamespace(namespace)} > ${name}.kubeconfig\n`);
      return 0;
    case "interrupted":
      io.err(`Interrupted. The cluster goes on being built. Watch it with the same command, or undo it:\n`);
      io.err(
        `  capstan create cluster ${name}${inNamespace(namespace)}\n  capstan delete cluster ${name}${inNamespace(namespace)}\n`,
      );
      return INTERRUPTED;
    case "gone":
      throw new UserError(`cluster ${namespace}/${name} was deleted meanwhile`);
    default:
      explainWait(io, tree, namespace, clock.now());
      throw new UserError(`cluster ${namespace}/${name} is not available after ${seconds} s`, {
        hint: `keep waiting with the same command, or see the cause again: capstan why ${name}${inNamespace(namespace)}`,
      });
  }
}

/** Available speaks of enough; `create` waits for all that were ordered. */
function workersUp(replicas: string | undefined, available: number | undefined): boolean {
  const desired = replicas?.split("/")[1];
  return desired === undefined || available === undefined || available >= Number(desired);
}

/** The plan of a cluster that already exists if it is the same one; throws an error that says what to do otherwise. */
function resumedPlan(input: CommandInput, existing: Cluster, wanted: ClusterPlan): ClusterPlan {
  const { namespace, name } = wanted;
  if (existing.metadata.deletionTimestamp !== undefined)
    throw new UserError(`cluster ${namespace}/${name} is being deleted`, {
      hint: `wait for its end: capstan delete cluster ${name}${inNamespace(namespace)}`,
    });
  const text = existing.metadata.annotations?.[PLAN_ANNOTATION];
  const before = text === undefined ? undefined : readPlan(text);
  const bare = PLAN_FLAGS.every((flag) => input.options[flag] === undefined) && Object.keys(input.lists).length === 0;
  if (before !== undefined && (bare || deepEqual(before, wanted))) return before;
  throw new UserError(
    before === undefined
      ? `cluster ${namespace}/${name} exists and was not made by this command`
      : `cluster ${namespace}/${name} exists and was made otherwise`,
    {
      hint: `choose another name, or change it: capstan scale, capstan upgrade; see it: capstan describe cluster ${name}`,
    },
  );
}

function readPlan(text: string): ClusterPlan | undefined {
  try {
    return JSON.parse(text) as ClusterPlan;
  } catch {
    return undefined;
  }
}

/** Objects of another cluster must not be taken over; better said before the first one is made. */
async function refuseLeftovers(target: ApiTarget, plan: ClusterPlan): Promise<void> {
  for (const object of clusterObjects(plan).slice(1)) {
    const { namespace, name = "" } = object.metadata;
    const kind = await target.client.kindOf(object);
    if ((await target.client.get(kind, { namespace, name })) !== undefined)
      throw new UserError(`${object.kind} ${namespace ?? ""}/${name} exists already and is not this cluster's`, {
        hint: "choose another name, or delete it first with kubectl",
      });
  }
}

/** An earlier run may have made it. */
async function createOnce(target: ApiTarget, object: Unstructured): Promise<void> {
  try {
    await target.client.create(object);
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
  }
}

function inNamespace(namespace: string): string {
  return namespace === "default" ? "" : ` -n ${namespace}`;
}
