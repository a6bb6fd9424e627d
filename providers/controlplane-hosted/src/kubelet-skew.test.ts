import { afterEach, beforeEach, expect, test } from "vitest";
import { HostedPlane } from "./testing/hosted-plane.ts";

let hosted: HostedPlane;

beforeEach(async () => {
  hosted = await HostedPlane.start();
});

afterEach(() => hosted.close());

const upgrade = async (version: string): Promise<void> => {
  await hosted.plane.user.patch(await hosted.get(), { spec: { version } });
};

test("does not start an upgrade that nodes do not support, says which ones and what to do, and starts it once they are deleted", async () => {
  hosted.nodes.kubelets = { old: "v1.31.2", young: "v1.34.4" };
  await hosted.create();
  await hosted.ready();
  await hosted.told("NodesSupported", "none");
  await upgrade("v1.35.0");
  await hosted.told(
    "UpToDate",
    /^False KubeletTooOld: v1\.35\.0 supports kubelets from v1\.32, but old has v1\.31\.2; upgrade their Machines to v1\.32/,
  );
  expect(hosted.placement.plans.at(-1)?.upgradeRefusal?.()?.reason).toBe("KubeletTooOld");
  hosted.nodes.kubelets = { young: "v1.34.4" };
  await hosted.plane.clock.advance(30_000);
  await hosted.told("UpToDate", /^True/);
  expect(hosted.placement.plans.at(-1)?.upgradeRefusal?.()).toBeUndefined();
});

test("blocks an upgrade while the nodes are unknown", async () => {
  await hosted.create();
  await hosted.ready();
  hosted.nodes.kubelets = undefined;
  await upgrade("v1.35.0");
  await hosted.told("UpToDate", /^False NodesNotKnown: .*connect ECONNREFUSED/);
});

test("reports a node that is newer than the control plane, and does not block its upgrade", async () => {
  hosted.nodes.kubelets = { early: "v1.35.1" };
  await hosted.create();
  await hosted.ready();
  await hosted.told(
    "NodesSupported",
    /^False KubeletTooNew: a kubelet may not be newer than the control plane \(v1\.34\.4\), but early has v1\.35\.1; upgrade/,
  );
  await upgrade("v1.35.0");
  await hosted.eventually(async () => expect(hosted.placement.plans.at(-1)?.version).toBe("v1.35.0"));
  hosted.placement.report({ ...hosted.placement.state, version: "v1.35.0" });
  await hosted.told("NodesSupported", "none");
});
