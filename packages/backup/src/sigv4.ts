import { createHash, createHmac } from "node:crypto";

/** A request to sign, with the credentials and the time of the signature. */
export interface SigningInput {
  method: string;
  url: URL;
  headers: Record<string, string>;
  /** SHA-256 of the body in hex. */
  bodyHash: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  nowMs: number;
}

/** Signs a request to an S3-compatible store (AWS Signature Version 4) and returns its headers. */
export function signRequest(input: SigningInput): Record<string, string> {
  const time = new Date(input.nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = {
    ...input.headers,
    host: input.url.host,
    "x-amz-content-sha256": input.bodyHash,
    "x-amz-date": time,
  };
  const names = Object.keys(headers).toSorted();
  const query = [...input.url.searchParams]
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const canonical = [
    input.method,
    input.url.pathname,
    query,
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    "",
    names.join(";"),
    input.bodyHash,
  ].join("\n");
  const scope = `${day}/${input.region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, input.region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${input.secretAccessKey}`,
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const { host: _host, ...sent } = headers;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${input.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

/** Percent-encodes everything but unreserved characters, as S3 requires. */
export function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns the SHA-256 of some data in hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
