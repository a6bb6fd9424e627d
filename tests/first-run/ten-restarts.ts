import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { Machine, type Node, Secret, secretText } from "@capstan/capi";
import { Client, httpTransport, kindRef, kubeconfigFromText } from "@capstan/runtime";

const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const ConfigMapKind = kindRef({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

/** The demo of a checkout, as processes. */
export interface DemoProcess {
  /** `packages/cli/dist/main.js` of the checkout. */
  readonly cli: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The demo's Machines and Nodes, and an object stored in its cluster. */
export interface DemoPicture {
  machines: string[];
  nodes: string[];
  noted: string;
}

/** Starts and stops the demo ten times, with `capstan down` and `kill -9` in turn; returns its error output. */
export async function tenRestarts(
  demo: DemoProcess,
  running: ChildProcess,
): Promise<{ before: DemoPicture; after: DemoPicture; errors: string; last: ChildProcess }> {
  await note(demo);
  const before = await picture(demo);
  let errors = "";
  let process_ = running;
  for (let round = 0; round < 10; round++) {
    await end(demo, process_, round % 2 === 0 ? "down" : "kill -9");
    const started = await start(demo);
    process_ = started.child;
    errors += started.errors();
    // Long enough for a health check to act that was going to.
    await new Promise((resolve) => setTimeout(resolve, round === 9 ? 75_000 : 3_000));
    errors += started.errors();
  }
  return { before, after: await picture(demo), errors, last: process_ };
}

async function end({ cli, dataDir, env }: DemoProcess, child: ChildProcess, how: "down" | "kill -9"): Promise<void> {
  const { pid } = JSON.parse(readFileSync(join(dataDir, "instance.json"), "utf8")) as { pid: number };
  const ended = new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve(undefined)));
  if (how === "down") execFileSync(process.execPath, [cli, "down", "--data", dataDir], { env, stdio: "ignore" });
  else process.kill(pid, "SIGKILL");
  await ended;
}

async function start({ cli, dataDir, env }: DemoProcess): Promise<{ child: ChildProcess; errors(): string }> {
  const listen = ["--listen", "127.0.0.1:0", "--dashboard", "off"];
  const child = spawn(process.execPath, [cli, "up", "--demo", "--data", dataDir, ...listen], { env });
  let out = "";
  let log = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`capstan up ended with ${code}: ${out}${log}`)));
    child.stdout.on("data", () => {
      if (out.includes("Try, in a second terminal:")) resolve();
    });
  });
  child.removeAllListeners("exit");
  const errors = (): string => {
    const lines = `${out}\n${log}`.split("\n").filter((line) => /"level":[456]0|\bat .*\.js:\d+/.test(line));
    out = "";
    log = "";
    return lines.join("\n");
  };
  return { child, errors };
}

async function connect(text: string): Promise<Client> {
  const config = await kubeconfigFromText(text, { clock: systemClock });
  return new Client(httpTransport(config, { clock: systemClock }), { fieldManager: "first-run", clock: systemClock });
}

async function clients({ dataDir }: DemoProcess): Promise<{ management: Client; workload: Client }> {
  const management = await connect(readFileSync(join(dataDir, "kubeconfig"), "utf8"));
  const secret = await management.get(Secret, { namespace: "default", name: "demo-kubeconfig" });
  if (secret === undefined) throw new Error("the demo has no kubeconfig");
  return { management, workload: await connect(secretText(secret, "value") ?? "") };
}

async function note(demo: DemoProcess): Promise<void> {
  const { workload } = await clients(demo);
  const metadata = { namespace: "default", name: "noted" };
  await workload.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "by a user" } });
}

async function picture(demo: DemoProcess): Promise<DemoPicture> {
  const { management, workload } = await clients(demo);
  const machines = (await management.list(Machine, { namespace: "default" })).items;
  const nodes = (await workload.list(NodeKind)).items;
  const nameAndUid = ({ metadata }: { metadata: { name?: string; uid?: string } }): string =>
    `${metadata.name} ${metadata.uid}`;
  return {
    machines: machines.map(nameAndUid).sort(),
    nodes: nodes.map(nameAndUid).sort(),
    noted: JSON.stringify(await workload.get(ConfigMapKind, { namespace: "default", name: "noted" })),
  };
}
