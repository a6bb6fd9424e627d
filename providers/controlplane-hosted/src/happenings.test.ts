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
  const object = { spec: { version: "v1.34.4", ...spec }, status: before };
  return happenings(object as HostedControlPlane, after, Date.parse(TIME)).map(
    ({ reason, note }) => `${reason}: ${note}`,
  );
}

const starting: Status = { conditions: [condition("Available", "False", "ComponentsNotReady")] };

test.each<[string, Status | undefined, Status, object, string[]]>([
  ["a steady one", serving("v1.34.4"), serving("v1.34.4"), {}, []],
  ["a new one", undefined, starting, {}, ["ControlPlaneCreated: Creating a control plane with v1.34.4"]],
  ["its start", starting, serving("v1.34.4"), {}, ["ControlPlaneStarted: The control plane serves v1.34.4"]],
  [
    "a start from a backup",
    starting,
    serving("v1.34.4"),
    { etcd: { restoreFrom: { backup: "b1" } } },
    ["ControlPlaneStarted: The control plane serves v1.34.4", "BackupRestored: The data was restored from backup b1"],
  ],
  [
    "the start of an upgrade",
    serving("v1.34.4", condition("UpToDate", "True", "UpToDate")),
    serving("v1.34.4", condition("UpToDate", "False", "Upgrading")),
    { version: "v1.35.4" },
    ["UpgradeStarted: Upgrading from v1.34.4 to v1.35.4"],
  ],
  [
    "the completion of an upgrade",
    serving("v1.34.4"),
    serving("v1.35.4"),
    {},
    ["Upgraded: Upgraded from v1.34.4 to v1.35.4"],
  ],
  [
    "hibernation",
    serving("v1.34.4"),
    stopped("Hibernated"),
    {},
    ["ControlPlaneHibernated: The control plane was hibernated; its data is kept"],
  ],
  ["waking", stopped("Hibernated"), serving("v1.34.4"), {}, ["ControlPlaneWoken: The control plane serves again"]],
  [
    "waking whose processes take time to start",
    stopped("Hibernated"),
    stopped("ComponentsNotReady"),
    {},
    ["ControlPlaneWaking: The control plane is starting with its existing data"],
  ],
  ["the deletion of a hibernated one", stopped("Hibernated"), stopped("Deleting"), {}, []],
  [
    "a schedule whose first backup is not due yet",
    serving("v1.34.4"),
    serving("v1.34.4", condition("BackedUp", "False", "NoBackupYet", "The first backup is not due yet")),
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
])("records one single-line event for %s", (_name, before, after, spec, expected) => {
  expect(told(before, after, spec)).toEqual(expected);
  expect(told(after, after, spec).filter((line) => !line.startsWith("x"))).toEqual([]);
});

test("warns once about a version that no longer gets fixes", () => {
  const now = Date.parse("2026-11-18T00:00:00Z");
  const reasons = (status: Status | undefined, after: Status, version: string): string[] =>
    happenings({ spec: { version }, status } as HostedControlPlane, after, now)
      .filter(({ type }) => type === "Warning")
      .map(({ reason, note }) => `${reason}: ${note}`);
  const old = "Kubernetes v1.34 has had no fixes since 2026-10-27; supported: v1.35, v1.36, v1.37";
  expect(reasons(undefined, starting, "v1.34.4")).toEqual([`VersionOutOfSupport: ${old}`]);
  expect(reasons(starting, serving("v1.34.4"), "v1.34.4")).toEqual([]);
  expect(reasons(undefined, starting, "v1.35.4")).toEqual([]);
  const upgrading = serving("v1.33.4", condition("UpToDate", "False", "Upgrading"));
  expect(reasons(serving("v1.33.4"), upgrading, "v1.34.4")).toEqual([`VersionOutOfSupport: ${old}`]);
});
