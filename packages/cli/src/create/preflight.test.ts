import type { ClusterPlan } from "@capstan/capi";
import { expect, it } from "vitest";
import { checkInstalled } from "./preflight.ts";

const plan = (placement?: string): ClusterPlan => ({
  name: "c",
  namespace: "default",
  version: "v1.35.4",
  podCidrs: [],
  serviceCidrs: [],
  labels: {},
  workers: [],
  placement,
});
const installed = { versions: ["v1.34.4"], flags: " --data /srv" };

it("rejects a control plane as processes whose version is not installed, and shows the command that installs it", () => {
  const check = (): void => checkInstalled(plan(), { dataDir: "/srv" }, installed);
  expect(check).toThrow(
    "Kubernetes v1.35.4 is not installed on this machine (installed: v1.34.4); nothing was created",
  );
  expect(check).toThrow(expect.objectContaining({ hint: "capstan kubernetes install v1.35.4 --data /srv" }));
});

it("accepts versions that are installed, provided by the placement, or installed on another machine", () => {
  checkInstalled(plan(), { dataDir: "/srv" }, { ...installed, versions: ["v1.34.4", "v1.35.4"] });
  checkInstalled(plan("Embedded"), { dataDir: "/srv" }, installed);
  checkInstalled(plan("Pods"), { dataDir: "/srv" }, installed);
  checkInstalled(plan(), {}, installed);
});
