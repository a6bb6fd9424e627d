import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { DialTarget } from "@capstan/apimachinery/foreign";
import { bindProblem } from "@capstan/workloads";
import { type PlaneRecord, readPlaneRecord, writePlaneRecord } from "../plane-record.ts";

const ALL_IPV4 = "0.0.0.0";
const ALL = "::";

/**
 * Returns why running kube-apiservers cannot listen on another address of the same port, or undefined if they can. Addresses that they
 * already use are not checked; others may belong to another program.
 */
export async function moveProblem(before: DialTarget | undefined, wanted: DialTarget): Promise<string | undefined> {
  // The addresses of those that an earlier version of the manager started are unknown.
  if (before === undefined || covers(before.host, wanted.host)) return undefined;
  for (const host of addressesOf(wanted.host)) {
    const problem = covers(before.host, host) ? undefined : await bindProblem(host, wanted.port);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Stores the address that a control plane listens on, so that the next manager allows connections to it. */
export async function keepAddress(dir: string, listens: DialTarget): Promise<void> {
  const record = await readPlaneRecord(dir);
  if (record.listens?.host === listens.host && record.listens.port === listens.port) return;
  await writePlaneRecord(dir, { ...record, listens });
}

/** Returns the stored address that a control plane (`NAMESPACE/NAME`) below a root listens on. */
export async function keptAddress(root: string, owner: string): Promise<DialTarget | undefined> {
  return (await readPlaneRecord(join(root, owner)).catch((): PlaneRecord => ({}))).listens;
}

function covers(bound: string, host: string): boolean {
  return bound === host || bound === ALL || (bound === ALL_IPV4 && !host.includes(":"));
}

/** The addresses of this machine that a host resolves to. */
function addressesOf(host: string): string[] {
  if (host !== ALL && host !== ALL_IPV4) return [host];
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, scopeid }) => family === "IPv4" || (host === ALL && (scopeid ?? 0) === 0))
    .map(({ address }) => address);
}
