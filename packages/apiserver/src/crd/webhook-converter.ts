import { internalError, isObject, type Random, randomUuid, type Unstructured } from "@capstan/apimachinery";
import type { WebhookClient } from "../admission/webhook-client.ts";
import { checkedConversion } from "./conversion.ts";
import type { CrdConversion, CustomResourceDefinition } from "./crd-object.ts";

/** Converts objects by the webhook of a CRD. */
export type ConversionWebhook = (
  crd: CustomResourceDefinition,
  objects: readonly Unstructured[],
  toApiVersion: string,
) => Promise<Unstructured[]>;

type ClientConfig = NonNullable<NonNullable<CrdConversion["webhook"]>["clientConfig"]>;

/** Upstream waits this long for a conversion. */
const TIMEOUT_SECONDS = 30;

/** Speaks apiextensions.k8s.io ConversionReview through the client that admission webhooks use too. */
export function conversionWebhook(client: WebhookClient, random: Random): ConversionWebhook {
  return async (crd, objects, toApiVersion) => {
    const webhook = crd.spec.conversion?.webhook;
    if (webhook?.clientConfig === undefined)
      throw internalError(`${crd.metadata.name ?? ""} has no conversion webhook`);
    const version = webhook.conversionReviewVersions?.includes("v1") === true ? "v1" : "v1beta1";
    const uid = randomUuid(random);
    const review = {
      kind: "ConversionReview",
      apiVersion: `apiextensions.k8s.io/${version}`,
      request: { uid, desiredAPIVersion: toApiVersion, objects },
    };
    let answer: unknown;
    try {
      answer = await client.post(target(webhook.clientConfig), review, TIMEOUT_SECONDS);
    } catch (error) {
      const why = error instanceof Error ? error.message : "it could not be reached";
      throw internalError(`conversion webhook for ${crd.metadata.name ?? ""} failed: ${why}`);
    }
    return readAnswer(crd, objects, toApiVersion, uid, answer);
  };
}

function target(config: ClientConfig): Parameters<WebhookClient["post"]>[0] {
  const { url, service, caBundle } = config;
  return {
    url,
    service:
      service === undefined
        ? undefined
        : { namespace: service.namespace, name: service.name, path: service.path ?? "/", port: service.port ?? 443 },
    caPem: caBundle === undefined ? undefined : Buffer.from(caBundle, "base64").toString(),
  };
}

function readAnswer(
  crd: CustomResourceDefinition,
  objects: readonly Unstructured[],
  toApiVersion: string,
  uid: string,
  answer: unknown,
): Unstructured[] {
  const fail = (why: string): Error =>
    internalError(`conversion webhook for ${crd.metadata.name ?? ""} failed: ${why}`);
  const response = isObject(answer) && isObject(answer["response"]) ? answer["response"] : undefined;
  if (response === undefined) throw fail("the answer has no response");
  if (response["uid"] !== uid) throw fail("the answer is for another request");
  const result = isObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success")
    throw fail(typeof result["message"] === "string" ? result["message"] : "it reported no success");
  const converted = response["convertedObjects"];
  if (!Array.isArray(converted) || converted.length !== objects.length) {
    throw fail(`it answered ${Array.isArray(converted) ? converted.length : 0} objects for ${objects.length}`);
  }
  return objects.map((before, i) => {
    const after: unknown = converted[i];
    if (!isObject(after) || !isObject(after["metadata"]))
      throw fail(`object ${i} of the answer is not an object with metadata`);
    return checkedConversion(before, after as Unstructured, toApiVersion);
  });
}
