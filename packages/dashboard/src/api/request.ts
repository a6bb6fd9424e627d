/** Thrown when the server answers with an error; `message` is meant for users. */
export class RequestError extends Error {
  readonly status: number;
  /** Invalid fields, as reported by the API. */
  readonly causes: readonly { readonly field: string; readonly message: string }[];

  constructor(status: number, message: string, causes: RequestError["causes"] = []) {
    super(message);
    this.name = "RequestError";
    this.status = status;
    this.causes = causes;
  }
}

/** Options of a request in addition to its path. */
export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

interface StatusBody {
  message?: string;
  details?: { causes?: { field?: string; message?: string }[] };
}

/** Requests JSON from the dashboard server. Throws RequestError for any response that is not a success. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(options.query ?? {})) if (value !== undefined) query.set(key, value);
  const text = query.toString();
  let response: Response;
  try {
    response = await fetch(text === "" ? path : `${path}?${text}`, {
      method: options.method ?? "GET",
      credentials: "same-origin",
      ...(options.body === undefined
        ? {}
        : {
            body: JSON.stringify(options.body),
            headers: { "content-type": options.contentType ?? "application/json" },
          }),
    });
  } catch {
    throw new RequestError(0, "the server cannot be reached; it may be restarting");
  }
  const body = (await response.json().catch(() => ({}))) as StatusBody;
  if (response.ok) return body as T;
  const causes = (body.details?.causes ?? []).map((cause) => ({
    field: cause.field ?? "",
    message: cause.message ?? "",
  }));
  throw new RequestError(response.status, body.message ?? `the server answered ${response.status}`, causes);
}

/** Returns the path of a resource or object behind the dashboard server's API proxy. */
export function apiPath(apiVersion: string, plural: string, namespace?: string, name?: string, sub?: string): string {
  const root = apiVersion.includes("/") ? `/k8s/apis/${apiVersion}` : `/k8s/api/${apiVersion}`;
  return [root, ...(namespace === undefined ? [] : ["namespaces", namespace]), plural, name, sub]
    .filter((part) => part !== undefined)
    .join("/");
}
