/** A way in which our server answers differently on purpose; docs/differences.md gives the reason under the same name. */
export interface Difference {
  /** Where answers may differ (`body.message`, `headers.vary`); everything else must be equal, and these must not. */
  readonly at: readonly string[];
}

const MESSAGES = ["body.message", "body.details.causes.*.message"];

/** All expected differences by name. The suite fails when a difference no longer occurs. */
export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  "json-order": { at: MESSAGES },
  "bare-mistakes-are-400": { at: ["status", "body.code", "body.reason"] },
  "mistakes-are-400": { at: ["status", "body.code", "body.reason", "body.message"] },
  "yaml-errors": { at: ["body.message", "headers.warning"] },
  descriptions: { at: ["body.**.description"] },
  "openapi-shape": {
    at: [
      "headers.vary",
      ...["description", "default", "allOf", "$ref", "tags", "responses"].map((key) => `body.**.${key}`),
    ],
  },
  "openapi-content-type": { at: ["headers.content-type"] },
  "openapi-packed": { at: ["headers.vary", "headers.content-encoding"] },
  "webhook-nonsense": { at: ["body.message", "body.details.causes.*.message"] },
  "failed-conversions": { at: ["body.message", "body.reason", "body.details"] },
  "fewer-subresources": { at: ["body.items.*.versions.*.resources.*.subresources"] },
  "server-address": { at: ["body.serverAddressByClientCIDRs", "body.jwks_uri"] },
  "workload-warning": { at: ["headers.warning"] },
  "bare-impersonation": { at: ["status", "headers.content-type", "body"] },
  "scale-ownership": { at: ["body.**.managedFields"] },
  "protobuf-answers": { at: ["headers.content-type", "body"] },
  "kept-managers": { at: ["body.metadata.managedFields"] },
  "service-defaults": { at: ["body.metadata.managedFields"] },
  "new-nodes": { at: ["body.spec.taints", "body.status"] },
  "future-watch": { at: ["status", "body"] },
};
