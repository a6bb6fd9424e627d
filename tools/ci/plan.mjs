/**
 * Which stages CI runs, in which order, and when it is too late to start one. Pure: time, commits and durations are passed in.
 *
 * @typedef {import("./stages.mjs").Stage} Stage
 * @typedef {{ warm: number; cold?: number }} Duration Seconds. `cold`: on a machine where nothing was built before.
 * @typedef {Readonly<Record<string, Duration>>} Durations
 * @typedef {{ stage: Stage; why: string }} Planned
 * @typedef {{ name: string; seconds: number }} Measured
 * @typedef {{ elapsed: number; speed: number; cold: boolean; durations: Durations }} Moment
 */
import { createHash } from "node:crypto";

/** Seconds after which no stage is expected to be running. */
export const BUDGET = 70 * 60;
/** Seconds by which a stage that takes twice as long as expected, or is repeated, has to be finished. */
export const LATEST = 75 * 60;
/** Seconds after which a running stage is terminated, so that the summary is printed before CI itself is stopped at 90 minutes. */
export const CUTOFF = 85 * 60;

/**
 * Orders the stages: those of every landing as listed, then those that the commits touch, then the rest, the last two in a rotation
 * derived from the commit: the longer a stage takes, the more often it is early, since short ones still fit at the end. The head of the
 * rest goes second, so that no stage starves while landing after landing touches the same paths.
 * @param {readonly Stage[]} stages
 * @param {{ commit: string; touched: readonly string[] }} changes
 * @param {Durations} durations
 * @returns {{ always: Planned[]; others: Planned[] }}
 */
export function order(stages, { commit, touched }, durations) {
  const rotated = stages
    .filter(({ always }) => always !== true)
    .map((stage) => ({ stage, turn: -Math.log(chance(`${commit} ${stage.name}`)) / weight(durations, stage.name) }))
    .sort((a, b) => a.turn - b.turn)
    .map(({ stage }) => ({ stage, path: touchedPath(stage, touched) }));
  const first = rotated.flatMap(({ stage, path }) => (path === undefined ? [] : { stage, why: `touched: ${path}` }));
  const rest = rotated.flatMap(({ stage, path }) => (path === undefined ? { stage, why: "rotation" } : []));
  return {
    always: stages.flatMap((stage) => (stage.always === true ? { stage, why: "always" } : [])),
    others: [...first.slice(0, 1), ...rest.slice(0, 1), ...first.slice(1), ...rest.slice(1)],
  };
}

/**
 * How much a stage is preferred. Ten times as long counts five times: with more, the shortest ones would hardly ever come first.
 * @param {Durations} durations
 * @param {string} name
 */
function weight(durations, name) {
  return Math.max(expected(durations, name, false), expected(durations, name, true)) ** 0.7;
}

/**
 * A number above 0 and up to 1 that depends on a text and is as likely to be any.
 * @param {string} text
 */
function chance(text) {
  return (createHash("sha256").update(text).digest().readUIntBE(0, 6) + 1) / 2 ** 48;
}

/**
 * @param {Stage} stage
 * @param {readonly string[]} touched
 */
function touchedPath({ paths = [] }, touched) {
  return touched.find((file) => paths.some((prefix) => file.startsWith(prefix)));
}

/**
 * The expected seconds of a stage at recorded speed.
 * @param {Durations} durations
 * @param {string} name
 * @param {boolean} cold
 */
export function expected(durations, name, cold) {
  const duration = durations[name];
  const seconds = cold ? (duration?.cold ?? duration?.warm) : duration?.warm;
  if (seconds === undefined || !(seconds > 0) || seconds > LATEST)
    throw new Error(`tools/ci/durations.json has no usable duration for "${name}": ${JSON.stringify(duration)}`);
  return seconds;
}

/**
 * How many times longer this machine takes than recorded, over all stages so far. Stages that build or download something the first
 * time measure the cache and the network, not the machine, and do not count.
 * @param {readonly Measured[]} measured
 * @param {Durations} durations
 */
export function speed(measured, durations) {
  const counted = measured.filter(({ name }) => durations[name] !== undefined && durations[name].cold === undefined);
  const recorded = sum(counted.map(({ name }) => expected(durations, name, false)));
  return recorded === 0 ? 1 : sum(counted.map(({ seconds }) => seconds)) / recorded;
}

/**
 * Why these stages, run together, must not start now; undefined when they may.
 * @param {readonly Stage[]} batch
 * @param {Moment} moment
 * @returns {string | undefined}
 */
export function tooLate(batch, { elapsed, speed: ratio, cold, durations }) {
  // Together they take at most as long as one after the other.
  const needed = sum(batch.map(({ name }) => expected(durations, name, cold))) * ratio;
  const takes = `takes about ${Math.ceil(needed)} s`;
  if (elapsed + needed > BUDGET) return `${takes}, ${left(BUDGET - elapsed)} of the budget`;
  if (elapsed + 2 * needed > LATEST) return `${takes}, twice that is more than ${left(LATEST - elapsed)}`;
  return undefined;
}

/** @param {number} seconds */
function left(seconds) {
  return seconds > 0 ? `${Math.floor(seconds)} s are left` : "nothing is left";
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}
