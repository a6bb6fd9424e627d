import { rmSync } from "node:fs";
import { join } from "node:path";
import { type RealKubernetes, startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { type Figure, percentile } from "../lib/result.ts";
import { cpuSeconds, residentMiB, sleep } from "../lib/usage.ts";
import { ManagerProcess } from "./manager.ts";

/** Until caches have settled and V8 has compiled what runs again and again: its threads alone take 0.006 of a core for two minutes. */
const SETTLE_MS = 150_000;

/** Control planes as processes: how soon they answer compared with a bare start of the same programs, and what idle ones cost. */
export async function processes(options: {
  samples: number;
  idlePlanes: number;
  idleSeconds: number;
}): Promise<Figure[]> {
  const real = await startKubeApiserver();
  const manager = await ManagerProcess.start();
  const { api } = manager;
  try {
    const ours: number[] = [];
    const available: number[] = [];
    const bare: number[] = [];
    for (let sample = 0; sample < options.samples; sample++) {
      bare.push(await bareStart(real));
      const begun = performance.now();
      await api.create(`c${sample}`, "Process");
      await api.untilReady(`c${sample}`);
      ours.push((performance.now() - begun) / 1000);
      await api.untilAvailable(`c${sample}`);
      available.push((performance.now() - begun) / 1000);
      await api.remove(`c${sample}`);
    }
    const names = Array.from({ length: options.idlePlanes }, (_, index) => `idle${index}`);
    for (const name of names) {
      await api.create(name, "Process");
      await api.untilAvailable(name);
    }
    await sleep(SETTLE_MS);
    const before = cpuSeconds(manager.pid);
    await sleep(options.idleSeconds * 1000);
    const idle = (cpuSeconds(manager.pid) - before) / options.idleSeconds;
    const memory = residentMiB(manager.pid);
    const p50 = percentile(ours, 0.5);
    const peer = percentile(bare, 0.5);
    return [
      {
        name: `Cluster applied to API ready, p50 of ${options.samples}`,
        value: p50,
        unit: "s",
        peer,
        goal: "at most 1.3 times a bare start of etcd and kube-apiserver",
        ok: p50 <= 1.3 * peer,
      },
      {
        name: `Cluster applied to Available, p50 of ${options.samples}`,
        value: percentile(available, 0.5),
        unit: "s",
        peer: null,
        goal: "none set",
        ok: true,
      },
      {
        name: `idle manager with ${options.idlePlanes} control planes`,
        value: idle,
        unit: "cores",
        peer: null,
        goal: "under 0.01",
        ok: idle < 0.01,
      },
      {
        name: `memory of the manager with ${options.idlePlanes} control planes`,
        value: memory,
        unit: "MiB",
        peer: null,
        goal: "none set",
        ok: true,
      },
    ];
  } finally {
    await manager.stop();
    await real.stop();
  }
}

/** Seconds from nothing to /readyz with ready-made certificates and no data. */
async function bareStart(real: RealKubernetes): Promise<number> {
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
