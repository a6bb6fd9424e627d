import type { ServerResponse } from "node:http";
import type { Clock } from "@capstan/apimachinery";
import { type Access, SignedOutError } from "./access.ts";
import type { Sequence, Topic } from "./topic.ts";

/** A periodic comment shows both sides that the connection is alive. */
const PING_MS = 20_000;
/** How often permissions are re-checked, so that a revoked permission takes effect on open streams. */
const RIGHTS_MS = 15_000;
/** Disconnects a reader that does not keep up; it reconnects and gets only what it missed. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** What a stream needs. */
export interface StreamOptions {
  readonly response: Pick<ServerResponse, "write" | "end" | "writableLength" | "once" | "destroyed">;
  /** Each with the id of the last event the reader had with it. */
  readonly topics: readonly { readonly topic: Topic; readonly after: string | undefined }[];
  readonly sequence: Sequence;
  readonly access: Access;
  readonly clock: Clock;
}

/**
 * Streams the changes of several topics over one response, each item only to users who may list it. The only state is the client's
 * position, so that a first connection, live updates and a reconnect are handled alike.
 */
export function serveStream(options: StreamOptions): void {
  const { response, sequence, access, clock } = options;
  const cursors = new Map(options.topics.map(({ topic, after }) => [topic, sequence.parse(after)]));
  const topics = [...cursors.keys()];
  const stops: (() => void)[] = topics.map((topic) => topic.subscribe(() => void pump()));
  let ended = false;
  let pumping = false;
  let again = false;

  const end = (): void => {
    if (ended) return;
    ended = true;
    for (const stop of stops.splice(0)) stop();
    cancelPing();
    cancelRights();
  };
  const fail = (error: unknown): void => {
    if (error instanceof SignedOutError && !ended) response.write("event: signed-out\ndata: {}\n\n");
    end();
    response.end();
  };
  const repeat = (ms: number, act: () => void): (() => void) => {
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = clock.after(ms, () => {
        if (ended) return;
        act();
        arm();
      });
    };
    arm();
    return () => cancel();
  };
  const cancelPing = repeat(PING_MS, () => response.write(":\n\n"));
  const cancelRights = repeat(RIGHTS_MS, () => {
    access.refresh().then((changed) => {
      if (!changed || ended) return;
      for (const topic of topics) cursors.set(topic, 0);
      void pump();
    }, fail);
  });
  response.once("close", end);

  async function pump(): Promise<void> {
    if (pumping) {
      again = true;
      return;
    }
    pumping = true;
    try {
      do {
        again = false;
        await round();
      } while (again && !ended);
    } catch (error) {
      fail(error);
    } finally {
      pumping = false;
    }
  }

  /** Sends all topics in one event, whose id is valid for each of them. */
  async function round(): Promise<void> {
    const upTo = sequence.last;
    const id = sequence.id();
    const messages: string[] = [];
    for (const topic of topics) {
      const changes = topic.since(cursors.get(topic) ?? 0);
      const set: string[] = [];
      for (const { key, json, access: needed } of changes.set)
        if (await access.allows(needed)) set.push(`[${JSON.stringify(key)},${json}]`);
      const gone: string[] = [];
      for (const { key, access: needed } of changes.del) if (await access.allows(needed)) gone.push(key);
      cursors.set(topic, upTo);
      if (set.length === 0 && gone.length === 0 && !changes.reset) continue;
      const reset = changes.reset ? `"reset":true,` : "";
      const del = JSON.stringify(gone);
      messages.push(`{"topic":${JSON.stringify(topic.name)},${reset}"set":[${set.join(",")}],"del":${del}}`);
    }
    if (ended || messages.length === 0) return;
    if (response.writableLength > MAX_WAITING_BYTES) throw new Error("the client is too slow");
    response.write(`id: ${id}\ndata: [${messages.join(",")}]\n\n`);
  }

  response.write("retry: 1000\n\n");
  void pump();
}
