import { measured } from "./drive.mjs";

/**
 * The durations file with what a run has measured: seconds of stages that ran alone and passed at the first attempt.
 * @param {import("./plan.mjs").Durations} durations
 * @param {readonly import("./drive.mjs").Result[]} results
 * @param {boolean} cold
 */
export function record(durations, results, cold) {
  const updated = { ...durations };
  for (const { name, seconds } of measured(results)) {
    const before = durations[name];
    const rounded = Math.max(1, Math.round(seconds));
    updated[name] = cold && before?.cold !== undefined ? { ...before, cold: rounded } : { ...before, warm: rounded };
  }
  return `${JSON.stringify(updated, null, 2)}\n`;
}
