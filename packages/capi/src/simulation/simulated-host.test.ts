import { applyMergePatch, type KubeObject } from "@capstan/apimachinery";
import { PROVIDERS } from "@capstan/manager/providers";
import { expect, test } from "vitest";
import { simulatedHost } from "./simulated-host.ts";

const own = (annotations?: Record<string, string>): KubeObject =>
  ({ apiVersion: "v1", kind: "ByoHost", metadata: { name: "h", annotations } }) as KubeObject;
const metal = (address: string): KubeObject =>
  ({ apiVersion: "v1", kind: "BareMetalHost", metadata: { name: "h" }, spec: { bmc: { address } } }) as KubeObject;

test.each([
  ["own host", own({ "memory.capstan.dev/agent": "" })],
  ["bare metal", metal("memory://metal-1?boot=1s")],
])("%s in memory is broken and repaired by the patch", (_, host) => {
  expect(simulatedHost(host, PROVIDERS)?.health).toBe("well");
  const broken = applyMergePatch(host, simulatedHost(host, PROVIDERS)?.change) as KubeObject;
  expect(simulatedHost(broken, PROVIDERS)?.health).toBe("broken");
  const repaired = applyMergePatch(broken, simulatedHost(broken, PROVIDERS)?.change) as KubeObject;
  expect(simulatedHost(repaired, PROVIDERS)?.health).toBe("well");
});

test.each([
  ["own host", own()],
  ["bare metal", metal("redfish+https://10.0.0.1/redfish/v1/Systems/1")],
])("a real %s is neither", (_, host) => {
  expect(simulatedHost(host, PROVIDERS)).toBeUndefined();
});
