import type { Status } from "@capstan/apimachinery";
import type { WatchStream } from "../registry/watch.ts";

/** What the server answers, before it is written to a socket or handed over in process. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

/**
 * The forms an answer takes. Stored objects carry their JSON bytes so that nothing is serialised twice, and their frozen object so
 * that the in-process transport parses nothing.
 */
export type ReplyBody =
  | { readonly type: "object"; readonly object: object; readonly encoded?: Encoded }
  /** A list in pieces of JSON; `object` builds the parsed form for callers in process. */
  | { readonly type: "list"; chunks(): readonly Buffer[] | Promise<readonly Buffer[]>; object(): object }
  | { readonly type: "raw"; readonly contentType: string; readonly bytes: Buffer | string }
  | { readonly type: "watch"; readonly stream: WatchStream };

/** Returns an object's JSON, encoding it on demand: callers in process never need it. */
export interface Encoded {
  readonly bytes: Buffer;
}

/** A JSON answer. */
export function objectReply(status: number, object: object, encoded?: Encoded): Reply {
  return { status, body: encoded === undefined ? { type: "object", object } : { type: "object", object, encoded } };
}

/** A plain text answer, as health endpoints give. */
export function textReply(status: number, text: string, headers?: Record<string, string>): Reply {
  const body: ReplyBody = { type: "raw", contentType: "text/plain; charset=utf-8", bytes: text };
  return headers === undefined ? { status, body } : { status, headers, body };
}

/** A failure. */
export function statusReply(status: Status): Reply {
  const code = status.code ?? 500;
  const retry = status.details?.retryAfterSeconds;
  const body: ReplyBody = { type: "object", object: status };
  return retry === undefined
    ? { status: code, body }
    : { status: code, headers: { "Retry-After": String(retry) }, body };
}
