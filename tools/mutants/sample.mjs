/** Random samples of mutants, and how far their score may be from that of all. */
import { createHash } from "node:crypto";

/**
 * Draws a sample: the same one for the same seed. A mutant elsewhere does not change which of the others are in it, as far as the size allows.
 * @template {{ digest: string }} T
 * @param {readonly T[]} mutants
 * @param {number} size
 * @param {number} seed
 * @returns {T[]} In random order.
 */
export function sample(mutants, size, seed) {
  const keyed = mutants.map((mutant) => ({
    mutant,
    key: createHash("sha256").update(`${seed}\0${mutant.digest}`).digest("hex"),
  }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return keyed.slice(0, size).map(({ mutant }) => mutant);
}

/**
 * The 95 % confidence interval (Wilson) of a share that was measured in a sample; a point when everything was measured.
 * @param {number} hits
 * @param {number} size
 * @param {number} population
 * @returns {[number, number]}
 */
export function interval(hits, size, population) {
  if (size === 0) return [0, 1];
  const share = hits / size;
  if (size >= population) return [share, share];
  // A sample that is a large part of all says more about them.
  const z = 1.96 * Math.sqrt((population - size) / (population - 1));
  const denominator = 1 + (z * z) / size;
  const centre = share + (z * z) / (2 * size);
  const spread = z * Math.sqrt((share * (1 - share)) / size + (z * z) / (4 * size * size));
  return [(centre - spread) / denominator, (centre + spread) / denominator];
}
