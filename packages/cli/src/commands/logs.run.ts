import { join } from "node:path";
import { sleep, systemClock, type Unstructured } from "@capstan/apimachinery";
import { field } from "@capstan/capi";
import { Client, httpTransport, kindRef, kubeconfigFromText } from "@capstan/runtime";
import { type CommandInput, INTERRUPTED, UserError, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { Cluster } from "../kinds/kinds.ts";
import { fileLogs } from "../logs/file-logs.ts";
import type { LogSource } from "../logs/log-source.ts";
import { podLogs } from "../logs/pod-logs.ts";
import { textOption } from "../options.ts";
import { suggest } from "../suggest.ts";

const LOOK_MS = 500;
const Secret = kindRef<Unstructured>({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });

/** Runs `capstan logs`: prints the end of each component's log from local files or pods, and follows them with --follow. */
export function runLogs(input: CommandInput): Promise<number> {
  const tail = textOption(input, "tail") ?? "20";
  if (!/^-?\d+$/.test(tail)) throw usageError(`--tail ${tail} is not a number of lines`);
  return withTarget(input, async (target) => {
    const { sources, close } = await findLogs(input, target);
    try {
      return await print(input, chosen(input, sources), Number(tail));
    } finally {
      await close();
    }
  });
}

async function print(input: CommandInput, sources: readonly LogSource[], tail: number): Promise<number> {
  const show = (component: string, text: string): void => {
    for (const line of text.split("\n"))
      if (line !== "") input.io.out(sources.length > 1 ? `[${component}] ${line}\n` : `${line}\n`);
  };
  for (const source of sources) show(source.component, await source.begin(tail));
  if (input.options["follow"] !== true) return 0;
  const clock = clockOf(input);
  const signal = input.io.interrupted?.();
  for (;;) {
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    if (signal?.aborted === true) return INTERRUPTED;
    for (const source of sources) show(source.component, await source.next());
  }
}

/** The components that the arguments select. */
function chosen(input: CommandInput, sources: readonly LogSource[]): readonly LogSource[] {
  const [name = "", wanted] = input.arguments;
  if (wanted === undefined) return sources;
  const isWanted = ({ component }: LogSource): boolean =>
    component === wanted || component.split(" ").includes(wanted) || component.replace(/-\d+$/, "") === wanted;
  const found = sources.filter(isWanted);
  if (found.length > 0) return found;
  const names = sources.map(({ component }) => component);
  const near = suggest(wanted, names);
  throw new UserError(`cluster ${name} has no component ${JSON.stringify(wanted)}`, {
    hint: near === undefined ? `it has: ${names.join(", ")}` : `did you mean ${near}?`,
  });
}

interface Logs {
  sources: LogSource[];
  close(): Promise<void>;
}

/** The logs of a cluster's components: files of this machine, or pods of the cluster that runs them. */
async function findLogs(input: CommandInput, target: ApiTarget): Promise<Logs> {
  const { namespace, name } = clusterNames(input);
  const cluster = await target.client.get(Cluster, { namespace, name });
  if (cluster === undefined) throw noSuchCluster(target, namespace, name);
  const reference = cluster.spec?.controlPlaneRef;
  const planeName = reference?.name ?? name;
  const kind =
    reference === undefined ? undefined : await target.client.mapper.preferred(reference.apiGroup, reference.kind);
  const plane = kind === undefined ? undefined : await target.client.get(kind, { namespace, name: planeName });
  const placement = field(plane, "spec", "placement", "type");
  const local =
    target.dataDir === undefined ? [] : await fileLogs(join(target.dataDir, "clusters", namespace, planeName));
  if (local.length > 0) return { sources: local, close: () => Promise.resolve() };
  // The manager's default placement is not recorded in the object; on any other machine than the manager's it can only be pods.
  if (placement === "Pods" || (placement === undefined && target.dataDir === undefined)) {
    const host = await hostClient(target, namespace, field(plane, "spec", "hostCluster", "secretName"));
    const sources = await podLogs(host.client, namespace, planeName);
    if (sources.length > 0) return { sources, close: host.close };
    await host.close();
    throw new UserError(`the control plane of ${namespace}/${name} has no pods yet`, {
      hint: `see what it is waiting for: capstan why ${name} -n ${namespace}`,
    });
  }
  throw noLogs(target, namespace, name, placement);
}

/** The API of the cluster that runs the pods: the management cluster, unless the control plane names another one. */
async function hostClient(
  target: ApiTarget,
  namespace: string,
  secretName: unknown,
): Promise<{ client: Client; close(): Promise<void> }> {
  if (typeof secretName !== "string") return { client: target.client, close: () => Promise.resolve() };
  const secret = await target.client.get(Secret, { namespace, name: secretName });
  const value = field(secret, "data", "value");
  if (typeof value !== "string")
    throw new UserError(`Secret ${namespace}/${secretName} holds no kubeconfig of the host cluster`, {
      hint: "it must have the key value: see docs/hosted-control-planes.md",
    });
  const config = await kubeconfigFromText(Buffer.from(value, "base64").toString("utf8"), { clock: systemClock });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "capstan-cli", clock: systemClock });
  return { client, close: () => transport.close() };
}

function noLogs(target: ApiTarget, namespace: string, name: string, placement: unknown): UserError {
  if (placement === "Embedded")
    return new UserError(`cluster ${namespace}/${name} has no logs on this machine`, {
      hint: `its control plane runs inside the manager; see what happened: capstan events ${name}`,
    });
  if (target.dataDir === undefined)
    return new UserError("the control planes of this API do not run on this machine", {
      hint: "run capstan logs on the machine that runs them",
    });
  return new UserError(`cluster ${namespace}/${name} has no logs on this machine`, {
    hint: `see what it is waiting for: capstan why ${name} -n ${namespace}`,
  });
}
