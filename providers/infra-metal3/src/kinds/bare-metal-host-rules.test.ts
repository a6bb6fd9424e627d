import { describe, expect, test } from "vitest";
import { parseBmcAddress } from "../provisioner/bmc-address.ts";
import { BareMetalHost } from "./bare-metal-host.ts";
import { hostProblems } from "./bare-metal-host-rules.ts";

const host = (spec: object = {}, metadata: object = {}, status?: object): BareMetalHost =>
  ({
    apiVersion: BareMetalHost.apiVersion,
    kind: BareMetalHost.kind,
    metadata: { name: "h1", namespace: "default", ...metadata },
    spec: {
      online: true,
      bmc: { address: "redfish-virtualmedia://10.0.0.1/redfish/v1/Systems/1", credentialsName: "bmc" },
      ...spec,
    },
    status,
  }) as BareMetalHost;
const at = (state: string, operationalStatus = "OK"): object => ({
  operationalStatus,
  provisioning: { state, ID: "x" },
});
const fields = (object: BareMetalHost, old?: BareMetalHost): string[] =>
  hostProblems(object, old).map(({ field }) => field);

describe("a new host", () => {
  const disk = { level: "1", physicalDisks: ["a", "b"], numberOfPhysicalDisks: 3, controller: "c" };
  test.each<[string, BareMetalHost, string[]]>([
    ["as it should be", host(), []],
    ["without BMC", host({ bmc: undefined }), []],
    ["unknown scheme", host({ bmc: { address: "telnet://x", credentialsName: "bmc" } }), ["spec.bmc.address"]],
    [
      "password in the address",
      host({ bmc: { address: "redfish://u:p@x", credentialsName: "bmc" } }),
      ["spec.bmc.address"],
    ],
    [
      "path of a Manager",
      host({ bmc: { address: "redfish://x/redfish/v1/Managers/1", credentialsName: "bmc" } }),
      ["spec.bmc.address"],
    ],
    [
      "libvirt without MAC",
      host({ bmc: { address: "libvirt://x:1", credentialsName: "bmc" } }),
      ["spec.bootMACAddress"],
    ],
    [
      "secure boot by IPMI",
      host({ bootMode: "UEFISecureBoot", bmc: { address: "ipmi://x", credentialsName: "bmc" } }),
      ["spec.bootMode"],
    ],
    [
      "fast inspection by IPMI",
      host({ inspectionMode: "fast", bmc: { address: "10.0.0.1:623", credentialsName: "bmc" } }),
      ["spec.inspectionMode"],
    ],
    ["off although never off", host({ online: false, disablePowerOff: true }), ["spec.online"]],
    ["image without URL", host({ image: { url: "nothing" } }), ["spec.image.url"]],
    ["firmware settings", host({ firmware: { sriovEnabled: true } }), ["spec.firmware"]],
    ["UUID as name", host({}, { name: "6a4cdd2c-3a0e-4b1b-9a3e-0c5b9d0a7f01" }), ["metadata.name"]],
    [
      "nameless interface",
      host({ networkInterfaces: [{ hostNetworkAttachment: { name: "a" } }] }),
      ["spec.networkInterfaces[0]"],
    ],
    [
      "both kinds of RAID",
      host({ raid: { hardwareRAIDVolumes: [{ level: "1" }], softwareRAIDVolumes: [{ level: "1" }] } }),
      ["spec.raid"],
    ],
    [
      "other number of disks",
      host({ raid: { hardwareRAIDVolumes: [disk] } }),
      ["spec.raid.hardwareRAIDVolumes[0].numberOfPhysicalDisks"],
    ],
    [
      "software RAID 0 first",
      host({ raid: { softwareRAIDVolumes: [{ level: "0" }] } }),
      ["spec.raid.softwareRAIDVolumes[0].level"],
    ],
    [
      "reboot that is no JSON",
      host({}, { annotations: { "reboot.metal3.io/x": "now" } }),
      ["metadata.annotations[reboot.metal3.io/x]"],
    ],
    [
      "reboot mode",
      host({}, { annotations: { "reboot.metal3.io": '{"mode":"warm"}' } }),
      ["metadata.annotations[reboot.metal3.io]"],
    ],
    [
      "delete action",
      host({}, { annotations: { "baremetalhost.metal3.io/detached": '{"deleteAction":"x"}' } }),
      ["metadata.annotations[baremetalhost.metal3.io/detached]"],
    ],
    [
      "inspect value",
      host({}, { annotations: { "inspect.metal3.io": "yes" } }),
      ["metadata.annotations[inspect.metal3.io]"],
    ],
  ])("%s", (_name, object, expected) => {
    expect(fields(object)).toEqual(expected);
  });
});

describe("a changed host", () => {
  const other = { bmc: { address: "redfish-virtualmedia://10.0.0.2", credentialsName: "bmc" } };
  test.each<[string, BareMetalHost, BareMetalHost, string[]]>([
    ["another BMC while available", host(other), host({}, {}, at("available")), ["spec.bmc.address"]],
    ["another BMC while registering", host(other), host({}, {}, at("registering")), []],
    ["another BMC while detached", host(other), host({}, {}, at("provisioned", "detached")), []],
    [
      "another MAC",
      host({ bootMACAddress: "00:00:00:00:00:02" }),
      host({ bootMACAddress: "00:00:00:00:00:01" }),
      ["spec.bootMACAddress"],
    ],
    ["a first MAC", host({ bootMACAddress: "00:00:00:00:00:02" }), host({}, {}, at("available")), []],
    [
      "adopted while provisioned",
      host({ externallyProvisioned: true }),
      host({}, {}, at("provisioned")),
      ["spec.externallyProvisioned"],
    ],
    ["adopted while available", host({ externallyProvisioned: true }), host({}, {}, at("available")), []],
    [
      "finalizer off a host that was never right",
      host({ online: false, disablePowerOff: true }, { finalizers: [] }),
      host({ online: false, disablePowerOff: true }),
      [],
    ],
  ])("%s", (_name, object, old, expected) => {
    expect(fields(object, old)).toEqual(expected);
  });
});

test.each([
  ["redfish://h/redfish/v1/Systems/1/", { driver: "redfish", origin: "https://h", path: "/redfish/v1/Systems/1" }],
  ["redfish-virtualmedia+http://h:8000/redfish/v1", { origin: "http://h:8000", path: "" }],
  [
    "idrac-virtualmedia://[fe80::1]:8443/redfish/v1/Systems/System.Embedded.1",
    { origin: "https://[fe80::1]:8443", host: "fe80::1" },
  ],
  ["memory://rack1/h1?latency=5ms", { driver: "memory", host: "rack1", path: "/h1" }],
  ["10.0.0.5", { driver: "other", scheme: "ipmi" }],
])("the BMC address %s", (text, expected) => {
  expect(parseBmcAddress(text)).toMatchObject(expected);
});
