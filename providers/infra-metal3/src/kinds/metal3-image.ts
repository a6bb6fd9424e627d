import type { AdmissionProblem } from "@capstan/capi";

const LIVE_ISO = "live-iso";

interface Deployed {
  image?: { url?: string; checksum?: string; checksumType?: string; diskFormat?: string };
  customDeploy?: { method?: string };
}

/** Validates the image or custom deploy step of a machine, with upstream's rules. */
export function imageProblems(spec: Deployed, path: string): AdmissionProblem[] {
  if (spec.customDeploy?.method !== undefined) return [];
  const { url = "", checksum = "", checksumType, diskFormat } = spec.image ?? {};
  if (url === "" && checksum === "")
    return [{ type: "FieldValueRequired", field: `${path}.image`, detail: "either image or customDeploy is required" }];
  if (url === "") return [{ type: "FieldValueRequired", field: `${path}.image.url`, detail: "cannot be empty" }];
  if (!isUrl(url))
    return [{ type: "FieldValueInvalid", field: `${path}.image.url`, value: url, detail: "not a valid URL" }];
  const field = `${path}.image.checksum`;
  if (url.toLowerCase().startsWith("oci://"))
    return [
      ...(checksum === ""
        ? []
        : [{ type: "FieldValueForbidden" as const, field, detail: "must be empty for OCI images" }]),
      ...(checksumType === undefined
        ? []
        : [{ type: "FieldValueForbidden" as const, field: `${field}Type`, detail: "must be empty for OCI images" }]),
    ];
  if (diskFormat === LIVE_ISO) return [];
  if (checksum === "")
    return [{ type: "FieldValueRequired", field, detail: "cannot be empty unless diskFormat is live-iso" }];
  return /^https?:\/\//.test(checksum) && !isUrl(checksum)
    ? [{ type: "FieldValueInvalid", field, value: checksum, detail: "not a valid URL" }]
    : [];
}

function isUrl(text: string): boolean {
  return URL.canParse(text);
}
