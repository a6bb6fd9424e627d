import { expect, test } from "vitest";
import { machineToRemove } from "./select-machine.ts";
import { Model } from "./testing/model.ts";
import type { ControlPlaneView, Health } from "./view.ts";

/** Three outdated Machines, of which the API server of the youngest is as given. */
function outdated(apiServer: Health, young: boolean): ControlPlaneView {
  const model = new Model();
  model.wanted.replicas = 3;
  model.settle();
  model.wanted.revision = 2;
  const view = model.view();
  const [first, second, third] = view.machines;
  if (first === undefined || second === undefined || third?.nodeName === undefined) throw new Error("three Machines");
  return {
    ...view,
    machines: [first, second, { ...third, components: { ...third.components, apiServer } }],
    youngNodes: new Set(young ? [third.nodeName] : []),
  };
}

const provisioning: Health = { status: "False", reason: "Provisioning", message: "" };
const failed: Health = { status: "False", reason: "Failed", message: "CrashLoopBackOff" };

test.each([
  ["one that is starting is not replaced first", provisioning, true, "m1"],
  ["one that never starts is", provisioning, false, "m3"],
  ["one that crashes is, however young", failed, true, "m3"],
])("of outdated Machines, %s", (_, apiServer, young, expected) => {
  const view = outdated(apiServer, young);
  expect(machineToRemove(view, view.machines)?.name).toBe(expected);
});
