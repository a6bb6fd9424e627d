import { internalError, isObject, type Random, randomUuid, type Unstructured } from "@capstan/apimachinery";
import type { WebhookClientConfig } from "../types.ts";
import { checkedConversion } from "./conversion.ts";
import type { CustomResourceDefinition } from "./crd-object.ts";

/** Converts objects by the webhook of a CRD. */
export type ConversionWebhook = (
  crd: CustomResourceDefinition,
  objects: readonly Unstructured[],
  toApiVersion: string,
) => Promise<Unstructured[]>;

/** Posts a review to a webhook and returns its parsed answer; shared with admission webhooks. */
export type WebhookCaller = (config: WebhookClientConfig, review: object, timeoutMs: number) => Promise<unknown>;

/** Upstream waits this long for a conversion. */
const TIMEOUT_MS = 30_000;

/** Speaks apiextensions.k8s.io ConversionReview with whatever `call` reaches. */
export function conversionWebhook(call: WebhookCaller, random: Random): ConversionWebhook {
  return async (crd, objects, toApiVersion) => {
    const webhook = crd.spec.conversion?.webhook;
    if (webhook?.clientConfig === undefined) throw internalError(`${crd.metadata.name ?? ""} has no conversion webhook`);
    const version = webhook.conversionReviewVersions?.includes("v1") === true ? "v1" : "v1beta1";
    const uid = randomUuid(random);
    const review = {
      kind: "ConversionReview",
      apiVersion: `apiextensions.k8s.io/${version}`,
      request: { uid, desiredAPIVersion: toApiVersion, objects },
    };
    const answer = await call(webhook.clientConfig, review, TIMEOUT_MS);
    return readAnswer(crd, objects, toApiVersion, uid, answer);
  };
}

function readAnswer(
  crd: CustomResourceDefinition,
  objects: readonly Unstructured[],
  toApiVersion: string,
  uid: string,
  answer: unknown,
): Unstructured[] {
  const fail = (why: string): Error => internalError(`conversion webhook for ${crd.metadata.name ?? ""} failed: ${why}`);
  const response = isObject(answer) && isObject(answer["response"]) ? answer["response"] : undefined;
  if (response === undefined) throw fail("the answer has no response");
  if (response["uid"] !== uid) throw fail("the answer is for another request");
  const result = isObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success") throw fail(typeof result["message"] === "string" ? result["message"] : "it reported no success");
  const converted = response["convertedObjects"];
  if (!Array.isArray(converted) || converted.length !== objects.length) {
    throw fail(`it answered ${Array.isArray(converted) ? converted.length : 0} objects for ${objects.length}`);
  }
  return objects.map((before, i) => {
    const after: unknown = converted[i];
    if (!isObject(after) || !isObject(after["metadata"])) throw fail(`object ${i} of the answer is not an object with metadata`);
    return checkedConversion(before, after as Unstructured, toApiVersion);
  });
}
