import { sleep, type Unstructured } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, field } from "@capstan/capi";
import { resourcePath } from "@capstan/runtime";
import { type CommandInput, INTERRUPTED, UserError, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { withTarget } from "../context/with-cluster.ts";
import { durationMs } from "../duration.ts";
import { MachineDeployment, WorkerPool } from "../kinds/kinds.ts";
import { findType, type ResourceType } from "../kinds/resource-types.ts";
import { namespaceOf, textOption } from "../options.ts";
import { LiveText } from "../output/live-text.ts";

const LOOK_MS = 500;

/** Runs `capstan scale`: writes the scale subresource of an object and waits until all its replicas are available. */
export function runScale(input: CommandInput): Promise<number> {
  const replicas = replicasOf(input);
  const { type: word, name: wanted } = typeAndName(input);
  return withTarget(input, async (target) => {
    const namespace = namespaceOf(input);
    let type = await findType(target.client, word);
    let name = wanted;
    if (type.kind === "Cluster") {
      const group = await onlyGroup(target, namespace, wanted);
      type = await findType(target.client, group.type);
      name = group.name;
    }
    if (!type.hasScale)
      throw new UserError(`${type.plural} have no replicas`, {
        hint: "see which types have replicas: capstan scale --help",
      });
    const path = resourcePath(type, namespace, name);
    const before = await target.client.request<Unstructured>({ method: "GET", path });
    const pool = poolOf(before);
    if (pool !== undefined)
      throw new UserError(`the replicas of ${type.kind} ${name} belong to WorkerPool ${pool}`, {
        hint: `capstan scale workerpool ${pool} --replicas N`,
      });
    input.io.err(`In ${target.description}\n`);
    await target.client.request({
      method: "PATCH",
      path: `${path}/scale`,
      query: { fieldManager: target.client.fieldManager },
      headers: { "content-type": "application/merge-patch+json" },
      body: { spec: { replicas } },
    });
    input.io.out(
      `${type.kind.toLowerCase()}/${name} scaled from ${String(field(before, "spec", "replicas") ?? 0)} to ${replicas}\n`,
    );
    return input.options["wait"] === false ? 0 : await waitForReplicas(input, target, type, path, replicas);
  });
}

function replicasOf(input: CommandInput): number {
  const text = textOption(input, "replicas");
  if (text === undefined) throw usageError("--replicas is missing", "capstan scale md/NAME --replicas 3");
  if (!/^\d{1,5}$/.test(text)) throw usageError(`--replicas ${text} is not a number`);
  return Number(text);
}

function typeAndName(input: CommandInput): { type: string; name: string } {
  const [first = "", second] = input.arguments;
  const [type = "", name] = second === undefined ? first.split("/") : [first, second];
  if (name === undefined || name === "")
    throw usageError(`${JSON.stringify(first)} names no object`, "capstan scale TYPE NAME, or TYPE/NAME");
  return { type, name };
}

/** The workers of a cluster that has exactly one group of them. */
async function onlyGroup(
  target: ApiTarget,
  namespace: string,
  cluster: string,
): Promise<{ type: string; name: string }> {
  const [pools, deployments] = await Promise.all([
    target.client.list(WorkerPool, { namespace }),
    target.client.list(MachineDeployment, { namespace, labelSelector: `${CLUSTER_NAME_LABEL}=${cluster}` }),
  ]);
  const groups = [
    ...pools.items
      .filter(({ spec }) => spec.clusterName === cluster)
      .map(({ metadata }) => ({ type: "workerpool", name: metadata.name ?? "" })),
    ...deployments.items
      .filter((deployment) => poolOf(deployment) === undefined)
      .map(({ metadata }) => ({ type: "machinedeployment", name: metadata.name ?? "" })),
  ];
  const [only, ...others] = groups;
  if (only === undefined)
    throw new UserError(`cluster ${namespace}/${cluster} has no workers`, {
      hint: `capstan describe cluster ${cluster}`,
    });
  if (others.length > 0)
    throw new UserError(`cluster ${namespace}/${cluster} has several groups of workers`, {
      hint: `name one: ${groups.map(({ type, name }) => `${type}/${name}`).join(", ")}`,
    });
  return only;
}

function poolOf(object: Unstructured | MachineDeployment): string | undefined {
  return object.metadata.ownerReferences?.find(({ kind, controller }) => kind === "WorkerPool" && controller === true)
    ?.name;
}

async function waitForReplicas(
  input: CommandInput,
  target: ApiTarget,
  type: ResourceType,
  path: string,
  replicas: number,
): Promise<number> {
  const { io } = input;
  const clock = clockOf(input);
  const signal = io.interrupted?.();
  const timeoutMs = durationMs("--timeout", String(input.options["timeout"] ?? "30m"));
  const until = clock.monotonic() + timeoutMs;
  const live = new LiveText(io);
  let said = "";
  for (;;) {
    const object = await target.client.request<Unstructured>({ method: "GET", path });
    const count = (name: string): number => Number(field(object, "status", name) ?? 0);
    const seen = Number(field(object, "status", "observedGeneration") ?? 0) >= (object.metadata.generation ?? 0);
    const text = `${count("replicas")} there, ${count("availableReplicas")} available, ${replicas} wanted`;
    if (text !== said) live.show(text);
    said = text;
    if (seen && count("replicas") === replicas && count("availableReplicas") === replicas) {
      live.clear();
      return 0;
    }
    if (clock.monotonic() >= until) {
      live.clear();
      throw new UserError(`${type.kind} ${object.metadata.name ?? ""}: ${text}`, {
        hint: `scaling continues; see what it is waiting for: capstan why ${object.metadata.labels?.[CLUSTER_NAME_LABEL] ?? "CLUSTER"}`,
      });
    }
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) {
      live.clear();
      io.err("Interrupted. Scaling continues without this command.\n");
      return INTERRUPTED;
    }
  }
}
