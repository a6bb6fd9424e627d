import type { ConditionInput } from "@capstan/capi";
import { AUTHORITY_NAMES, type AuthorityKey, type RotationReport, type RotationState } from "@capstan/controlplane";

/** Remaining validity below which an expiring CA is reported; a rotation takes the user several weeks. */
export const EXPIRY_NOTICE_MS = 180 * 24 * 3600_000;

/** Computes the condition that reports the progress of a CA rotation and the user's next step. */
export function authoritiesCondition(reports: readonly RotationReport[], endMs: number, nowMs: number): ConditionInput {
  const type = "AuthoritiesCurrent";
  const not = (reason: string, message: string): ConditionInput => ({ type, status: "False", reason, message });
  const refused = reports.filter((report) => report.problem !== undefined);
  if (refused.length > 0)
    return not(
      "InvalidRotation",
      `spec.certificates.rotation: ${refused.map(({ authority, problem }) => `${AUTHORITY_NAMES[authority]}: ${problem}`).join("; ")}`,
    );
  const inState = (state: RotationState): AuthorityKey[] =>
    reports.flatMap((report) => (report.state === state ? [report.authority] : []));
  const trust = inState("Trust");
  if (trust.length > 0)
    return not(
      "NewTrusted",
      `New authorities are trusted in addition to the old (${list(trust)}). ${beforeIssue(trust)}, then set spec.certificates.rotation.phase to Issue`,
    );
  const issue = inState("Issue");
  if (issue.length > 0)
    return not(
      "NewInUse",
      `The new authorities sign, the old ones are still trusted (${list(issue)}). ${beforeRetire(issue)}, then set spec.certificates.rotation.phase to Retire`,
    );
  if (endMs - nowMs < EXPIRY_NOTICE_MS)
    return not(
      "ExpiresSoon",
      `An authority expires at ${new Date(endMs).toISOString()}; set spec.certificates.rotation.phase to Trust to start its rotation`,
    );
  return { type, status: "True", reason: "Current", message: "" };
}

function list(authorities: readonly AuthorityKey[]): string {
  return authorities.map((authority) => AUTHORITY_NAMES[authority]).join(", ");
}

function beforeIssue(authorities: readonly AuthorityKey[]): string {
  return authorities.includes("cluster")
    ? "Distribute the new CA and certificates issued by it to every node: roll out their MachineDeployments (spec.rollout.after), or run the commands of docs/hosted-control-planes.md, Rotate, on each host; and restart pods that talk to the API"
    : "Wait until UpToDate is True; nodes are not affected";
}

function beforeRetire(authorities: readonly AuthorityKey[]): string {
  const steps = ["Wait until UpToDate is True"];
  if (authorities.includes("cluster")) steps.push("fetch new kubeconfigs (capstan kubeconfig)");
  if (authorities.includes("serviceAccount"))
    steps.push("let pods get new tokens (kubelets renew them within an hour; restart pods that keep theirs)");
  return steps.join(", ");
}
