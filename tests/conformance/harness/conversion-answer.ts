/** The response of a conversion webhook; by default it moves `spec.size` (v1) to `spec.dimension` (v2) and back. */
export interface ConversionScript {
  /** Fails with this result. */
  readonly result?: Readonly<Record<string, unknown>>;
  /** The response's fields, as they are. */
  readonly response?: Readonly<Record<string, unknown>>;
  /** Merged into the metadata of every converted object. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Merged into every converted object. */
  readonly object?: Readonly<Record<string, unknown>>;
  /** Returns fewer objects. */
  readonly drop?: number;
}

interface ConversionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Custom[] };
}

interface Custom {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The ConversionReview that answers one. */
export function conversionAnswer({ apiVersion, kind, request }: ConversionReview, script: ConversionScript): object {
  const converted = request.objects.slice(script.drop ?? 0).map((object) => ({
    ...convert(object, request.desiredAPIVersion),
    ...script.object,
    metadata: { ...object.metadata, ...script.metadata },
  }));
  const response = {
    uid: request.uid,
    result: script.result ?? { status: "Success" },
    convertedObjects: converted,
    ...script.response,
  };
  return { apiVersion, kind, response };
}

function convert(object: Custom, apiVersion: string): Custom {
  if (object.spec === undefined) return { ...object, apiVersion };
  const { size, dimension, ...rest } = object.spec;
  const value = size ?? dimension;
  const moved = value === undefined ? {} : { [apiVersion.endsWith("/v1") ? "size" : "dimension"]: value };
  return { ...object, apiVersion, spec: { ...rest, ...moved } };
}
