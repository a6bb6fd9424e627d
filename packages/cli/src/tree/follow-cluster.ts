import { type Clock, sleep } from "@capstan/apimachinery";
import { headline, type ObjectState, stateOf } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { CommandIo } from "../command.ts";
import { LiveText } from "../output/live-text.ts";
import type { Providers } from "../providers.ts";
import { readClusterTree, type TreeOptions } from "./cluster-tree.ts";
import { DESCRIBE_HEADERS, describeTree } from "./describe-tree.ts";
import { renderTree } from "./tree.ts";
import type { TreeObject } from "./tree-object.ts";

const LOOK_MS = 500;

/** What to wait for, and for how long. */
export interface FollowOptions {
  client: Client;
  namespace: string;
  name: string;
  io: CommandIo;
  clock: Clock;
  providers: Providers;
  timeoutMs: number;
  /** Whether the wait is over. */
  done(tree: TreeObject): boolean | Promise<boolean>;
}

/** The width of a line of progress when the terminal's is unknown. */
const LINE_WIDTH = 80;

/** How a wait ended, with the last tree that was read. */
export type FollowResult = { end: "done" | "timeout" | "interrupted" | "gone"; tree: TreeObject | undefined };

/** Shows the progress of a cluster until a condition is met: as a live tree on a terminal, else one line per change. */
export async function followCluster(options: FollowOptions): Promise<FollowResult> {
  const { client, namespace, name, io, clock, providers } = options;
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
    tree = await readClusterTree(client, namespace, name, { nowMs: clock.now(), providers });
    if (tree === undefined) return ended("gone");
    if (live.live) live.draw(renderTree(DESCRIBE_HEADERS, [describeTree(tree, clock.now())]));
    else for (const text of changes(tree, { nowMs: clock.now(), providers }, said, first)) live.line(text);
    first = false;
    if (await options.done(tree)) return ended("done");
    if (clock.monotonic() >= until) return ended("timeout");
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) return ended("interrupted");
  }
}

/** One line for each object whose state has changed since its last line; objects that are healthy from the beginning get none. */
function changes(node: TreeObject, at: TreeOptions, said: Map<string, string>, first: boolean): string[] {
  const key = `${node.kind}/${node.name}`;
  const below = node.children.flatMap((child) => changes(child, at, said, first));
  if (["MachineInfrastructure", "BootstrapConfig", "Host"].includes(node.role ?? "")) return below;
  const state = stateOf(node, at);
  const text = progressLine(key, node.kind === "Machine" ? undefined : node.counts?.replicas, state);
  const quiet = said.get(key) === text || (first && state.state === "Healthy");
  said.set(key, text);
  return quiet ? below : [...below, text];
}

/** Formats one line of progress, cut to a fixed width: `RollingOut (Progressing, 3 of 7): WorkerPool/general: Rolling out …`. */
export function progressLine(key: string, replicas: string | undefined, state: ObjectState): string {
  const { progress } = state;
  const far = progress === undefined ? "" : `, ${progress.done} of ${progress.total}`;
  const counts = progress !== undefined || replicas === undefined ? "" : ` ${replicas}`;
  // The reason comes first, so that only the end of the message is cut.
  const reason = state.state === "Healthy" ? state.state : `${state.reason} (${state.state}${far})`;
  const lead = `${reason}: ${key}${counts}`;
  const message = withoutSubject(headline(state.message), key);
  const line = message === "" ? lead : `${lead}: ${message}`;
  return line.length > LINE_WIDTH ? `${line.slice(0, LINE_WIDTH - 1)}…` : line;
}

/** The message without its leading object, if that is the object of the line or the infrastructure object of the same name. */
function withoutSubject(message: string, key: string): string {
  const [, kind = "", rest = ""] = /^(\S+) (.*)$/s.exec(message) ?? [];
  const [ownKind = "", name = ""] = key.split("/");
  return kind.endsWith(ownKind) && rest.startsWith(`${name}: `) ? rest.slice(name.length + 2) : message;
}
