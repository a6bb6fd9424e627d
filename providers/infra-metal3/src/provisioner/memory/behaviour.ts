import { parseDuration } from "@capstan/apimachinery";
import { parseBmcAddress } from "../bmc-address.ts";
import type { HostIdentity } from "../provisioner.ts";
import { BMC_FAULTS_ANNOTATION } from "./annotation.ts";

/** What can be wrong with a simulated machine. */
const BMC_FAULTS = [
  /** The management controller does not answer. */
  "unreachable",
  /** It refuses the credentials. */
  "wrong-credentials",
  /** Its certificate is signed by an unknown CA. */
  "self-signed",
  /** It accepts every power request and does nothing. */
  "power-lies",
  /** It refuses virtual media. */
  "media-refused",
  /** The image is not what its checksum says. */
  "bad-checksum",
  /** The machine is on, but nothing starts on it. */
  "never-boots",
  /** Its inventory cannot be read. */
  "inspection-fails",
  /** Every change of power takes a minute. */
  "slow",
  /** The hardware says that it is in a critical state. */
  "broken-fan",
] as const;
type BmcFault = (typeof BMC_FAULTS)[number];

/** Latencies and faults of a simulated machine. */
export interface Behaviour {
  readonly faults: ReadonlySet<BmcFault>;
  /** Latency of every response. */
  readonly latencyMs: number;
  readonly powerMs: number;
  /** Time from power on until the operating system runs. */
  readonly bootMs: number;
}

/** Parses `memory://NAME?latency=50ms&power=1s&boot=20s&faults=slow` and the annotation, which overrides the faults of the address. */
export function behaviourOf(host: HostIdentity): Behaviour {
  const { query } = parseBmcAddress(host.address);
  const text = host.annotations[BMC_FAULTS_ANNOTATION] ?? query.get("faults") ?? "";
  const named = text.split(",").map((fault) => fault.trim());
  const faults = new Set(BMC_FAULTS.filter((fault) => named.includes(fault)));
  return {
    faults,
    latencyMs: durationOf(query.get("latency"), 0),
    powerMs: faults.has("slow") ? 60_000 : durationOf(query.get("power"), 1_000),
    bootMs: durationOf(query.get("boot"), 5_000),
  };
}

function durationOf(text: string | null, fallback: number): number {
  if (text === null) return fallback;
  try {
    return Math.max(0, parseDuration(text));
  } catch {
    return fallback;
  }
}
