import { parseCertificate } from "@capstan/pki";
import type { Authorities, AuthorityKey } from "./authority.ts";

/** Content of a CA's Secret. It includes the state of a rotation, so that both survive a move and a crash together. */
export interface AuthorityData {
  crt: string;
  key: string;
  /** The successor, trusted and not yet used. */
  nextCrt?: string;
  nextKey?: string;
  /** The predecessor, still trusted and no longer used. */
  previousCrt?: string;
}

/** Progress of a rotation: not rotating, the successor is trusted, or the successor signs. */
export type RotationState = "Idle" | "Trust" | "Issue";

/** Progress of one CA's rotation. */
export interface RotationReport {
  authority: AuthorityKey;
  state: RotationState;
  /** Why the wanted phase cannot follow this state. */
  problem?: string;
}

/** Derives the progress of a rotation from the content of the CA's Secret. */
export function rotationState(data: AuthorityData): RotationState {
  if (data.previousCrt !== undefined) return "Issue";
  return data.nextCrt === undefined ? "Idle" : "Trust";
}

/** Names of the CAs in the API. */
export const AUTHORITY_NAMES = {
  cluster: "Cluster",
  etcd: "Etcd",
  frontProxy: "FrontProxy",
  serviceAccount: "ServiceAccount",
} as const satisfies Record<AuthorityKey, string>;

/** The requested rotation: a phase, for the named CAs or for all of them. */
export interface Rotation {
  phase?: "Trust" | "Issue" | "Retire";
  authorities?: (typeof AUTHORITY_NAMES)[AuthorityKey][];
}

/** Returns the phase requested for a CA, if any. */
export function wantedPhase(rotation: Rotation | undefined, authority: AuthorityKey): string | undefined {
  const named = rotation?.authorities ?? [];
  return named.length === 0 || named.includes(AUTHORITY_NAMES[authority]) ? rotation?.phase : undefined;
}

/** The next step of a CA's rotation. */
export type RotationStep = { type: "none" } | { type: "make" | "switch" | "drop" } | { type: "refused"; why: string };

/** Decides the next step from the current state towards the requested phase: one step at a time, and only forward. */
export function rotationStep(state: RotationState, wanted: string | undefined): RotationStep {
  if (wanted === undefined || wanted === state || (wanted === "Retire" && state === "Idle")) return { type: "none" };
  if (wanted === "Trust")
    return state === "Idle"
      ? { type: "make" }
      : { type: "refused", why: "the new CA is already in use; set phase Retire before the next rotation" };
  if (wanted === "Issue")
    return state === "Trust"
      ? { type: "switch" }
      : { type: "refused", why: "no new CA is trusted yet; set phase Trust first" };
  return state === "Issue"
    ? { type: "drop" }
    : { type: "refused", why: "the old CA still signs; set phase Issue first" };
}

/** Returns the Secret's content after a step; `made` is the new key pair for the step that creates one. */
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

/** Returns when the first of the CAs expires, in milliseconds since the epoch. */
export function authoritiesEndMs(authorities: Authorities): number {
  const ends = [authorities.cluster, authorities.etcd, authorities.frontProxy].map(endOf);
  return Math.min(...ends);
}

const knownEnds = new Map<string, number>();

function endOf({ certPem }: { certPem: string }): number {
  const known = knownEnds.get(certPem);
  if (known !== undefined) return known;
  // Bounded: beyond that many control planes the value is computed again.
  if (knownEnds.size > 10_000) knownEnds.clear();
  const { notAfterMs } = parseCertificate(certPem);
  knownEnds.set(certPem, notAfterMs);
  return notAfterMs;
}
