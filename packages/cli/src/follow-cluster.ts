import { type Clock, sleep } from "@capstan/apimachinery";
import { isTroubled, summaryOf } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { readClusterTree } from "./cluster-tree.ts";
import type { CommandIo } from "./command.ts";
import { DESCRIBE_HEADERS, describeTree } from "./describe-tree.ts";
import { LiveText } from "./live-text.ts";
import { renderTree } from "./tree.ts";
import type { TreeObject } from "./tree-object.ts";

const LOOK_MS = 500;

/** What is waited for, and for how long. */
export interface FollowOptions {
  client: Client;
  namespace: string;
  name: string;
  io: CommandIo;
  clock: Clock;
  timeoutMs: number;
  /** Whether the wait is over. */
  done(tree: TreeObject): boolean | Promise<boolean>;
}

/** How a wait ended. */
export type FollowResult = { end: "done" | "timeout" | "interrupted" | "gone"; tree: TreeObject | undefined };

/** Shows how a cluster changes until it is as wanted: the whole tree on a terminal, one line per change elsewhere. */
export async function followCluster(options: FollowOptions): Promise<FollowResult> {
  const { client, namespace, name, io, clock } = options;
  const signal = io.interrupted?.();
  const live = new LiveText(io);
  const said = new Map<string, string>();
  let first = true;
  const until = clock.monotonic() + options.timeoutMs;
  let tree: TreeObject | undefined;
  const ended = (end: FollowResult["end"]): FollowResult => {
    live.clear();
    return { end, tree };
  };
  for (;;) {
    tree = await readClusterTree(client, namespace, name);
    if (tree === undefined) return ended("gone");
    if (live.live) live.draw(renderTree(DESCRIBE_HEADERS, [describeTree(tree, clock.now())]));
    else for (const text of changes(tree, said, first)) live.line(text);
    first = false;
    if (await options.done(tree)) return ended("done");
    if (clock.monotonic() >= until) return ended("timeout");
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) return ended("interrupted");
  }
}

/** One line for each object whose state is another than when it was last told; what is well from the beginning is not told. */
function changes(node: TreeObject, said: Map<string, string>, first: boolean): string[] {
  const key = `${node.kind}/${node.name}`;
  const summary = summaryOf(node);
  const counts = node.counts === undefined || node.kind === "Machine" ? "" : ` (${node.counts.replicas})`;
  const text =
    summary === undefined || ["MachineInfrastructure", "BootstrapConfig", "Host"].includes(node.role ?? "")
      ? ""
      : `${key}${counts}: ${summary.status === "True" ? summary.type : `${summary.reason}${firstLine(summary.message)}`}`;
  const quiet = text === "" || said.get(key) === text || (first && !isTroubled(node));
  said.set(key, text);
  return [...node.children.flatMap((child) => changes(child, said, first)), ...(quiet ? [] : [text])];
}

/** The first line that says something; the headings of lists do not. */
function firstLine(message: string): string {
  const line = message
    .split("\n")
    .map((part) => part.replace(/^[\s*]+/, "").trim())
    .find((part) => part !== "" && !part.endsWith(":"));
  return line === undefined ? "" : `, ${line}`;
}
