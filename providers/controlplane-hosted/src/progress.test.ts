import { PROGRESS_DEADLINE_ANNOTATION } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { FakePlacement } from "./testing/fake-placement.ts";
import { HostedPlane } from "./testing/hosted-plane.ts";

let hosted: HostedPlane;
const key = { kind: HostedControlPlane, namespace: "default", name: "c1" };

beforeEach(async () => {
  hosted = await HostedPlane.start();
});

afterEach(() => hosted.close());

test("Progressing is True while a control plane starts and after it serves", async () => {
  await hosted.create();
  await hosted.told("Progressing", /^True Progressing: /);
  await hosted.ready();
  await hosted.told("Progressing", "True Complete: ");
});

test("reports an upgrade that exceeds its progress deadline, while the old version keeps serving", async () => {
  await hosted.create();
  await hosted.ready();
  await hosted.plane.user.patch(key, {
    metadata: { annotations: { [PROGRESS_DEADLINE_ANNOTATION]: "300" } },
    spec: { version: "v1.35.4" },
  });
  const message = "kube-apiserver of v1.35.4 is not ready";
  hosted.placement.report({ ...FakePlacement.ready("v1.34.4"), upgrade: { reason: "Upgrading", message } });
  await hosted.told("Progressing", `True Progressing: Changing to v1.35.4: ${message}`);
  await hosted.plane.clock.advance(290_000);
  await hosted.told("Progressing", /^True/);
  await hosted.plane.clock.advance(11_000);
  await hosted.told(
    "Progressing",
    `False ProgressDeadlineExceeded: no progress for 5m: ${message}; see: capstan why c1 -n default`,
  );
  expect(await hosted.condition("Available")).toBe("True Available: ");
  hosted.placement.report(FakePlacement.ready("v1.35.4"));
  await hosted.told("Progressing", "True Complete: ");
});

test("a hibernated control plane does not exceed a deadline", async () => {
  await hosted.create();
  await hosted.ready();
  await hosted.plane.user.patch(key, { spec: { replicas: 0 } });
  await hosted.told("Available", /^False Hibernated/);
  await hosted.plane.clock.advance(3_600_000);
  await hosted.told("Progressing", "True Complete: ");
});
