import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { badRequest, requestEntityTooLarge } from "@capstan/apimachinery";
import type { RequestBody } from "./body.ts";

/** Upstream's limit for request bodies. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** Reads a request's body without copying where it came in one piece; 413 above the limit. */
export function readBody(request: IncomingMessage | Http2ServerRequest): Promise<RequestBody> {
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
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge());
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
