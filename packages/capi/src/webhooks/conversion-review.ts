import { isObject, type Unstructured } from "@capstan/apimachinery";
import { convertKind, type ServedKind } from "../admission/plugins.ts";
import type { ApiVersionLookup } from "../schema/kind.ts";

/** apiextensions.k8s.io/v1 ConversionReview as the answer to a request. */
export interface ConversionReviewResponse {
  apiVersion: "apiextensions.k8s.io/v1";
  kind: "ConversionReview";
  response: {
    uid: string;
    convertedObjects: Unstructured[];
    result: { status: "Success" | "Failure"; message?: string };
  };
}

/** Answers the conversion webhook of kinds. */
export function conversionReview(
  kinds: readonly ServedKind[],
  review: unknown,
  apiVersionOf?: ApiVersionLookup,
): ConversionReviewResponse {
  const request = isObject(review) ? review["request"] : undefined;
  if (!isObject(request) || !Array.isArray(request["objects"]))
    throw new TypeError("body is not a ConversionReview: it has no request.objects");
  const uid = String(request["uid"]);
  const desired = String(request["desiredAPIVersion"]);
  const answer = (convertedObjects: Unstructured[], message?: string): ConversionReviewResponse => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: {
      uid,
      convertedObjects,
      result: message === undefined ? { status: "Success" } : { status: "Failure", message },
    },
  });
  try {
    return answer(request["objects"].map((object: unknown) => converted(kinds, object, desired, apiVersionOf)));
  } catch (error) {
    return answer([], error instanceof Error ? error.message : "conversion failed");
  }
}

function converted(
  kinds: readonly ServedKind[],
  object: unknown,
  desired: string,
  apiVersionOf?: ApiVersionLookup,
): Unstructured {
  if (!isObject(object) || !isObject(object["metadata"])) throw new TypeError("an object without metadata");
  const [group, version = ""] = desired.split("/");
  const kind = kinds.find((known) => known.group === group && known.kind === object["kind"]);
  if (kind === undefined) throw new TypeError(`no kind ${String(object["kind"])} in ${desired} is served here`);
  return convertKind(kind, object as unknown as Unstructured, version, apiVersionOf);
}
