/** `npm run bench -- hosted`: hosted control planes as processes, beside a bare start of the same programs. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts, mustRun, startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { type Figure, percentile, report } from "../lib/result.ts";
import { cpuSeconds, residentMiB, sleep } from "../lib/usage.ts";

const short = process.argv.includes("--short");
const SAMPLES = short ? 3 : 10;
const IDLE_PLANES = short ? 2 : 10;
const IDLE_SECONDS = short ? 15 : 60;
const CLI = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));

const real = await startKubeApiserver();
const dataDir = mkdtempSync(join(tmpdir(), "capstan-bench-"));
const [port = 0] = await freePorts(1);
const manager = spawn(process.execPath, [CLI, "up", "--data", dataDir, "--listen", `127.0.0.1:${port}`], {
  stdio: ["ignore", "pipe", "inherit"],
});
const pid = manager.pid ?? 0;

try {
  await new Promise<void>((resolve) => {
    manager.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("Capstan is up")) resolve();
    });
  });
  const ours: number[] = [];
  const available: number[] = [];
  const bare: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    bare.push(await bareStart());
    const seconds = await create(`c${sample}`);
    ours.push(seconds.ready);
    available.push(seconds.available);
    await remove(`c${sample}`);
  }
  const names = Array.from({ length: IDLE_PLANES }, (_, index) => `idle${index}`);
  for (const name of names) await create(name);
  await sleep(20_000);
  const before = cpuSeconds(pid);
  await sleep(IDLE_SECONDS * 1000);
  const idle = (cpuSeconds(pid) - before) / IDLE_SECONDS;
  const memory = residentMiB(pid);
  for (const name of names) await remove(name);

  const p50 = percentile(ours, 0.5);
  const peer = percentile(bare, 0.5);
  const figures: Figure[] = [
    {
      name: `Cluster applied to API ready, p50 of ${SAMPLES}`,
      value: p50,
      unit: "s",
      peer,
      goal: "at most 1.3 times a bare start of etcd and kube-apiserver",
      ok: p50 <= 1.3 * peer,
    },
    {
      name: `Cluster applied to Available, p50 of ${SAMPLES}`,
      value: percentile(available, 0.5),
      unit: "s",
      peer: null,
      goal: "none set",
      ok: true,
    },
    {
      name: `idle manager with ${IDLE_PLANES} control planes`,
      value: idle,
      unit: "cores",
      peer: null,
      goal: "under 0.01",
      ok: idle < 0.01,
    },
    {
      name: `memory of the manager with ${IDLE_PLANES} control planes`,
      value: memory,
      unit: "MiB",
      peer: null,
      goal: "none set",
      ok: true,
    },
  ];
  report("hosted", figures);
} finally {
  const ended = new Promise((resolve) => manager.once("exit", resolve));
  manager.kill("SIGINT");
  await ended;
  await real.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

/** Seconds from nothing to /readyz with ready-made certificates and no data. */
async function bareStart(): Promise<number> {
  const { apiserver, etcd } = real.components;
  await apiserver.kill();
  await etcd.kill();
  rmSync(join(real.dir, "etcd"), { recursive: true, force: true });
  const begun = performance.now();
  etcd.spawn();
  apiserver.spawn();
  await etcd.untilReady();
  await apiserver.untilReady();
  const seconds = (performance.now() - begun) / 1000;
  await apiserver.kill();
  await etcd.kill();
  return seconds;
}

/** Seconds from applying one file to an API that answers, and to Available: it holds what nodes need. */
async function create(name: string): Promise<{ ready: number; available: number }> {
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name };
  const metadata = { name, namespace: "default" };
  const file = [
    { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata, spec: { controlPlaneRef } },
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "HostedControlPlane",
      metadata,
      spec: { version: "v1.34.4", placement: { type: "Process" } },
    },
  ];
  const begun = performance.now();
  await kubectl(["apply", "-f", "-"], file.map((object) => JSON.stringify(object)).join("\n---\n"));
  // The kubeconfig is published when the API is ready.
  await kubectl(["wait", "--for=create", `secret/${name}-kubeconfig`, "--timeout=120s"]);
  const ready = (performance.now() - begun) / 1000;
  await kubectl(["wait", "--for=condition=Available", `cluster/${name}`, "--timeout=120s"]);
  return { ready, available: (performance.now() - begun) / 1000 };
}

async function remove(name: string): Promise<void> {
  await kubectl(["delete", "cluster", name, "--timeout=120s"]);
}

function kubectl(args: string[], input?: string): Promise<string> {
  const common = ["--kubeconfig", join(dataDir, "kubeconfig"), "--cache-dir", join(dataDir, ".kube")];
  return mustRun(join(real.bin, "kubectl"), [...common, ...args], input === undefined ? {} : { input });
}
