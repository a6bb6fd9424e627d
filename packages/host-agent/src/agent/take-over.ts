import { existsSync } from "node:fs";
import { type Clock, sleep } from "@capstan/apimachinery";
import { isAlive, type Work } from "./work.ts";

/** kubeadm has succeeded: written by the bootstrap data, as the contract of bootstrap providers says. */
const SENTINEL = "/run/cluster-api/bootstrap-success.complete";
const LOOK_MS = 1_000;
const LONGEST_MS = 30 * 60_000;

/** Reports whether kubeadm has made a node of this host, so that only the commands after it remain. */
export function hasJoined(work: Work, root = ""): boolean {
  return work.joined === true || existsSync(`${root}${SENTINEL}`);
}

/** Waits for the command that an earlier agent left running; it gives up after half an hour. */
export async function awaitLeftCommand({ command }: Work, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + LONGEST_MS;
  while (command !== undefined && isAlive(command) && !signal.aborted && clock.monotonic() < until)
    await sleep(clock, LOOK_MS, signal).catch(() => undefined);
}
