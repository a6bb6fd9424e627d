import { parseCertificate } from "@capstan/pki";
import type { Authorities, AuthorityKey } from "./authority.ts";

/** What a Secret of an authority holds. A rotation's state lies in it, so that it survives a move and no crash can part them. */
export interface AuthorityData {
  crt: string;
  key: string;
  /** The successor, trusted and not yet used. */
  nextCrt?: string;
  nextKey?: string;
  /** The predecessor, still trusted and no longer used. */
  previousCrt?: string;
}

/** How far a rotation is: nothing to do, the successor is trusted, the successor signs. */
export type RotationState = "Idle" | "Trust" | "Issue";

/** How one authority stands in its rotation. */
export interface RotationReport {
  authority: AuthorityKey;
  state: RotationState;
  /** Why the wanted phase cannot follow this state. */
  problem?: string;
}

/** How far the rotation of an authority is, by what its Secret holds. */
export function rotationState(data: AuthorityData): RotationState {
  if (data.previousCrt !== undefined) return "Issue";
  return data.nextCrt === undefined ? "Idle" : "Trust";
}

/** Authorities by the names that people give them. */
export const AUTHORITY_NAMES = {
  cluster: "Cluster",
  etcd: "Etcd",
  frontProxy: "FrontProxy",
  serviceAccount: "ServiceAccount",
} as const satisfies Record<AuthorityKey, string>;

/** A rotation as it is asked for: a phase, of the named authorities or of all. */
export interface Rotation {
  phase?: "Trust" | "Issue" | "Retire";
  authorities?: (typeof AUTHORITY_NAMES)[AuthorityKey][];
}

/** The phase that is wanted of an authority, if any. */
export function wantedPhase(rotation: Rotation | undefined, authority: AuthorityKey): string | undefined {
  const named = rotation?.authorities ?? [];
  return named.length === 0 || named.includes(AUTHORITY_NAMES[authority]) ? rotation?.phase : undefined;
}

/** What to do next to an authority. */
export type RotationStep = { type: "none" } | { type: "make" | "switch" | "drop" } | { type: "refused"; why: string };

/** What to do to an authority in a state when a phase is wanted: never more than one step, and only forward. */
export function rotationStep(state: RotationState, wanted: string | undefined): RotationStep {
  if (wanted === undefined || wanted === state || (wanted === "Retire" && state === "Idle")) return { type: "none" };
  if (wanted === "Trust")
    return state === "Idle"
      ? { type: "make" }
      : { type: "refused", why: "the new one is in use already; go on with phase Retire before the next rotation" };
  if (wanted === "Issue")
    return state === "Trust"
      ? { type: "switch" }
      : { type: "refused", why: "nobody trusts a new one yet; set phase Trust first" };
  return state === "Issue"
    ? { type: "drop" }
    : { type: "refused", why: "the old one is still what signs; set phase Issue first" };
}

/** The Secret's content after a step; `made` is the new pair where one is made. */
export function afterStep(
  data: AuthorityData,
  step: "make" | "switch" | "drop",
  made?: { crt: string; key: string },
): AuthorityData {
  const { crt, key } = data;
  if (step === "drop") return { crt, key };
  if (step === "make") return made === undefined ? data : { crt, key, nextCrt: made.crt, nextKey: made.key };
  return { crt: data.nextCrt ?? crt, key: data.nextKey ?? key, previousCrt: crt };
}

/** When the first of the CAs ends, milliseconds since the epoch. */
export function authoritiesEndMs(authorities: Authorities): number {
  const ends = [authorities.cluster, authorities.etcd, authorities.frontProxy].map(endOf);
  return Math.min(...ends);
}

const knownEnds = new Map<string, number>();

function endOf({ certPem }: { certPem: string }): number {
  const known = knownEnds.get(certPem);
  if (known !== undefined) return known;
  // Bounded: after that many control planes it costs a look again.
  if (knownEnds.size > 10_000) knownEnds.clear();
  const { notAfterMs } = parseCertificate(certPem);
  knownEnds.set(certPem, notAfterMs);
  return notAfterMs;
}
