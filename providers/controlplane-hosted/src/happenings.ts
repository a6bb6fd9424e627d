import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, supportWarning } from "@capstan/capi";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";

type Status = NonNullable<HostedControlPlane["status"]>;

/** A Kubernetes event for a change of a control plane. */
export interface Happening {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Conditions whose changes are recorded with their own message, and the action of the event. */
const TOLD = { BackedUp: "Backup", AuthoritiesCurrent: "Rotate" } as const;

/**
 * Returns the events for the difference between two statuses of a control plane. Equal statuses produce none, so a restart of the manager
 * records no events.
 */
export function happenings(object: HostedControlPlane, after: Status, now: number): Happening[] {
  const before = object.status;
  const { spec } = object;
  const found: Happening[] = [];
  const tell = (reason: string, action: string, note: string, type: Happening["type"] = "Normal"): void => {
    found.push({ type, reason, action, note });
  };
  const was = findCondition(conditionsOf({ status: before }), "Available");
  const is = findCondition(conditionsOf({ status: after }), "Available");
  if (before?.conditions === undefined)
    tell("ControlPlaneCreated", "Create", `Creating a control plane with ${spec.version}`);
  const started = upgrade(object, after);
  const unsupported = supportWarning(spec.version, now);
  const chosen = before?.conditions === undefined || started.some(({ reason }) => reason === "UpgradeStarted");
  if (chosen && unsupported !== undefined) tell("VersionOutOfSupport", "Validate", unsupported, "Warning");
  if (after.initialization?.controlPlaneInitialized === true && before?.initialization === undefined) {
    tell("ControlPlaneStarted", "Start", `The control plane serves ${after.version ?? spec.version}`);
    const restored = spec.etcd?.restoreFrom?.backup;
    if (restored !== undefined) tell("BackupRestored", "Restore", `The data was restored from backup ${restored}`);
  } else if (is?.status === "True" && was?.reason === "Hibernated")
    tell("ControlPlaneWoken", "Wake", "The control plane serves again");
  else if (is?.reason === "Hibernated" && was?.reason !== "Hibernated")
    tell("ControlPlaneHibernated", "Hibernate", "The control plane was hibernated; its data is kept");
  else if (was?.reason === "Hibernated" && is !== undefined && is.reason !== "Hibernated" && is.reason !== "Deleting")
    tell("ControlPlaneWaking", "Wake", "The control plane is starting with its existing data");
  else if (is?.status === "False" && was?.status === "True" && is.reason !== "Deleting")
    tell("ControlPlaneNotAvailable", "Observe", is.message, "Warning");
  else if (is?.status === "True" && was?.status === "False" && before?.initialization !== undefined)
    tell("ControlPlaneAvailable", "Observe", "The control plane is available again");
  for (const { reason, action, note } of started) tell(reason, action, note);
  const backup = after.backup?.lastName;
  if (backup !== undefined && backup !== before?.backup?.lastName)
    tell("BackupSaved", "Backup", `Backup ${backup} was saved`);
  for (const [type, action] of Object.entries(TOLD)) {
    const old = findCondition(conditionsOf({ status: before }), type);
    const now = findCondition(conditionsOf({ status: after }), type);
    if (now === undefined || (old?.status === now.status && old.reason === now.reason)) continue;
    // The first backup is not due yet: nothing to record.
    if (now.reason === "NoBackupYet") continue;
    if (now.status === "False") tell(now.reason, action, now.message, type === "BackedUp" ? "Warning" : "Normal");
    else if (old?.status === "False" && type === "AuthoritiesCurrent")
      tell("RotationFinished", action, "The old authorities are no longer trusted");
  }
  return found;
}

function upgrade({ spec, status: before }: HostedControlPlane, after: Status): Omit<Happening, "type">[] {
  if (before?.version !== undefined && after.version !== undefined && before.version !== after.version)
    return [{ reason: "Upgraded", action: "Upgrade", note: `Upgraded from ${before.version} to ${after.version}` }];
  const was = findCondition(conditionsOf({ status: before }), "UpToDate");
  const is = findCondition(conditionsOf({ status: after }), "UpToDate");
  if (is?.status !== "False" || was?.status === "False" || after.version === spec.version) return [];
  return [{ reason: "UpgradeStarted", action: "Upgrade", note: `Upgrading from ${after.version} to ${spec.version}` }];
}
