import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "@capstan/apimachinery";
import { field } from "@capstan/capi";
import { type ApiTarget, clockOf } from "../api-target.ts";
import { type CommandInput, INTERRUPTED, UserError, usageError } from "../command.ts";
import { Cluster } from "../kinds.ts";
import { textOption } from "../options.ts";
import { suggest } from "../suggest.ts";
import { clusterNames, noSuchCluster, withTarget } from "../with-cluster.ts";

const LOOK_MS = 500;
/** Enough for the last lines of any component; logs are rotated at 16 MiB. */
const TAIL_BYTES = 1 << 20;

interface LogFile {
  component: string;
  path: string;
  offset: number;
}

export function runLogs(input: CommandInput): Promise<number> {
  const tail = textOption(input, "tail") ?? "20";
  if (!/^-?\d+$/.test(tail)) throw usageError(`--tail ${tail} is not a number of lines`);
  return withTarget(input, async (target) => {
    const files = await logFiles(input, target);
    const prefixed = files.length > 1;
    const print = (component: string, text: string): void => {
      for (const line of text.split("\n"))
        if (line !== "") input.io.out(prefixed ? `[${component}] ${line}\n` : `${line}\n`);
    };
    for (const file of files) print(file.component, await lastLines(file, Number(tail)));
    if (input.options["follow"] !== true) return 0;
    const clock = clockOf(input);
    const signal = input.io.interrupted?.();
    for (;;) {
      await sleep(clock, LOOK_MS, signal).catch(() => undefined);
      if (signal?.aborted === true) return INTERRUPTED;
      for (const file of files) print(file.component, await whatCame(file));
    }
  });
}

/** The logs of a cluster's components, when they lie on this machine. */
async function logFiles(input: CommandInput, target: ApiTarget): Promise<LogFile[]> {
  const { namespace, name } = clusterNames(input);
  const cluster = await target.client.get(Cluster, { namespace, name });
  if (cluster === undefined) throw noSuchCluster(target, namespace, name);
  const plane = cluster.spec?.controlPlaneRef;
  if (target.dataDir === undefined)
    throw new UserError("the control planes of this API do not run on this machine", {
      hint: `kubectl logs -n ${namespace} of its pods, or capstan logs on the machine that runs them`,
    });
  const folder = join(target.dataDir, "clusters", namespace, plane?.name ?? name);
  const programs = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: LogFile[] = [];
  for (const entry of programs.filter((each) => each.isDirectory()).sort((a, b) => a.name.localeCompare(b.name))) {
    const names: string[] = await readdir(join(folder, entry.name)).catch(() => []);
    if (names.includes(`${entry.name}.log`))
      found.push({ component: entry.name, path: join(folder, entry.name, `${entry.name}.log`), offset: 0 });
  }
  if (found.length === 0) throw await noLogs(target, cluster, plane?.name ?? name);
  const [, wanted] = input.arguments;
  if (wanted === undefined) return found;
  const chosen = found.filter(({ component }) => component === wanted || component.replace(/-\d+$/, "") === wanted);
  if (chosen.length > 0) return chosen;
  const names = found.map(({ component }) => component);
  const near = suggest(wanted, names);
  throw new UserError(`cluster ${namespace}/${name} has no component ${JSON.stringify(wanted)}`, {
    hint: near === undefined ? `it has: ${names.join(", ")}` : `did you mean ${near}?`,
  });
}

async function noLogs(target: ApiTarget, cluster: Cluster, planeName: string): Promise<UserError> {
  const { namespace = "", name = "" } = cluster.metadata;
  const reference = cluster.spec?.controlPlaneRef;
  const kind =
    reference === undefined ? undefined : await target.client.mapper.preferred(reference.apiGroup, reference.kind);
  const plane = kind === undefined ? undefined : await target.client.get(kind, { namespace, name: planeName });
  const placement = field(plane, "spec", "placement", "type");
  return new UserError(`cluster ${namespace}/${name} has no logs on this machine`, {
    hint:
      placement === "Embedded"
        ? `its control plane lives inside the manager; see what happened: capstan events ${name}`
        : `see what it waits for: capstan why ${name} -n ${namespace}`,
  });
}

async function lastLines(file: LogFile, count: number): Promise<string> {
  const handle = await open(file.path);
  try {
    const { size } = await handle.stat();
    const start = count < 0 ? 0 : Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - start), position: start });
    file.offset = size;
    const lines = buffer.subarray(0, bytesRead).toString("utf8").trimEnd().split("\n");
    return (count < 0 ? lines : lines.slice(Math.max(0, lines.length - count))).join("\n");
  } finally {
    await handle.close();
  }
}

/** What was written since; after a rotation the new file from its beginning. */
async function whatCame(file: LogFile): Promise<string> {
  const handle = await open(file.path).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    if (size < file.offset) file.offset = 0;
    if (size === file.offset) return "";
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(size - file.offset),
      position: file.offset,
    });
    const text = buffer.subarray(0, bytesRead).toString("utf8");
    // A line that is being written is shown when it is whole.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    file.offset += Buffer.byteLength(whole);
    return whole;
  } finally {
    await handle.close();
  }
}
