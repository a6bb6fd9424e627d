/**
 * Faults that the server and its data must survive: `npm run faults [-- ROUNDS]`. Kills writers and servers without warning, fills the disk,
 * damages files, restarts a management plane of 300 clusters, sends the most expensive requests and malformed ones
 * (100 per round), and reads responses of hostile servers and documents of tenants.
 * The seed is printed; FAULTS_SEED repeats a run's choices (not the exact moment of a kill).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomInt, seededRandom, systemRandom } from "@capstan/apimachinery";
import { restartStory } from "../simulation/restart-story.ts";
import { ApiProcess } from "./api-process.ts";
import { damageRounds } from "./damage.ts";
import { foreignRounds } from "./foreign.ts";
import { fullDiskServer } from "./full-disk.ts";
import { informerRounds } from "./informer-rounds.ts";
import { fullDiskRound, killRound } from "./kill.ts";
import { killServerRounds } from "./kill-server.ts";
import { Ledger } from "./ledger.ts";
import { malformedRounds } from "./malformed-rounds.ts";
import { worstRounds } from "./worst.ts";

const rounds = Number(process.argv[2] ?? 100);
const seed = Number(process.env["FAULTS_SEED"] ?? randomInt(systemRandom, 1_000_000));
const random = seededRandom(seed);
const root = mkdtempSync(join(tmpdir(), "capstan-faults-"));
const directory = join(root, "data");
console.log(`faults: ${rounds} rounds, FAULTS_SEED=${seed}`);

try {
  const ledger = new Ledger();
  for (let round = 1; round <= rounds; round++) {
    await killRound(directory, round, random, ledger);
    const { revision, objects } = await ledger.check(directory);
    if (round % 10 === 0 || round === rounds)
      console.log(
        `  killed ${round} times: ${ledger.acknowledgements()} writes acknowledged, none lost; revision ${revision}, ${objects} objects`,
      );
  }

  const small = join(root, "small");
  const smallLedger = new Ledger();
  const message = await fullDiskRound(small, 4096, smallLedger);
  if (!message.includes("no space left")) throw new Error(`a full disk gave: ${message || "no error"}`);
  await smallLedger.check(small);
  console.log(`  full disk after ${smallLedger.acknowledgements()} writes: "${message}"; none of them lost`);

  console.log(`  server on a full disk: ${await fullDiskServer(root)}`);

  const cases = rounds * 5;
  const refused = await damageRounds(directory, join(root, "damaged"), cases, random);
  console.log(
    `  ${cases} damaged files: ${refused} refused and left alone, ${cases - refused} unharmed where it counts`,
  );

  const kills = Math.ceil(rounds / 5);
  const { acknowledged, seen, expired } = await killServerRounds(join(root, "server"), kills, random);
  console.log(
    `  server killed ${kills} times: ${acknowledged} writes acknowledged, every watcher saw ${seen} changes, no gap, ${expired} times 410`,
  );

  const restarts = Math.ceil(rounds / 10);
  const informed = await informerRounds(join(root, "informers"), restarts, random);
  console.log(
    `  informers: ${informed.acknowledged} writes, ${restarts} restarts, ${informed.cuts} cut connections, ${informed.expired} times 410: nothing missed, doubled or out of order`,
  );

  const foreign = await foreignRounds();
  console.log(
    `  ${foreign.cases} foreign documents, none holds the event loop up (longest: ${foreign.longest.cpuMs.toFixed(0)} ms of processor time, ${foreign.at}), the memory grew by ${foreign.megabytes.toFixed(0)} MB at most`,
  );

  const clusters = rounds < 100 ? 30 : 300;
  const { machines, problems } = await restartStory(clusters, 3);
  if (problems.length > 0) throw new Error(`a restart changed something:\n${problems.slice(0, 20).join("\n")}`);
  console.log(
    `  ${clusters} clusters, ten restarts: none of ${machines} Machines replaced, nothing changed, no error logged`,
  );

  const loaded = await ApiProcess.start(join(root, "worst"));
  try {
    const { requests, longest, atHeld, atCpu } = await worstRounds(loaded, rounds < 100 ? 3_000 : 10_000);
    console.log(
      `  ${requests} requests that ask for the most work, none holds the event loop up for 100 ms (longest: ${longest.heldMs.toFixed(0)} ms by the clock, ${atHeld}; ${longest.cpuMs.toFixed(0)} ms of processor time, ${atCpu}; with what the machine did besides ${longest.clockMs.toFixed(0)} ms)`,
    );
  } finally {
    await loaded.kill("SIGKILL");
  }

  const api = await ApiProcess.start(join(root, "malformed"));
  try {
    const statuses = await malformedRounds(api, rounds * 100, random);
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    console.log(
      `  ${rounds * 100} malformed requests, none answered with a 5xx, no crash, no stall above 100 ms (${counts.join(", ")})`,
    );
  } finally {
    await api.kill("SIGKILL");
  }
  console.log("faults: all passed");
} finally {
  rmSync(root, { recursive: true, force: true });
}
