import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@capstan/apimachinery";
import { LineSplitter } from "@capstan/runtime";
import { Deadline } from "./deadline.ts";
import { exchange, messageOf, notWithin, parse, textOf } from "./exchange.ts";

const TIMEOUT_MS = 10_000;
/** Defragmenting holds a member for seconds per gigabyte. */
const SLOW_TIMEOUT_MS = 5 * 60_000;
/** A snapshot as a whole: beyond etcd's largest quota, with room for what is not compacted. Pods of another cluster may send anything. */
const SNAPSHOT_MS = 6 * 3600_000;
const MAX_SNAPSHOT = 16 * 1024 ** 3;
const MAX_PART = 16 * 1024 ** 2;

/** Client certificate for etcd, and a user where authentication is enabled. */
export interface EtcdCredentials {
  ca: string;
  cert: string;
  key: string;
  /** The etcd user, where authentication is enabled: etcd's gateway ignores the name in the certificate. */
  user?: { name: string; password: string };
}

/** Calls etcd's JSON gateway: the path below `/v3/`, and the request body. */
export type EtcdCall = (endpoint: string, path: string, body: object, timeoutMs?: number) => Promise<unknown>;

/** Returns a function that calls etcd with these credentials; it fetches a user's token on first use and again when etcd rejects it. */
export function etcdGateway(credentials: EtcdCredentials, clock: Clock, connect?: EtcdConnect): EtcdCall {
  const { user } = credentials;
  let token: Promise<string> | undefined;
  const send = async (url: string, body: object, timeoutMs: number, known?: string): Promise<unknown> => {
    const deadline = new Deadline(clock, timeoutMs, notWithin(timeoutMs));
    try {
      return parse(await textOf(await exchange(new URL(url), body, credentials, connect, deadline.signal, known)));
    } catch (error) {
      throw deadline.reasonOf(error);
    } finally {
      deadline.end();
    }
  };
  const logIn = async (endpoint: string): Promise<string> => {
    const answer = await send(`${endpoint}/v3/auth/authenticate`, user ?? {}, TIMEOUT_MS);
    return (answer as { token?: string }).token ?? "";
  };
  return async (endpoint, path, body, timeoutMs = TIMEOUT_MS) => {
    const url = `${endpoint}/v3/${path}`;
    if (user === undefined) return await send(url, body, timeoutMs);
    for (let attempt = 0; ; attempt++) {
      token ??= logIn(endpoint);
      try {
        return await send(url, body, timeoutMs, await token);
      } catch (error) {
        token = undefined;
        if (attempt > 0 || !String(error).includes("invalid auth token")) throw error;
      }
    }
  };
}

/** A member in etcd's own member list. */
export interface ListedMember {
  /** A 64-bit number, which a JavaScript number cannot hold. */
  id: string;
  /** Empty until it has started for the first time. */
  name: string;
  peerUrls: string[];
  /** Empty until it has started for the first time. */
  clientUrls: string[];
  isLearner: boolean;
}

/** An alarm that a member raised, such as NOSPACE or CORRUPT. */
export interface MemberAlarm {
  memberId: string;
  alarm: string;
}

/** Status of one member, as etcd reports it. */
export interface MemberStatus {
  memberId: string;
  /** Members of one cluster have the same. */
  clusterId: string;
  leader: string;
  revision: string;
  dbSize: number;
  dbSizeInUse: number;
  /** Alarms and other trouble, as etcd reports them, such as `memberID:1 alarm:NOSPACE`. */
  errors: string[];
}

/** Calls etcd's maintenance and membership API through its JSON gateway, without starting a program. */
export interface EtcdClient {
  /** The members as this one knows them; a linearizable list is confirmed by the quorum, and fails without one. */
  members(endpoint: string, options?: { linearizable?: boolean }): Promise<ListedMember[]>;
  alarms(endpoint: string): Promise<MemberAlarm[]>;
  /** The member's metrics in Prometheus' text format. */
  metrics(endpoint: string): Promise<string>;
  addMember(endpoint: string, peerUrl: string, asLearner: boolean): Promise<void>;
  promoteMember(endpoint: string, id: string): Promise<void>;
  removeMember(endpoint: string, id: string): Promise<void>;
  moveLeader(endpoint: string, to: string): Promise<void>;
  status(endpoint: string): Promise<MemberStatus>;
  compact(endpoint: string, revision: string): Promise<void>;
  defragment(endpoint: string): Promise<void>;
  /** Lifts every member's NOSPACE alarm. */
  disarm(endpoint: string): Promise<void>;
  /** Saves a snapshot of a member's data to a file, as etcdctl does; whole or not at all. */
  snapshot(endpoint: string, file: string): Promise<void>;
}

/** Opens a connection to a member's client port by another way than the network; a TLSSocket has finished its handshake. */
export type EtcdConnect = (endpoint: URL, signal: AbortSignal) => Promise<Duplex>;

interface RawMember {
  ID?: string;
  name?: string;
  peerURLs?: string[];
  clientURLs?: string[];
  isLearner?: boolean;
}

/** Creates a client with these credentials. */
export function etcdClient(credentials: EtcdCredentials, clock: Clock, connect?: EtcdConnect): EtcdClient {
  const call = etcdGateway(credentials, clock, connect);
  const alarms = async (endpoint: string): Promise<MemberAlarm[]> => {
    const answer = (await call(endpoint, "maintenance/alarm", { action: "GET", memberID: "0" })) as {
      alarms?: { memberID?: string; alarm?: string }[];
    };
    return (answer.alarms ?? []).map(({ memberID = "", alarm = "NONE" }) => ({ memberId: memberID, alarm }));
  };
  return {
    members: async (endpoint, { linearizable = false } = {}) => {
      const answer = (await call(endpoint, "cluster/member/list", { linearizable })) as { members?: RawMember[] };
      return (answer.members ?? []).map((member) => ({
        id: member.ID ?? "",
        name: member.name ?? "",
        peerUrls: member.peerURLs ?? [],
        clientUrls: member.clientURLs ?? [],
        isLearner: member.isLearner === true,
      }));
    },
    addMember: async (endpoint, peerUrl, asLearner) => {
      await call(endpoint, "cluster/member/add", { peerURLs: [peerUrl], isLearner: asLearner });
    },
    promoteMember: async (endpoint, id) => {
      await call(endpoint, "cluster/member/promote", { ID: id });
    },
    removeMember: async (endpoint, id) => {
      await call(endpoint, "cluster/member/remove", { ID: id });
    },
    moveLeader: async (endpoint, to) => {
      await call(endpoint, "maintenance/transfer-leadership", { targetID: to });
    },
    status: async (endpoint) => {
      const raw = (await call(endpoint, "maintenance/status", {})) as {
        header?: { member_id?: string; cluster_id?: string; revision?: string };
        leader?: string;
        dbSize?: string;
        dbSizeInUse?: string;
        errors?: string[];
      };
      return {
        memberId: raw.header?.member_id ?? "",
        clusterId: raw.header?.cluster_id ?? "",
        leader: raw.leader ?? "",
        revision: raw.header?.revision ?? "0",
        dbSize: Number(raw.dbSize ?? 0),
        dbSizeInUse: Number(raw.dbSizeInUse ?? 0),
        errors: raw.errors ?? [],
      };
    },
    compact: async (endpoint, revision) => {
      try {
        await call(endpoint, "kv/compaction", { revision, physical: true }, SLOW_TIMEOUT_MS);
      } catch (error) {
        // Another client was faster.
        if (!String(error).includes("has been compacted")) throw error;
      }
    },
    defragment: async (endpoint) => {
      await call(endpoint, "maintenance/defragment", {}, SLOW_TIMEOUT_MS);
    },
    alarms,
    metrics: async (endpoint) => {
      const deadline = new Deadline(clock, TIMEOUT_MS, notWithin(TIMEOUT_MS));
      try {
        const url = new URL(`${endpoint}/metrics`);
        return await textOf(await exchange(url, undefined, credentials, connect, deadline.signal));
      } catch (error) {
        throw deadline.reasonOf(error);
      } finally {
        deadline.end();
      }
    },
    disarm: async (endpoint) => {
      for (const { memberId: memberID, alarm } of await alarms(endpoint))
        if (alarm === "NOSPACE") await call(endpoint, "maintenance/alarm", { action: "DEACTIVATE", memberID, alarm });
    },
    snapshot: async (endpoint, file) => {
      const url = new URL(`${endpoint}/v3/maintenance/snapshot`);
      const deadline = new Deadline(clock, SLOW_TIMEOUT_MS, notWithin(SLOW_TIMEOUT_MS));
      let response: IncomingMessage | undefined;
      try {
        response = await exchange(url, {}, credentials, connect, deadline.signal);
        const began = clock.monotonic();
        // Each part restarts the timer, but the total time is limited.
        await saveParts(response, file, () => {
          if (clock.monotonic() - began > SNAPSHOT_MS) throw notWithin(SNAPSHOT_MS);
          deadline.again();
        });
      } catch (error) {
        throw deadline.reasonOf(error);
      } finally {
        deadline.end();
        response?.destroy();
      }
    },
  };
}

const HASH_BYTES = 32;

/** Writes the parts of a snapshot, which end with the hash of all that came before. */
async function saveParts(response: IncomingMessage, file: string, came: () => void): Promise<void> {
  const out = await open(file, "w", 0o600);
  try {
    const hash = createHash("sha256");
    let end = Buffer.alloc(0);
    const lines = new LineSplitter(MAX_PART);
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      for (const line of lines.push(chunk)) {
        came();
        const { result, error } = parse(line) as { result?: { blob?: unknown }; error?: unknown };
        if (error !== undefined) throw new Error(`etcd: ${messageOf(line)}`);
        const part = Buffer.from(String(result?.blob ?? ""), "base64");
        bytes += part.length;
        if (bytes > MAX_SNAPSHOT) throw new Error(`etcd: the snapshot has more than ${MAX_SNAPSHOT} bytes`);
        await out.writeFile(part);
        const known = Buffer.concat([end, part]);
        end = known.subarray(Math.max(0, known.length - HASH_BYTES));
        hash.update(known.subarray(0, known.length - end.length));
      }
    }
    if (end.length < HASH_BYTES || !hash.digest().equals(end)) throw new Error("etcd: the snapshot is incomplete");
    await out.sync();
  } finally {
    await out.close();
  }
}
