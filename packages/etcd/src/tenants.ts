import type { Clock } from "@capstan/apimachinery";
import { ForeignDocumentError } from "@capstan/apimachinery/foreign";
import { type EtcdCredentials, etcdGateway } from "./client.ts";

/** Clearing or writing much takes longer than a question. */
const SLOW_TIMEOUT_MS = 60_000;
/** Pages grow and shrink towards this, so that no answer holds up the process. */
const PAGE_BYTES = 1024 ** 2;
const FIRST_PAGE_KEYS = 20;
const MOST_KEYS = 1000;
/** etcd's own limits of a transaction are 128 operations and 1.5 MiB. */
const BATCH_KEYS = 100;
const BATCH_BYTES = 512 * 1024;

/** One key below a prefix with its value, both in base64. */
export interface EtcdEntry {
  /** Without the prefix. */
  key: string;
  value: string;
}

/** The owner of the data below a prefix, a user that etcd identifies by the common name of its certificate. */
export interface EtcdTenant {
  user: string;
  /** With a slash at its end: `/a/b` would also cover `/a/bc`. */
  prefix: string;
}

/** Administers an etcd that several tenants share. All calls are safe to repeat. */
export interface EtcdTenants {
  /** Enables authentication, with the administrator's password. */
  secure(): Promise<void>;
  /** Grants a tenant access to its own prefix, read-only unless `writable`. */
  admit(tenant: EtcdTenant, writable: boolean): Promise<void>;
  /** Removes a tenant and all its data. */
  expel(tenant: EtcdTenant): Promise<void>;
  /** How much all data takes, history included. */
  bytesInUse(): Promise<number>;
  /** Everything below a prefix as it was at one moment, page by page; keys with a lease (events) are left out. */
  read(prefix: string): AsyncIterable<EtcdEntry[]>;
  /** Bytes of keys and values below a prefix. */
  measure(prefix: string): Promise<number>;
  clear(prefix: string): Promise<void>;
  write(prefix: string, entries: readonly EtcdEntry[]): Promise<void>;
}

interface RawRange {
  header?: { revision?: string };
  kvs?: { key?: string; value?: string; lease?: string }[];
  more?: boolean;
}

/** Creates the administrator's client over etcd's JSON gateway. */
export function etcdTenants(
  endpoint: string,
  credentials: EtcdCredentials & { user: { name: string; password: string } },
  clock: Clock,
): EtcdTenants {
  const asRoot = etcdGateway(credentials, clock);
  const call = (path: string, body: object, timeoutMs?: number): Promise<unknown> =>
    asRoot(endpoint, path, body, timeoutMs);

  async function* pages(prefix: string): AsyncGenerator<NonNullable<RawRange["kvs"]>> {
    let from = Buffer.from(prefix);
    let limit = FIRST_PAGE_KEYS;
    let revision = "0";
    for (;;) {
      const question = { key: from.toString("base64"), range_end: endOf(prefix), limit: String(limit), revision };
      let answer: RawRange;
      try {
        answer = (await call("kv/range", question)) as RawRange;
      } catch (error) {
        // Large values after small ones: a page may exceed the limit of a response.
        if (!(error instanceof ForeignDocumentError) || limit === 1) throw error;
        limit = Math.max(1, Math.floor(limit / 8));
        continue;
      }
      const { header, kvs = [], more } = answer;
      yield kvs;
      const last = kvs.at(-1)?.key;
      if (more !== true || last === undefined) return;
      // All pages show the same moment.
      if (revision === "0") revision = header?.revision ?? "0";
      from = Buffer.concat([Buffer.from(last, "base64"), Buffer.from([0])]);
      const bytes = kvs.reduce((sum, { value = "" }) => sum + value.length, 0) + 1;
      limit = Math.min(MOST_KEYS, limit * 4, Math.max(1, Math.floor((limit * PAGE_BYTES) / bytes)));
    }
  }

  return {
    secure: async () => {
      const enabled = await call("auth/status", {}).then(
        (status) => (status as { enabled?: boolean }).enabled === true,
        (error: unknown) => {
          if (String(error).includes("not enabled")) return false;
          throw error;
        },
      );
      if (enabled) return;
      const { user, ...keys } = credentials;
      const asAnybody = etcdGateway(keys, clock);
      await unless("already exists", asAnybody(endpoint, "auth/user/add", user));
      await asAnybody(endpoint, "auth/user/grant", { user: user.name, role: "root" });
      await asAnybody(endpoint, "auth/enable", {});
    },
    admit: async ({ user, prefix }, writable) => {
      await unless("already exists", call("auth/role/add", { name: user }));
      const key = Buffer.from(prefix).toString("base64");
      const permType = writable ? "READWRITE" : "READ";
      await call("auth/role/grant", { name: user, perm: { permType, key, range_end: endOf(prefix) } });
      await unless("already exists", call("auth/user/add", { name: user, options: { no_password: true } }));
      await call("auth/user/grant", { user, role: user });
    },
    expel: async ({ user, prefix }) => {
      await unless("not found", call("auth/user/delete", { name: user }));
      await unless("not found", call("auth/role/delete", { role: user }));
      await clear(prefix);
    },
    bytesInUse: async () =>
      Number(((await call("maintenance/status", {})) as { dbSizeInUse?: string }).dbSizeInUse ?? 0),
    read: async function* (prefix) {
      const skipped = Buffer.byteLength(prefix);
      for await (const kvs of pages(prefix))
        yield kvs.flatMap(({ key = "", value = "", lease }) =>
          lease === undefined || lease === "0"
            ? [{ key: Buffer.from(key, "base64").subarray(skipped).toString("base64"), value }]
            : [],
        );
    },
    measure: async (prefix) => {
      let bytes = 0;
      for await (const kvs of pages(prefix))
        for (const { key = "", value = "" } of kvs)
          bytes += Buffer.byteLength(key, "base64") + Buffer.byteLength(value, "base64");
      return bytes;
    },
    clear,
    write: async (prefix, entries) => {
      for (const batch of batches(entries)) {
        const success = batch.map(({ key, value }) => ({
          request_put: {
            key: Buffer.concat([Buffer.from(prefix), Buffer.from(key, "base64")]).toString("base64"),
            value,
          },
        }));
        await call("kv/txn", { success }, SLOW_TIMEOUT_MS);
      }
    },
  };

  async function clear(prefix: string): Promise<void> {
    const range = { key: Buffer.from(prefix).toString("base64"), range_end: endOf(prefix) };
    await call("kv/deleterange", range, SLOW_TIMEOUT_MS);
  }
}

/** The first key behind all that begin with a prefix that ends with a slash, in base64. */
function endOf(prefix: string): string {
  return Buffer.from(`${prefix.slice(0, -1)}0`).toString("base64");
}

async function unless(tolerated: string, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!String(error).includes(tolerated)) throw error;
  }
}

function* batches(entries: readonly EtcdEntry[]): Generator<EtcdEntry[]> {
  let batch: EtcdEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.key.length + entry.value.length;
    if (batch.length > 0 && (batch.length === BATCH_KEYS || bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
