import { goQuote, isObject, type Random, randomUuid, type Unstructured } from "@capstan/apimachinery";
import type { WebhookClient } from "../admission/webhook-client.ts";
import { bareError } from "../registry/errors.ts";
import { checkedConversion, InvalidConversion } from "./conversion.ts";
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

/** Speaks apiextensions.k8s.io ConversionReview through the client that admission webhooks use too. Fails with upstream's messages. */
export function conversionWebhook(client: WebhookClient, random: Random): ConversionWebhook {
  return async (crd, objects, toApiVersion) => {
    const [first] = objects;
    if (first === undefined) return [];
    const fail = (why: string): Error =>
      bareError(`conversion webhook for ${first.apiVersion}, Kind=${first.kind} ${why}`);
    const webhook = crd.spec.conversion?.webhook;
    if (webhook?.clientConfig === undefined) throw fail("failed: it is not configured");
    const version = webhook.conversionReviewVersions?.find((name) => name === "v1" || name === "v1beta1");
    if (version === undefined) throw bareError("no supported conversion review versions");
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
      throw fail(`failed: ${error instanceof Error ? error.message : "it could not be reached"}`);
    }
    try {
      return readAnswer(answer, { version, uid, objects, toApiVersion });
    } catch (error) {
      throw error instanceof InvalidConversion ? fail(error.message) : error;
    }
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

interface Question {
  readonly version: string;
  readonly uid: string;
  readonly objects: readonly Unstructured[];
  readonly toApiVersion: string;
}

function readAnswer(answer: unknown, { version, uid, objects, toApiVersion }: Question): Unstructured[] {
  const fail = (why: string): never => {
    throw new InvalidConversion(`failed: ${why}`);
  };
  const review = isObject(answer) ? answer : {};
  // Webhooks of the old version need not name the request they answer.
  const strict = version === "v1";
  const expected = "apiextensions.k8s.io/v1, Kind=ConversionReview";
  const gvk = `${textOf(review["apiVersion"]) || "/"}, Kind=${textOf(review["kind"])}`;
  if (strict && gvk !== expected) fail(`expected webhook response of ${expected}, got ${gvk}`);
  const { response } = review;
  if (!isObject(response)) return fail("no response provided");
  if (strict && response["uid"] !== uid)
    fail(`expected response.uid=${goQuote(uid)}, got ${goQuote(textOf(response["uid"]))}`);
  const result = isObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success")
    fail(textOf(result["message"]) || `response.result.status was '${textOf(result["status"])}', not 'Success'`);
  const converted = Array.isArray(response["convertedObjects"]) ? response["convertedObjects"] : [];
  if (converted.length !== objects.length)
    throw new InvalidConversion(`returned ${converted.length} objects, expected ${objects.length}`);
  return objects.map((before, index) => {
    const after: unknown = converted[index];
    if (!isObject(after))
      throw new InvalidConversion(`returned invalid converted object at index ${index}: it is no object`);
    return checkedConversion(before, after as Unstructured, toApiVersion, index);
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
