import { badRequest } from "@capstan/apimachinery";

/** Where the next page of a list starts. */
export interface ContinueToken {
  /** Revision all pages show; -1 = go on at the newest, inconsistently. */
  readonly revision: number;
  /** First key of the page, relative to the list's prefix. */
  readonly start: string;
}

/** Encodes a token in the form of upstream: base64url JSON without padding. */
export function encodeContinue(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: `/${token.start}` })).toString(
    "base64url",
  );
}

/** Decodes a token; anything that is not one is a 400. */
export function decodeContinue(text: string): ContinueToken {
  const strange = /[^A-Za-z0-9_-]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length - 1 : -1);
  if (strange >= 0)
    throw badRequest(`invalid continue token: continue key is not valid: illegal base64 data at input byte ${strange}`);
  const bytes = Buffer.from(text, "base64url");
  const json = bytes.toString();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw badRequest(`invalid continue token: continue key is not valid: invalid JSON`);
  }
  const { v, rv, start } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (v !== "meta.k8s.io/v1")
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${typeof v === "string" ? v : ""}`,
    );
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) {
    throw badRequest(
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    );
  }
  // The leading slash is upstream's; other slashes and dots must not lead out of the list's prefix.
  const key = typeof start === "string" ? start.replace(/^\//, "") : "";
  if (key === "" || key.startsWith("/") || key.split("/").includes("..")) {
    throw badRequest(
      "invalid continue token: continue key is not valid: encoded start key empty or invalid (version meta.k8s.io/v1)",
    );
  }
  return { revision: rv, start: key };
}
