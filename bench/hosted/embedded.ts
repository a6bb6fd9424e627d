import type { Figure } from "../lib/result.ts";
import { cpuSeconds, residentMiB, sleep } from "../lib/usage.ts";
import { ManagerProcess } from "./manager.ts";

const IN_FLIGHT = 50;
const GOAL_COUNT = 1000;

/** Many embedded control planes in one manager, from the first request to the last one Available. */
export async function embedded(count: number): Promise<Figure[]> {
  const manager = await ManagerProcess.start();
  const { api } = manager;
  try {
    const cpu = cpuSeconds(manager.pid);
    const begun = performance.now();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < count; index = next++) await api.create(`e${index}`, "Embedded");
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
    while ((await api.countAvailable()) < count) await sleep(500);
    const seconds = (performance.now() - begun) / 1000;
    const memory = residentMiB(manager.pid);
    // Smaller runs must be proportionally faster, with room for fixed costs.
    const share = Math.min(1, count / GOAL_COUNT + 0.1);
    return [
      {
        name: `${count} embedded control planes Available`,
        value: seconds,
        unit: "s",
        peer: null,
        goal: `under 60 s for ${GOAL_COUNT}`,
        ok: seconds < 60 * share,
      },
      {
        name: `CPU of the manager for them`,
        value: cpuSeconds(manager.pid) - cpu,
        unit: "s",
        peer: null,
        goal: "none set",
        ok: true,
      },
      {
        name: `memory of the manager with ${count} embedded control planes`,
        value: memory,
        unit: "MiB",
        peer: null,
        goal: `under 1.2 GB for ${GOAL_COUNT}`,
        ok: memory * 1024 * 1024 < 1.2e9,
      },
    ];
  } finally {
    await manager.stop();
  }
}
