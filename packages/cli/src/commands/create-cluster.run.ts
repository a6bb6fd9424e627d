import { join } from "node:path";
import { deepEqual, isReason, type Unstructured } from "@capstan/apimachinery";
import {
  type ClusterPlan,
  clusterObjects,
  DEFAULT_VERSION,
  isTroubled,
  machineGroups,
  PLAN_ANNOTATION,
  planWarnings,
  supportWarning,
  versionProblem,
} from "@capstan/capi";
import { type CommandInput, INTERRUPTED, UserError, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { kubernetesCacheDirs } from "../context/data-dir.ts";
import { withTarget } from "../context/with-cluster.ts";
import { parsePlan } from "../create/plan.ts";
import { checkCapacity, checkInstalled, type InstalledHere, missingHere, shortagesAt } from "../create/preflight.ts";
import { askForPlan, type Notes } from "../create/prompts.ts";
import { durationMs } from "../duration.ts";
import { printWaitReason } from "../explain/wait-reason.ts";
import { Cluster } from "../kinds/kinds.ts";
import { dataDirOf, dataFlag, namespaceOf, textOption } from "../options.ts";
import { parseOutput } from "../output/output.ts";
import { type Providers, providersOf } from "../providers.ts";
import { followCluster } from "../tree/follow-cluster.ts";
import { installedVersions } from "../versions/kubernetes-versions.ts";

/** Flags that describe the cluster; without any of them a repeated `create` continues with the plan of the first one. */
const PLAN_FLAGS = [
  "kubernetesVersion",
  "placement",
  "controlPlane",
  "controlPlaneReplicas",
  "controlPlaneMachines",
  "controlPlaneProvider",
  "endpoint",
  "pool",
];

/** What a plan is checked with. */
interface Known {
  installed: InstalledHere;
  providers: Providers;
}

/** Runs `capstan create cluster`: prints or creates the objects of a cluster, and waits until all its machines are available. */
export async function runCreateCluster(input: CommandInput): Promise<number> {
  const dryRun = dryRunMode(input);
  const folders = [join(dataDirOf(input), "kubernetes"), ...kubernetesCacheDirs(input.io.env)];
  const versions = await installedVersions(folders);
  const providers = await providersOf(input);
  const usable = versions.filter((version) => versionProblem(version) === undefined && !version.includes("-"));
  const newest = usable.at(-1) ?? DEFAULT_VERSION;
  const installed = { versions, flags: dataFlag(input) };
  const asked =
    input.arguments.length === 0
      ? await askForPlan(input, { newest, providers }, (soFar) => notesOn(soFar, { newest, providers, installed }))
      : input;
  // Reports invalid flags before it sends any request.
  const plan = parsePlan(asked, newest, providers);
  const unsupported = supportWarning(plan.version, clockOf(input).now());
  if (unsupported !== undefined) input.io.err(`warning: ${unsupported}\n`);
  for (const warning of planWarnings(machineGroups(plan), providers)) input.io.err(`warning: ${warning}\n`);
  if (dryRun === "client") return printObjects(input, clusterObjects(plan, providers));
  return await withTarget(asked, async (target) => {
    const wanted = { ...plan, namespace: namespaceOf(asked) };
    if (dryRun === "server") return await checkAtServer(input, target, clusterObjects(wanted, providers));
    return await create(asked, target, wanted, { installed, providers });
  });
}

/** The obstacles to the cluster as specified so far; none when the API cannot answer, because the create request will report that. */
async function notesOn(
  soFar: CommandInput,
  { newest, providers, installed }: Known & { newest: string },
): Promise<Notes> {
  const plan = parsePlan(soFar, newest, providers);
  const look = async (target: ApiTarget): Promise<Notes> => ({
    version: missingHere(plan, target, installed),
    shortages: await shortagesAt({ ...plan, namespace: namespaceOf(soFar) }, target, providers),
  });
  return await withTarget(soFar, look).catch(() => ({ version: undefined, shortages: [] }));
}

function dryRunMode(input: CommandInput): "none" | "client" | "server" {
  const value = input.options["dryRun"];
  const mode = value === undefined ? "none" : value === true ? "client" : String(value);
  if (mode !== "none" && mode !== "client" && mode !== "server")
    throw usageError(`--dry-run ${mode}: must be client or server`);
  if (mode === "none" && input.options["output"] !== undefined)
    throw usageError("-o prints what --dry-run would create", "add --dry-run");
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
async function checkAtServer(
  input: CommandInput,
  target: ApiTarget,
  objects: readonly Unstructured[],
): Promise<number> {
  const checked: Unstructured[] = [];
  for (const object of objects) checked.push(await target.client.create(object, { dryRun: true }));
  input.io.err(`Checked by ${target.description}; nothing was created\n`);
  for (const object of checked) delete object.metadata.managedFields;
  return printObjects(input, checked);
}

async function create(
  input: CommandInput,
  target: ApiTarget,
  wanted: ClusterPlan,
  { installed, providers }: Known,
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
    if (input.options["waitForCapacity"] !== true) await checkCapacity(plan, target, providers);
  }
  io.err(
    `${existing === undefined ? "Creating" : "Continuing with"} cluster ${namespace}/${name} in ${target.description}\n`,
  );
  const objects = clusterObjects(plan, providers);
  if (existing === undefined) await refuseLeftovers(target, objects);
  for (const object of objects) await createOnce(target, object);
  if (input.options["wait"] === false) {
    io.out(`cluster/${name} created\n`);
    io.err(`Watch its progress: capstan describe cluster ${name}${inNamespace(namespace)} --watch\n`);
    return 0;
  }
  const { end, tree } = await followCluster({
    client: target.client,
    namespace,
    name,
    io,
    clock,
    providers,
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
      io.err(`Interrupted. The cluster is still being created. Watch it with the same command, or delete it:\n`);
      io.err(
        `  capstan create cluster ${name}${inNamespace(namespace)}\n  capstan delete cluster ${name}${inNamespace(namespace)}\n`,
      );
      return INTERRUPTED;
    case "gone":
      throw new UserError(`cluster ${namespace}/${name} was deleted in the meantime`);
    default:
      printWaitReason(io, tree, { namespace, nowMs: clock.now(), providers });
      throw new UserError(`cluster ${namespace}/${name} is not available after ${seconds} s`, {
        hint: `keep waiting with the same command, or see the cause again: capstan why ${name}${inNamespace(namespace)}`,
      });
  }
}

/** Available is True once enough machines are available; `create` waits for all of them. */
function workersUp(replicas: string | undefined, available: number | undefined): boolean {
  const desired = replicas?.split("/")[1];
  return desired === undefined || available === undefined || available >= Number(desired);
}

/** The plan of a cluster that already exists if it is the same one; throws an error that says what to do otherwise. */
function resumedPlan(input: CommandInput, existing: Cluster, wanted: ClusterPlan): ClusterPlan {
  const { namespace, name } = wanted;
  if (existing.metadata.deletionTimestamp !== undefined)
    throw new UserError(`cluster ${namespace}/${name} is being deleted`, {
      hint: `wait until it is deleted: capstan delete cluster ${name}${inNamespace(namespace)}`,
    });
  const text = existing.metadata.annotations?.[PLAN_ANNOTATION];
  const before = text === undefined ? undefined : readPlan(text);
  const bare = PLAN_FLAGS.every((flag) => input.options[flag] === undefined) && Object.keys(input.lists).length === 0;
  if (before !== undefined && (bare || deepEqual(before, wanted))) return before;
  throw new UserError(
    before === undefined
      ? `cluster ${namespace}/${name} exists and was not created by this command`
      : `cluster ${namespace}/${name} exists and was created with other options`,
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

/** Refuses to take over objects of another cluster, before the first object is created. */
async function refuseLeftovers(target: ApiTarget, objects: readonly Unstructured[]): Promise<void> {
  for (const object of objects.slice(1)) {
    const { namespace, name = "" } = object.metadata;
    const kind = await target.client.kindOf(object);
    if ((await target.client.get(kind, { namespace, name })) !== undefined)
      throw new UserError(
        `${object.kind} ${namespace ?? ""}/${name} already exists and does not belong to this cluster`,
        {
          hint: "choose another name, or delete it first with kubectl",
        },
      );
  }
}

/** An earlier run may have created it. */
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
