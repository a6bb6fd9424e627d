import { expect, test } from "vitest";
import { happenings } from "./happenings.ts";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";

type Status = NonNullable<HostedControlPlane["status"]>;
const TIME = "2026-01-01T00:00:00Z";

const condition = (type: string, status: "True" | "False", reason: string, message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: TIME,
});
const AVAILABLE = condition("Available", "True", "Available");
const serving = (version: string, ...more: Status["conditions"] & object): Status => ({
  version,
  initialization: { controlPlaneInitialized: true },
  conditions: [AVAILABLE, ...more],
});
const stopped = (reason: string): Status => ({
  ...serving("v1.34.4"),
  conditions: [condition("Available", "False", reason, "because")],
});

function told(before: Status | undefined, after: Status, spec: object = {}): string[] {
  const object = { spec: { version: "v1.34.4", ...spec }, ...(before === undefined ? {} : { status: before }) };
  return happenings(object as HostedControlPlane, after).map(({ reason, note }) => `${reason}: ${note}`);
}

const starting: Status = { conditions: [condition("Available", "False", "ComponentsNotReady")] };

test.each<[string, Status | undefined, Status, object, string[]]>([
  ["a steady one", serving("v1.34.4"), serving("v1.34.4"), {}, []],
  ["a new one", undefined, starting, {}, ["ControlPlaneCreated: Making a control plane v1.34.4"]],
  ["its start", starting, serving("v1.34.4"), {}, ["ControlPlaneStarted: The control plane serves v1.34.4"]],
  [
    "a start from a backup",
    starting,
    serving("v1.34.4"),
    { etcd: { restoreFrom: { backup: "b1" } } },
    ["ControlPlaneStarted: The control plane serves v1.34.4", "BackupRestored: It has the data of backup b1"],
  ],
  [
    "the beginning of an upgrade",
    serving("v1.34.4", condition("UpToDate", "True", "UpToDate")),
    serving("v1.34.4", condition("UpToDate", "False", "Upgrading")),
    { version: "v1.35.4" },
    ["UpgradeStarted: Upgrading from v1.34.4 to v1.35.4"],
  ],
  ["the end of one", serving("v1.34.4"), serving("v1.35.4"), {}, ["Upgraded: Upgraded from v1.34.4 to v1.35.4"]],
  [
    "hibernation",
    serving("v1.34.4"),
    stopped("Hibernated"),
    {},
    ["ControlPlaneHibernated: The control plane was stopped; its data is kept"],
  ],
  ["waking", stopped("Hibernated"), serving("v1.34.4"), {}, ["ControlPlaneWoken: The control plane serves again"]],
  [
    "waking whose processes take time to start",
    stopped("Hibernated"),
    stopped("ComponentsNotReady"),
    {},
    ["ControlPlaneWaking: The control plane starts again with the data it had"],
  ],
  ["the deletion of one that hibernates", stopped("Hibernated"), stopped("Deleting"), {}, []],
  [
    "a schedule whose first backup is not due yet",
    serving("v1.34.4"),
    serving("v1.34.4", condition("BackedUp", "False", "NoBackupYet", "The first one is not due yet")),
    {},
    [],
  ],
  ["trouble", serving("v1.34.4"), stopped("ComponentsNotReady"), {}, ["ControlPlaneNotAvailable: because"]],
  [
    "the end of it",
    stopped("ComponentsNotReady"),
    serving("v1.34.4"),
    {},
    ["ControlPlaneAvailable: The control plane is available again"],
  ],
  [
    "a backup",
    serving("v1.34.4"),
    { ...serving("v1.34.4"), backup: { lastName: "b2" } },
    {},
    ["BackupSaved: Backup b2 was saved"],
  ],
  [
    "a step of a rotation",
    serving("v1.34.4", condition("AuthoritiesCurrent", "True", "Current")),
    serving("v1.34.4", condition("AuthoritiesCurrent", "False", "Trusting", "both are trusted")),
    {},
    ["Trusting: both are trusted"],
  ],
  [
    "its end",
    serving("v1.34.4", condition("AuthoritiesCurrent", "False", "Issuing", "x")),
    serving("v1.34.4", condition("AuthoritiesCurrent", "True", "Current")),
    {},
    ["RotationFinished: The old authorities are no longer trusted"],
  ],
])("%s is told once, in one line", (_name, before, after, spec, expected) => {
  expect(told(before, after, spec)).toEqual(expected);
  expect(told(after, after, spec).filter((line) => !line.startsWith("x"))).toEqual([]);
});
