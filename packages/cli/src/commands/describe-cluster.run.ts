import { sleep } from "@capstan/apimachinery";
import { assess } from "@capstan/capi";
import { type CommandInput, INTERRUPTED } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { renderState } from "../explain/render-chain.ts";
import { textOption } from "../options.ts";
import { treeColors } from "../output/paint.ts";
import { type Providers, providersOf } from "../providers.ts";
import { readClusterTree } from "../tree/cluster-tree.ts";
import { DESCRIBE_HEADERS, describeTree } from "../tree/describe-tree.ts";
import { renderTree } from "../tree/tree.ts";
import type { TreeObject } from "../tree/tree-object.ts";

const LOOK_MS = 1000;

/** Runs `capstan describe cluster`: prints the object tree of a cluster once, or after every change with --watch. */
export function runDescribeCluster(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const providers = await providersOf(input);
    if (input.options["watch"] === true) return await follow(input, target, providers);
    const tree = await read(input, target, providers);
    input.io.out(render(input, tree, providers));
    return 0;
  });
}

async function read(input: CommandInput, target: ApiTarget, providers: Providers): Promise<TreeObject> {
  const { namespace, name } = clusterNames(input);
  const options = { machineSets: input.options["showMachinesets"] === true, nowMs: clockOf(input).now(), providers };
  const tree = await readClusterTree(target.client, namespace, name, options);
  if (tree === undefined) throw noSuchCluster(target, namespace, name);
  return tree;
}

function render(input: CommandInput, tree: TreeObject, providers: Providers): string {
  const nowMs = clockOf(input).now();
  const { state } = assess(tree, { nowMs, providers, namespace: clusterNames(input).namespace });
  const shown = describeTree(tree, nowMs, {
    echo: input.options["echo"] === true,
    grouping: input.options["grouping"] !== "false",
    showConditions: textOption(input, "showConditions")?.split(",") ?? [],
  });
  return `${renderState(tree, state, nowMs)}${state.message === "" ? "" : `${state.message}\n`}\n${renderTree(DESCRIBE_HEADERS, [shown], treeColors(input.io.terminal?.outColors === true))}\n`;
}

/** Redraws in place on a terminal; elsewhere prints again when something other than ages changed. */
async function follow(input: CommandInput, target: ApiTarget, providers: Providers): Promise<number> {
  const clock = clockOf(input);
  const signal = input.io.interrupted?.();
  const redraw = input.io.terminal?.redraw === true;
  let before = "";
  let shownBefore = false;
  for (;;) {
    const tree = await read(input, target, providers).catch((error: unknown) => {
      if (!shownBefore) throw error;
      input.io.err("the cluster is deleted\n");
      return undefined;
    });
    if (tree === undefined) return 0;
    const { state: shown } = assess(tree, {
      nowMs: clock.now(),
      providers,
      namespace: clusterNames(input).namespace,
    });
    const state = JSON.stringify([shown, tree], (key, value: unknown) => (key === "changesAtMs" ? undefined : value));
    if (redraw) input.io.out(`\u001b[H\u001b[2J${render(input, tree, providers)}`);
    else if (state !== before) input.io.out(`${shownBefore ? "\n" : ""}${render(input, tree, providers)}`);
    before = state;
    shownBefore = true;
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) return INTERRUPTED;
  }
}
