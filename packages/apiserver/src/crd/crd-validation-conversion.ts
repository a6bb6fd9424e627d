import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "@capstan/apimachinery";
import type { CrdConversion } from "./crd-object.ts";

const REVIEW_VERSIONS = ["v1", "v1beta1"];

/** Rules for `spec.conversion`. */
export function validateConversion(conversion: CrdConversion | undefined, path: string): FieldError[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  if (strategy === "None") {
    const cause = "should not be set when strategy is not set to Webhook";
    const errors: FieldError[] = [];
    if (webhook?.clientConfig !== undefined) errors.push(forbiddenField(`${path}.webhookClientConfig`, cause));
    if ((webhook?.conversionReviewVersions?.length ?? 0) > 0) {
      errors.push(forbiddenField(`${path}.conversionReviewVersions`, cause));
    }
    return errors;
  }
  if (strategy !== "Webhook") return [notSupported(`${path}.strategy`, strategy, ["None", "Webhook"])];
  const errors: FieldError[] = [];
  const client = webhook?.clientConfig;
  const clientPath = `${path}.webhookClientConfig`;
  if (client === undefined) errors.push(required(clientPath, "required when strategy is set to Webhook"));
  else if ((client.url === undefined) === (client.service === undefined)) {
    errors.push(required(clientPath, "exactly one of url or service is required"));
  } else if (client.url !== undefined && !client.url.startsWith("https://")) {
    errors.push(
      invalidValue(
        `${clientPath}.url`,
        client.url.split(":")[0],
        "'https' is the only allowed URL scheme; desired format: https://host[/path]",
      ),
    );
  }
  const versions = webhook?.conversionReviewVersions ?? [];
  const versionsPath = `${path}.conversionReviewVersions`;
  if (versions.length === 0) errors.push(required(versionsPath));
  else if (!versions.some((v) => REVIEW_VERSIONS.includes(v))) {
    errors.push(invalidValue(versionsPath, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  }
  return errors;
}
