import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock, Random, UserInfo } from "@capstan/apimachinery";
import { writeFileAtomic } from "@capstan/os";

/** The identity behind a session: an authenticated user, or a token that the API authenticates on every request. */
export type Identity =
  | { readonly type: "user"; readonly user: UserInfo }
  | { readonly type: "token"; readonly token: string };

/** A signed-in browser session. */
export interface Session {
  readonly identity: Identity;
  readonly expiresMs: number;
}

const SESSION_MS = 12 * 3600_000;
const LINK_MS = 3600_000;
const MAX_SESSIONS = 1000;
const MAX_LINKS = 100;

/** What the session store needs. */
export interface SessionsOptions {
  /** Stores sessions across restarts; readable by the owner only, because a session is a credential. */
  readonly file: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Stores sessions and one-time sign-in codes. It keeps only hashes of the secrets that browsers hold. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #links = new Map<string, { identity: Identity; expiresMs: number }>();
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Reads the sessions of an earlier process. If the file is unreadable, all users have to sign in again. */
  static async open(options: SessionsOptions): Promise<Sessions> {
    const sessions = new Sessions(options);
    try {
      const stored = JSON.parse(await readFile(options.file, "utf8")) as Record<string, Session>;
      for (const [hash, session] of Object.entries(stored))
        if (session.expiresMs > options.clock.now()) sessions.#sessions.set(hash, session);
    } catch {
      // None yet.
    }
    return sessions;
  }

  /** A code that signs in once, as `identity`. */
  createLink(identity: Identity): string {
    trim(this.#links, MAX_LINKS - 1);
    const code = secret(this.#options.random);
    this.#links.set(hashOf(code), { identity, expiresMs: this.#options.clock.now() + LINK_MS });
    return code;
  }

  /** Redeems a code; undefined when it is unknown, used or expired. */
  redeem(code: string): Identity | undefined {
    const hash = hashOf(code);
    const link = this.#links.get(hash);
    this.#links.delete(hash);
    return link !== undefined && link.expiresMs > this.#options.clock.now() ? link.identity : undefined;
  }

  /** Starts a session; the result is the browser's secret. */
  async create(identity: Identity): Promise<{ id: string; session: Session }> {
    const id = secret(this.#options.random);
    const session: Session = { identity, expiresMs: this.#options.clock.now() + SESSION_MS };
    trim(this.#sessions, MAX_SESSIONS - 1);
    this.#sessions.set(hashOf(id), session);
    await this.#write();
    return { id, session };
  }

  find(id: string | undefined): Session | undefined {
    if (id === undefined) return undefined;
    const session = this.#sessions.get(hashOf(id));
    return session !== undefined && session.expiresMs > this.#options.clock.now() ? session : undefined;
  }

  async remove(id: string): Promise<void> {
    if (this.#sessions.delete(hashOf(id))) await this.#write();
  }

  /** Serializes writes; the last one contains everything. */
  #write(): Promise<void> {
    const write = async (): Promise<void> => {
      const { file } = this.#options;
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, JSON.stringify(Object.fromEntries(this.#sessions)));
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}

function secret(random: Random): string {
  return Buffer.from(random.bytes(32)).toString("base64url");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function trim(map: Map<string, unknown>, size: number): void {
  for (const key of map.keys()) {
    if (map.size <= size) return;
    map.delete(key);
  }
}
