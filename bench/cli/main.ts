/** `npm run bench -- cli [--short]`: how fast the bundled command starts and answers against 1,000 clusters. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock, type Unstructured } from "@capstan/apimachinery";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { type Figure, report } from "../lib/result.ts";

const short = process.argv.includes("--short");
const clusters = short ? 200 : 1000;
const runs = short ? 7 : 15;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = join(root, "dist/capstan/capstan.js");
const dataDir = mkdtempSync(join(tmpdir(), "capstan-bench-cli-"));

/** Seconds of one run of a program. */
function seconds(args: string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return (performance.now() - started) / 1000;
}

/** Alternating, so that other load on the machine affects both alike. */
function side(ours: string[], peer: string[]): { ours: number; peer: number } {
  const samples = { ours: [] as number[], peer: [] as number[] };
  for (let i = 0; i < runs; i++) {
    samples.peer.push(seconds(peer));
    samples.ours.push(seconds(ours));
  }
  // The fastest run of each: other load on the machine only adds time.
  return { ours: Math.min(...samples.ours), peer: Math.min(...samples.peer) };
}

/** An idle cluster: the bench measures the command, not the controllers. */
function pausedCluster(name: string): Unstructured[] {
  const metadata = { name, namespace: "default", labels: { "cluster.x-k8s.io/cluster-name": name } };
  const group = "controlplane.cluster.x-k8s.io";
  return [
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name, namespace: "default" },
      spec: { paused: true, controlPlaneRef: { apiGroup: group, kind: "HostedControlPlane", name } },
    },
    {
      apiVersion: `${group}/v1beta2`,
      kind: "HostedControlPlane",
      metadata,
      spec: { version: "v1.37.1", placement: { type: "Embedded" } },
    },
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata,
      spec: {
        clusterName: name,
        bootstrap: { dataSecretName: "none" },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryMachine", name },
      },
    },
  ];
}

async function start(): Promise<ChildProcess> {
  const args = [program, "up", "--listen", "127.0.0.1:0", "--dashboard", "off", "--data", dataDir];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    server.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("Next:")) resolve();
    });
    server.once("exit", () => reject(new Error("the management plane did not start")));
  });
  return server;
}

async function fill(): Promise<void> {
  const config = await loadKubeconfig({ clock: systemClock, path: join(dataDir, "kubeconfig") });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "bench", clock: systemClock });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < clusters)
      for (const object of pausedCluster(`c${String(next++).padStart(4, "0")}`)) await client.create(object);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  await transport.close();
}

if (spawnSync(process.execPath, [join(root, "tools/cli/bundle.mjs")], { stdio: "inherit" }).status !== 0)
  process.exit(1);
const figures: Figure[] = [];
const help = side([program, "--help"], ["-e", "0"]);
figures.push({
  name: "capstan --help",
  value: help.ours * 1000,
  unit: "ms",
  peer: help.peer * 1000,
  goal: "<= 1.5 x node -e 0",
  ok: help.ours <= 1.5 * help.peer,
});
const server = await start();
try {
  await fill();
  const commands = [
    ["get", "clusters"],
    ["describe", "cluster", "c0100"],
    ["why", "c0100"],
  ];
  for (const command of commands) {
    const { ours, peer } = side([program, ...command, "--data", dataDir], ["-e", "0"]);
    figures.push({
      name: `capstan ${command.join(" ")}, ${clusters} clusters`,
      value: ours,
      unit: "s",
      peer,
      goal: "< 0.5 s",
      ok: ours < 0.5,
    });
  }
} finally {
  server.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true });
}
report("cli", figures);
