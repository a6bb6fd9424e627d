import { boolean, conditions, documented, type Infer, integer, object, optional, string, time } from "@capstan/capi";
import {
  BOOT_MODES,
  customDeploy,
  firmwareConfig,
  hostImage,
  raidConfig,
  rootDeviceHints,
  secretReference,
} from "./bare-metal-host-parts.ts";
import { hardwareDetails } from "./hardware-details.ts";

/** Provisioning states of a host; `ready` and `match profile` are names of earlier releases. */
export const PROVISIONING_STATES = [
  "",
  "unmanaged",
  "registering",
  "match profile",
  "inspecting",
  "preparing",
  "ready",
  "available",
  "provisioning",
  "provisioned",
  "externally provisioned",
  "deprovisioning",
  "powering off before delete",
  "deleting",
] as const;
/** One of PROVISIONING_STATES. */
export type ProvisioningState = (typeof PROVISIONING_STATES)[number];

/** Values of status.errorType, as upstream defines them. */
export const ERROR_TYPES = [
  "provisioned registration error",
  "registration error",
  "inspection error",
  "preparation error",
  "provisioning error",
  "power management error",
  "detach error",
  "servicing error",
] as const;
/** One of ERROR_TYPES. */
export type HostErrorType = (typeof ERROR_TYPES)[number];

const credentials = (doc: string) =>
  object(
    {
      credentials: optional(secretReference("The Secret.")),
      credentialsVersion: optional(string({ doc: "resourceVersion of the Secret.", maxLength: 128 })),
    },
    { doc },
  );

const operation = object(
  {
    start: optional(time({ doc: "Time when the operation started." })),
    end: optional(time({ doc: "Time when the operation ended; absent while it runs." })),
  },
  { doc: "Times of the last run of one operation." },
);

/** What was last applied; compared with spec to see changes. */
const provisioning = object(
  {
    state: string({ doc: "Provisioning state of the host.", maxLength: 64 }),
    ID: string({ doc: "ID of the host in the driver.", maxLength: 1024 }),
    image: optional(
      // Upstream writes an empty image where none was written.
      object(
        { ...imageFields(), url: optional(string({ doc: "URL of the image.", maxLength: 4096 })) },
        { doc: "Image that was last written to the host." },
      ),
    ),
    rootDeviceHints: optional(rootDeviceHints),
    bootMode: optional(string({ doc: "Boot mode that was last applied.", enum: BOOT_MODES })),
    raid: optional(raidConfig),
    firmware: optional(firmwareConfig),
    customDeploy: optional(customDeploy),
  },
  { doc: "Settings that were last applied to the host, and its place in the provisioning process." },
);

function imageFields() {
  return {
    checksum: optional(string({ doc: "Digest of the image, or the URL of a file with digests.", maxLength: 4096 })),
    checksumType: optional(string({ doc: "Algorithm of the digest.", maxLength: 16 })),
    format: optional(string({ doc: "Format of the image.", maxLength: 16 })),
    ociAuthSecretName: optional(string({ doc: "Secret with the credentials of the registry.", maxLength: 253 })),
  };
}

/** What is known of a host. */
export const hostStatus = object(
  {
    operationalStatus: string({
      doc: "Operational status of the host: OK, discovered, error, delayed, detached, servicing, or empty.",
      maxLength: 32,
    }),
    errorType: optional(string({ doc: "Type of the error.", enum: ERROR_TYPES })),
    errorMessage: string({
      doc: "What was attempted, what the other side answered and what to do; empty without an error.",
      maxLength: 32768,
    }),
    errorCount: integer({ doc: "Number of consecutive failures.", default: 0 }),
    provisioningFailCount: optional(
      integer({ doc: "Number of failed attempts to provision the same image.", minimum: 0 }),
    ),
    lastAttemptedImage: optional(hostImage),
    provisioning,
    goodCredentials: optional(credentials("The last credentials that worked.")),
    triedCredentials: optional(credentials("The last credentials that were tried.")),
    poweredOn: boolean({ doc: "Whether the host is powered on, as its management controller reports." }),
    hardwareProfile: optional(string({ doc: "Name of the hardware profile in use; deprecated.", maxLength: 64 })),
    hardware: optional(hardwareDetails),
    lastUpdated: optional(time({ doc: "Time when the status last changed." })),
    operationHistory: optional(
      object(
        {
          register: optional(documented(operation, "The last registration.")),
          inspect: optional(documented(operation, "The last inspection.")),
          provision: optional(documented(operation, "The last provisioning.")),
          deprovision: optional(documented(operation, "The last deprovisioning.")),
        },
        { doc: "Times of the last run of each operation." },
      ),
    ),
    conditions: optional(conditions),
  },
  { doc: "Observed state of the BareMetalHost." },
);
/** Observed state of a BareMetalHost. */
export type BareMetalHostStatus = Infer<typeof hostStatus>;
