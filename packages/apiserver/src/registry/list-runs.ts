import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import type { ResourceType } from "../types.ts";
import { apiVersionOf } from "./core.ts";
import type { View } from "./views.ts";

/** Neighbours of a list and their JSON, each item with a comma before it. */
interface Run {
  readonly type: ResourceType;
  readonly items: readonly View[];
  readonly bytes: Buffer;
}

/** Long enough that few make a list, short enough that a change costs little to encode again and that other requests run in between. */
const RUN_BYTES = 256 * 1024;
/** For all servers of this process together. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** A run of small objects is limited by their number, too. */
const RUN_ITEMS = 1000;

const COMMA = 0x2c;
const OPEN = 0x7b;

/**
 * Caches the JSON of neighbours under the first of them, so that a list of unchanged objects is not encoded again.
 * Nothing is ever invalidated: a view does not change, and a run serves only where the very same views follow each other.
 */
export class ListRuns {
  /** Least recently used first. */
  readonly #runs = new Map<View, Run>();
  readonly #limit: number;
  readonly #runBytes: number;
  /** Shorter ones are not kept: they are made quickly, or shrank and are to grow together with what follows. */
  readonly #shortBytes: number;
  #kept = 0;

  constructor(limit = KEPT_BYTES, runBytes = RUN_BYTES) {
    this.#limit = limit;
    this.#runBytes = runBytes;
    this.#shortBytes = runBytes / 4;
  }

  keptBytes(): number {
    return this.#kept;
  }

  /** JSON of the items, joined by commas. Selections are not cached: they differ between clients. */
  async json(type: ResourceType, items: readonly View[], chosen: boolean): Promise<Buffer[]> {
    const chunks: Buffer[] = [];
    let made = 0;
    for (let at = 0; at < items.length; ) {
      let run = chosen ? undefined : this.#find(type, items, at);
      if (run === undefined) {
        if (made++ > 0) await yieldToEventLoop();
        run = this.#make(type, items, at, chosen);
        if (!chosen) this.#keep(run);
      }
      chunks.push(at === 0 ? run.bytes.subarray(1) : run.bytes);
      at += run.items.length;
    }
    return chunks;
  }

  #find(type: ResourceType, items: readonly View[], at: number): Run | undefined {
    const first = items[at] as View;
    const run = this.#runs.get(first);
    if (run === undefined || run.type !== type) return undefined;
    const known = run.items;
    for (let i = 1; i < known.length; i++) if (known[i] !== items[at + i]) return undefined;
    this.#runs.delete(first);
    this.#runs.set(first, run);
    return run;
  }

  #make(type: ResourceType, items: readonly View[], from: number, chosen: boolean): Run {
    const neighbours = items.slice(from, chosen ? this.#full(items, from) : this.#boundary(items, from));
    const typed = typePrefix(type);
    const parts: Buffer[] = [];
    let size = 0;
    for (const { bytes } of neighbours) {
      // Lists of built-ins leave apiVersion and kind out of their items, as Go's typed lists do.
      const part = typed !== undefined && startsWith(bytes, typed) ? bytes.subarray(typed.length - 1) : bytes;
      parts.push(part);
      size += part.length + 1;
    }
    const joined = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for (const part of parts) {
      joined[at++] = COMMA;
      joined.set(part, at);
      // In place of the comma before what is left of it.
      joined[at] = OPEN;
      at += part.length;
    }
    return { type, items: neighbours, bytes: joined };
  }

  /** Where a run is long enough. */
  #full(items: readonly View[], from: number, share = 1): number {
    let size = 0;
    let to = from;
    while (to < items.length && size < this.#runBytes * share && to - from < RUN_ITEMS * share)
      size += (items[to++] as View).bytes.length + 1;
    return to;
  }

  /** Before the next known run, also when that makes this one a bit longer: a change costs no more than the run it is in. */
  #boundary(items: readonly View[], from: number): number {
    const most = this.#full(items, from, 1.5);
    for (let to = this.#full(items, from, 0.25); to < most; to++) if (this.#runs.has(items[to] as View)) return to;
    return most === items.length ? most : this.#full(items, from);
  }

  #keep(run: Run): void {
    const { bytes, items } = run;
    const first = items[0] as View;
    this.#drop(first);
    if (bytes.length < this.#shortBytes || bytes.length > this.#limit || items.length === 1) return;
    this.#runs.set(first, run);
    this.#kept += bytes.length;
    for (const oldest of this.#runs.keys()) {
      if (this.#kept <= this.#limit) return;
      this.#drop(oldest);
    }
  }

  #drop(first: View): void {
    this.#kept -= this.#runs.get(first)?.bytes.length ?? 0;
    this.#runs.delete(first);
  }
}

function typePrefix(type: ResourceType): Buffer | undefined {
  if (!type.builtin) return undefined;
  return Buffer.from(`{"apiVersion":${JSON.stringify(apiVersionOf(type))},"kind":${JSON.stringify(type.kind)},`);
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  if (bytes.length <= prefix.length) return false;
  // A loop over some forty bytes is faster than the call of a native function.
  for (let i = prefix.length - 1; i >= 0; i--) if (bytes[i] !== prefix[i]) return false;
  return true;
}
