import { array, boolean, type Infer, object, optional, string } from "@capstan/capi";
import {
  BOOT_MODES,
  customDeploy,
  firmwareConfig,
  hostImage,
  objectReference,
  raidConfig,
  rootDeviceHints,
  secretReference,
} from "./bare-metal-host-parts.ts";

const MAC = "^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$";

const networkInterface = object(
  {
    name: optional(string({ doc: "Name of the interface; either name or macAddress is required.", maxLength: 256 })),
    macAddress: optional(
      string({
        doc: "MAC address of the interface; either name or macAddress is required.",
        pattern: MAC,
        maxLength: 17,
      }),
    ),
    hostNetworkAttachment: object(
      {
        name: string({ doc: "Name of the HostNetworkAttachment.", maxLength: 253 }),
        namespace: optional(string({ doc: "Namespace of the HostNetworkAttachment.", maxLength: 63 })),
      },
      { doc: "Reference to the HostNetworkAttachment that describes the switch network." },
    ),
    switchPort: optional(
      object(
        {
          switchID: string({ doc: "ID of the switch.", maxLength: 256 }),
          portID: string({ doc: "ID of the port on the switch.", maxLength: 256 }),
        },
        { doc: "Switch port that the interface is connected to." },
      ),
    ),
  },
  { doc: "A network interface and the switch network it is attached to." },
);

/** What a person or a Metal3Machine wants of a host. */
export const hostSpec = object(
  {
    online: boolean({ doc: "Whether the host should be powered on." }),
    bmc: optional(
      object(
        {
          address: string({
            doc: "Address of the management controller; its scheme selects the driver.",
            maxLength: 1024,
          }),
          credentialsName: string({ doc: "Secret with `username` and `password`.", maxLength: 253 }),
          disableCertificateVerification: optional(
            boolean({ doc: "Do not verify the certificate of the management controller." }),
          ),
        },
        { doc: "How the management controller is reached." },
      ),
    ),
    bootMACAddress: optional(string({ doc: "MAC address of the NIC that boots.", pattern: MAC, maxLength: 17 })),
    bootMode: optional(string({ doc: "How the firmware boots; UEFI by default.", enum: BOOT_MODES })),
    disablePowerOff: optional(boolean({ doc: "Never power the host off; reboot it instead." })),
    consumerRef: optional(objectReference("Who uses the host.")),
    image: optional(hostImage),
    userData: optional(
      secretReference("Secret with what the host runs at its first boot, under `userData` or `value`."),
    ),
    networkData: optional(secretReference("Secret with the network of the host, under `networkData` or `value`.")),
    metaData: optional(secretReference("Secret with facts for cloud-init, under `metaData` or `value`.")),
    preprovisioningNetworkDataName: optional(
      string({
        doc: "Secret with the network of the inspecting system; also used where networkData is absent.",
        maxLength: 253,
      }),
    ),
    rootDeviceHints: optional(rootDeviceHints),
    raid: optional(raidConfig),
    externallyProvisioned: optional(boolean({ doc: "The host runs an operating system that is not ours to change." })),
    automatedCleaningMode: optional(
      string({ doc: "What is wiped between two uses.", enum: ["metadata", "disabled"], default: "metadata" }),
    ),
    inspectionMode: optional(
      string({
        doc: "How the host is inspected; fast asks the management controller.",
        enum: ["disabled", "agent", "fast"],
      }),
    ),
    customDeploy: optional(customDeploy),
    architecture: optional(
      string({ doc: "CPU architecture, e.g. x86_64; by default what inspection found.", maxLength: 64 }),
    ),
    hardwareProfile: optional(string({ doc: "Deprecated: use rootDeviceHints.", maxLength: 64 })),
    firmware: optional(firmwareConfig),
    taints: optional(
      array(
        object(
          {
            key: string({ doc: "Key of the taint.", maxLength: 316 }),
            value: optional(string({ doc: "Value of the taint.", maxLength: 63 })),
            effect: string({ doc: "Effect of the taint.", maxLength: 32 }),
            timeAdded: optional(string({ doc: "Time when the taint was added.", format: "date-time" })),
          },
          { doc: "A taint; it has no effect." },
        ),
        { doc: "Deprecated: has no effect." },
      ),
    ),
    description: optional(string({ doc: "Free text.", maxLength: 4096 })),
    networkInterfaces: optional(
      array(networkInterface, { doc: "Switch ports of the host; for drivers that set them." }),
    ),
  },
  { doc: "Desired state of the BareMetalHost." },
);
/** Desired state of a BareMetalHost. */
export type BareMetalHostSpec = Infer<typeof hostSpec>;
