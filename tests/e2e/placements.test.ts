import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { ProcessPlacement } from "@capstan/controlplane-hosted";
import { type PlacementWorld, placementCases } from "@capstan/controlplane-hosted/contract-suite";
import { PortAllocator, ProcessWorkloads } from "@capstan/workloads";
import { afterAll, test } from "vitest";
import { kubernetesBin } from "../real-kubernetes/index.ts";
import { sleep } from "./harness/index.ts";

/**
 * The contract of placements with real programs as processes; Embedded has it in `npm test`, Pods on a real kube-apiserver too. All cases
 * have one world, since a start takes seconds.
 */
const root = mkdtempSync(join(tmpdir(), "capstan-placements-"));
let workloads = new ProcessWorkloads({ root, clock: systemClock });
let placement = makePlacement();

function makePlacement(): ProcessPlacement {
  return new ProcessPlacement({
    root,
    workloads,
    ports: new PortAllocator(root),
    binaries: { find: () => Promise.resolve({ dir: kubernetesBin() }) },
    defaultAddress: "127.0.0.1",
    clock: systemClock,
    random: systemRandom,
  });
}

const world: PlacementWorld = {
  get placement() {
    return placement;
  },
  clock: systemClock,
  spec: {},
  again: async () => {
    // The effect of kill -9 on a manager: no supervisor until the next one adopts.
    workloads.release();
    workloads = new ProcessWorkloads({ root, clock: systemClock });
    await workloads.adoptAll();
    placement = makePlacement();
    return placement;
  },
  progress: () => sleep(100),
  things: (owner) => Promise.resolve(processes(join(root, owner))),
  dataOf: (owner) => {
    const data = join(root, owner, "etcd/data/member");
    return Promise.resolve(existsSync(data) ? String(statSync(data).ino) : undefined);
  },
  close: () => Promise.resolve(),
};

/** `process NAME PID` of running processes, `folder` for a folder without one. */
function processes(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const running = readdirSync(folder).flatMap((name) => {
    try {
      const { pid } = JSON.parse(readFileSync(join(folder, name, "process.json"), "utf8")) as { pid: number };
      process.kill(pid, 0);
      return [`process ${name} ${pid}`];
    } catch {
      return [];
    }
  });
  return running.length === 0 ? ["folder"] : running.toSorted();
}

afterAll(async () => {
  await workloads.stopAll(() => 0);
  rmSync(root, { recursive: true, force: true });
});

for (const { name, run } of placementCases(() => Promise.resolve(world))) test(`Process: ${name}`, run);
