import { createHash } from "node:crypto";

/** Random-access bytes, in memory or elsewhere. */
export interface MediaContent {
  readonly size: number;
  /** Stands for the bytes: the same bytes have the same id. */
  readonly id: string;
  /** The bytes from `from` up to, not including, `to`; fails when the signal says so. */
  read(from: number, to: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Bytes that replace or extend those of a base. */
export interface Patch {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Wraps bytes in memory. */
export function bytesContent(bytes: Uint8Array): MediaContent {
  return {
    size: bytes.length,
    id: createHash("sha256").update(bytes).digest("hex"),
    async *read(from, to) {
      yield bytes.subarray(from, to);
    },
  };
}

/** Overlays patches on a base; patches must not overlap, and must leave no gap beyond the end of the base. */
export function patchedContent(base: MediaContent, patches: readonly Patch[]): MediaContent {
  const sorted = [...patches].sort((a, b) => a.at - b.at);
  const hash = createHash("sha256").update(base.id);
  for (const { at, bytes } of sorted) hash.update(`/${at}/`).update(bytes);
  const size = sorted.reduce((end, { at, bytes }) => Math.max(end, at + bytes.length), base.size);
  return {
    size,
    id: hash.digest("hex"),
    async *read(from, to, signal) {
      let at = from;
      for (const { at: start, bytes } of sorted) {
        const end = start + bytes.length;
        if (end <= at || start >= to) continue;
        if (start > at) yield* base.read(at, start, signal);
        yield bytes.subarray(Math.max(at, start) - start, Math.min(to, end) - start);
        at = Math.min(to, end);
      }
      if (at < to) yield* base.read(at, Math.min(to, base.size), signal);
    },
  };
}

/** Reads a range into memory. */
export async function readAll(content: MediaContent, from: number, to: number, signal?: AbortSignal): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content.read(from, to, signal)) parts.push(part);
  const whole = Buffer.concat(parts);
  if (whole.length !== to - from) throw new Error(`requested ${to - from} bytes at ${from}, received ${whole.length}`);
  return whole;
}
