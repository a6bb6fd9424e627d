/** A request for one of the documents that describe the API (discovery, OpenAPI). Header names are lower-case. */
export interface DocumentRequest {
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
}

/** The answer; an object body is sent as JSON. */
export interface DocumentAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | string | object;
}

/** Answers requests for documents; undefined = not one of its paths. */
export type DocumentHandler = (request: DocumentRequest) => DocumentAnswer | undefined;

/** One that makes large documents piece by piece. */
export type SlowDocumentHandler = (request: DocumentRequest) => DocumentAnswer | undefined | Promise<DocumentAnswer>;

/** Whether the client already has this version of the document. */
export function matchesEtag(request: DocumentRequest, etag: string): boolean {
  const known = request.headers["if-none-match"];
  if (known === undefined) return false;
  return known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*");
}
