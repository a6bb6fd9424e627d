import { defineKind, type ObjectOf, object, optional, string } from "@capstan/capi";
import { objectReference } from "./bare-metal-host-parts.ts";
import { METAL3_IPAM_GROUP } from "./ip-pool.ts";
import { AGE_COLUMN, CLUSTER_COLUMN } from "./metal3-shared.ts";

/** Annotation with which a claim requests a certain address. */
export const REQUESTED_ADDRESS_ANNOTATION = "ipAddress";

/** Finalizer of a claim; removed once its address is released. */
export const CLAIM_FINALIZER = "ipclaim.ipam.metal3.io";

const shared = { group: METAL3_IPAM_GROUP, version: "v1alpha1" };

/** Requests an address from an IPPool. */
export const IPClaim = defineKind({
  ...shared,
  kind: "IPClaim",
  plural: "ipclaims",
  shortNames: ["ipc", "ipclaim", "m3ipc", "m3ipclaim", "metal3ipc", "metal3ipclaim"],
  doc: "Requests one address from an IPPool.",
  schema: object({
    spec: object(
      { pool: objectReference("The IPPool; never changes.") },
      {
        doc: "Desired state of the IPClaim.",
        rules: [{ rule: "self.pool == oldSelf.pool", message: "pool cannot change; make another claim" }],
      },
    ),
    status: optional(
      object(
        {
          address: optional(objectReference("The IPAddress.")),
          errorMessage: optional(string({ doc: "Why no address is allocated (yet).", maxLength: 32768 })),
        },
        { doc: "Observed state of the IPClaim." },
      ),
    ),
  }),
  columns: [CLUSTER_COLUMN, AGE_COLUMN],
  admission: {
    // It is cheap here; without admission, the controller writes it.
    default: ({ metadata }, old) => {
      if (old === undefined && metadata.finalizers?.includes(CLAIM_FINALIZER) !== true)
        metadata.finalizers = [...(metadata.finalizers ?? []), CLAIM_FINALIZER];
    },
  },
});
export type IPClaim = ObjectOf<typeof IPClaim>;
