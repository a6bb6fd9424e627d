import type { ConditionInput } from "@capstan/capi";
import { parseCertificate } from "@capstan/pki";
import type { Authorities, AuthorityKey } from "./certificates.ts";
import type { HostedControlPlaneSpec } from "./kinds/hosted-control-plane.ts";

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

export type RotationState = "Idle" | "Trust" | "Issue";

/** How one authority stands in its rotation. */
export interface RotationReport {
  authority: AuthorityKey;
  state: RotationState;
  /** Why the wanted phase cannot follow this state. */
  problem?: string;
}

export function rotationState(data: AuthorityData): RotationState {
  if (data.previousCrt !== undefined) return "Issue";
  return data.nextCrt === undefined ? "Idle" : "Trust";
}

type Rotation = NonNullable<NonNullable<HostedControlPlaneSpec["certificates"]>["rotation"]>;

const NAMES = {
  cluster: "Cluster",
  etcd: "Etcd",
  frontProxy: "FrontProxy",
  serviceAccount: "ServiceAccount",
} as const satisfies Record<AuthorityKey, string>;

/** The phase that is wanted of an authority, if any. */
export function wantedPhase(rotation: Rotation | undefined, authority: AuthorityKey): string | undefined {
  const named = rotation?.authorities ?? [];
  return named.length === 0 || named.includes(NAMES[authority]) ? rotation?.phase : undefined;
}

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

/** A CA is pointed out when it has less than this left: rotating takes a person some weeks. */
export const EXPIRY_NOTICE_MS = 180 * 24 * 3600_000;

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

/** Tells how far a rotation is and what a person does next. */
export function authoritiesCondition(reports: readonly RotationReport[], endMs: number, nowMs: number): ConditionInput {
  const type = "AuthoritiesCurrent";
  const not = (reason: string, message: string): ConditionInput => ({ type, status: "False", reason, message });
  const refused = reports.filter((report) => report.problem !== undefined);
  if (refused.length > 0)
    return not(
      "InvalidRotation",
      `spec.certificates.rotation: ${refused.map(({ authority, problem }) => `${NAMES[authority]}: ${problem}`).join("; ")}`,
    );
  const inState = (state: RotationState): AuthorityKey[] =>
    reports.flatMap((report) => (report.state === state ? [report.authority] : []));
  const trust = inState("Trust");
  if (trust.length > 0)
    return not(
      "NewTrusted",
      `New authorities are trusted beside the old (${list(trust)}). ${beforeIssue(trust)}, then set spec.certificates.rotation.phase to Issue`,
    );
  const issue = inState("Issue");
  if (issue.length > 0)
    return not(
      "NewInUse",
      `The new authorities sign, the old are still trusted (${list(issue)}). ${beforeRetire(issue)}, then set spec.certificates.rotation.phase to Retire`,
    );
  if (endMs - nowMs < EXPIRY_NOTICE_MS)
    return not(
      "ExpiresSoon",
      `An authority ends at ${new Date(endMs).toISOString()}; set spec.certificates.rotation.phase to Trust to begin its rotation`,
    );
  return { type, status: "True", reason: "Current", message: "" };
}

function list(authorities: readonly AuthorityKey[]): string {
  return authorities.map((authority) => NAMES[authority]).join(", ");
}

function beforeIssue(authorities: readonly AuthorityKey[]): string {
  return authorities.includes("cluster")
    ? "Let every node learn the new CA and get a certificate of it: roll their MachineDeployments (spec.rollout.after), or run the commands of docs/hosted-control-planes.md, Rotate, on each host; and restart pods that talk to the API"
    : "Wait until UpToDate is True; nodes have nothing to do";
}

function beforeRetire(authorities: readonly AuthorityKey[]): string {
  const steps = ["Wait until UpToDate is True"];
  if (authorities.includes("cluster")) steps.push("fetch kubeconfigs anew (capstan kubeconfig)");
  if (authorities.includes("serviceAccount"))
    steps.push("let pods get new tokens (kubelets renew them within an hour; restart pods that keep theirs)");
  return steps.join(", ");
}
