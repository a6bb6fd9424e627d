import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ByteBudget, type ByteShare, badRequest, requestEntityTooLarge, tooManyRequests } from "@capstan/apimachinery";
import type { RequestBody } from "./body.ts";

/** Upstream's limit for request bodies. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** What the bodies of all requests of the process may take together, however many API servers it has. */
export const REQUEST_BODIES = new ByteBudget(256 * 1024 * 1024);

/**
 * Reads a request's body without copying where it came in one piece; 413 above the limit, 429 when the bodies of all requests take too
 * much. Releasing the share while the body still arrives stops the reading.
 */
export function readBody(request: IncomingMessage | Http2ServerRequest, share: ByteShare): Promise<RequestBody> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > MAX_BODY_BYTES) {
    request.resume();
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES && share.take(chunk.length)) chunks.push(chunk);
      else {
        chunks.length = 0;
        share.release();
        reject(size > MAX_BODY_BYTES ? tooLarge() : tooManyRequests("too many large requests at once", 1));
      }
    });
    request.on("end", () => {
      const [first] = chunks;
      if (first === undefined) resolve({ type: "none" });
      else resolve({ type: "bytes", bytes: chunks.length === 1 ? first : Buffer.concat(chunks, size) });
    });
    request.on("error", () => reject(badRequest("the request's body could not be read")));
  });
}

function tooLarge(): Error {
  return requestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`);
}
