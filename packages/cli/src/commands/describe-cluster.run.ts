import { type Clock, sleep } from "@capstan/apimachinery";
import { assess } from "@capstan/capi";
import { type ApiTarget, clockOf } from "../api-target.ts";
import { readClusterTree } from "../cluster-tree.ts";
import { type CommandInput, INTERRUPTED } from "../command.ts";
import { DESCRIBE_HEADERS, describeTree } from "../describe-tree.ts";
import { textOption } from "../options.ts";
import { treeColors } from "../paint.ts";
import { renderState } from "../render-chain.ts";
import { renderTree } from "../tree.ts";
import type { TreeObject } from "../tree-object.ts";
import { clusterNames, noSuchCluster, withTarget } from "../with-cluster.ts";

const LOOK_MS = 1000;

/** Runs `capstan describe cluster`: prints the object tree of a cluster once, or after every change with --watch. */
export function runDescribeCluster(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    if (input.options["watch"] === true) return await follow(input, target, clockOf(input));
    const tree = await read(input, target);
    input.io.out(render(input, tree));
    return 0;
  });
}

async function read(input: CommandInput, target: ApiTarget): Promise<TreeObject> {
  const { namespace, name } = clusterNames(input);
  const options = { machineSets: input.options["showMachinesets"] === true, nowMs: clockOf(input).now() };
  const tree = await readClusterTree(target.client, namespace, name, options);
  if (tree === undefined) throw noSuchCluster(target, namespace, name);
  return tree;
}

function render(input: CommandInput, tree: TreeObject): string {
  const nowMs = clockOf(input).now();
  const { state } = assess(tree, { nowMs, namespace: clusterNames(input).namespace });
  const shown = describeTree(tree, nowMs, {
    echo: input.options["echo"] === true,
    grouping: input.options["grouping"] !== "false",
    showConditions: textOption(input, "showConditions")?.split(",") ?? [],
  });
  return `${renderState(tree, state, nowMs)}${state.message === "" ? "" : `${state.message}\n`}\n${renderTree(DESCRIBE_HEADERS, [shown], treeColors(input.io.terminal?.outColors === true))}\n`;
}

/** On a terminal the picture stays and changes; elsewhere it is printed again when something other than ages changed. */
async function follow(input: CommandInput, target: ApiTarget, clock: Clock): Promise<number> {
  const signal = input.io.interrupted?.();
  const redraw = input.io.terminal?.redraw === true;
  let before = "";
  let shownBefore = false;
  for (;;) {
    const tree = await read(input, target).catch((error: unknown) => {
      if (!shownBefore) throw error;
      input.io.err("the cluster is gone\n");
      return undefined;
    });
    if (tree === undefined) return 0;
    const { state: shown } = assess(tree, { nowMs: clock.now(), namespace: clusterNames(input).namespace });
    const state = JSON.stringify([shown, tree], (key, value: unknown) => (key === "changesAtMs" ? undefined : value));
    if (redraw) input.io.out(`\u001b[H\u001b[2J${render(input, tree)}`);
    else if (state !== before) input.io.out(`${shownBefore ? "\n" : ""}${render(input, tree)}`);
    before = state;
    shownBefore = true;
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) return INTERRUPTED;
  }
}
