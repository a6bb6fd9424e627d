/**
 * What a data directory must survive: `npm run faults [-- ROUNDS]`. Kills writers without warning, fills the disk, damages files.
 * The seed is printed; FAULTS_SEED repeats a run's choices (not the exact moment of a kill).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomInt, seededRandom, systemRandom } from "@capstan/apimachinery";
import { damageRounds } from "./damage.ts";
import { fullDiskRound, killRound } from "./kill.ts";
import { Ledger } from "./ledger.ts";

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
  if (!message.includes("full")) throw new Error(`a full disk gave: ${message || "no error"}`);
  await smallLedger.check(small);
  console.log(`  full disk after ${smallLedger.acknowledgements()} writes: "${message}"; none of them lost`);

  const cases = rounds * 5;
  const refused = await damageRounds(directory, join(root, "damaged"), cases, random);
  console.log(
    `  ${cases} damaged files: ${refused} refused and left alone, ${cases - refused} unharmed where it counts`,
  );
  console.log("faults: all passed");
} finally {
  rmSync(root, { recursive: true, force: true });
}
