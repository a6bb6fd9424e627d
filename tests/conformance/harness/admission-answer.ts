/** The response of an admission webhook; allows by default. */
export interface AdmissionScript {
  /** The response's fields, as they are. */
  readonly response?: Readonly<Record<string, unknown>>;
  /** A JSON patch. */
  readonly patch?: readonly unknown[];
  /** Raises the number in this label by one: shows how often, and in which order, webhooks were called. */
  readonly count?: string;
  /** Denies and quotes these fields of the request. */
  readonly quote?: readonly string[];
  /** Replaces fields of the whole document. */
  readonly review?: Readonly<Record<string, unknown>>;
}

interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: Readonly<Record<string, unknown>> & {
    readonly uid: string;
    readonly object?: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } } | null;
  };
}

/** The AdmissionReview that answers one. */
export function admissionAnswer({ apiVersion, kind, request }: AdmissionReview, script: AdmissionScript): object {
  const patch = script.count === undefined ? script.patch : counting(script.count, request.object?.metadata.labels);
  const response = {
    uid: request.uid,
    allowed: script.quote === undefined,
    ...(patch === undefined ? {} : { patchType: "JSONPatch", patch: base64(patch) }),
    ...(script.quote === undefined ? {} : { status: { message: quotation(request, script.quote) } }),
    ...script.response,
  };
  return { apiVersion, kind, response, ...script.review };
}

function counting(label: string, labels: Readonly<Record<string, string>> = {}): unknown[] {
  const next = Object.keys(labels).length === 0 ? [{ op: "add", path: "/metadata/labels", value: {} }] : [];
  return [...next, { op: "add", path: `/metadata/labels/${label}`, value: String(Number(labels[label] ?? "0") + 1) }];
}

/** The fields as JSON in alphabetical order, without what no two servers share. */
function quotation(request: Readonly<Record<string, unknown>>, fields: readonly string[]): string {
  const chosen = Object.fromEntries(fields.map((field) => [field, request[field]]));
  return JSON.stringify(chosen, (key, value: unknown) => {
    if (key === "resourceVersion" || key === "managedFields" || key === "extra") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function base64(patch: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(patch)).toString("base64");
}
