import { request } from "node:https";

const TIMEOUT_MS = 10_000;
/** Defragmenting holds a member for seconds per gigabyte. */
const SLOW_TIMEOUT_MS = 5 * 60_000;

/** The keys a client of etcd is let in with. */
export interface EtcdCredentials {
  ca: string;
  cert: string;
  key: string;
}

/** One member as etcd itself lists it. */
export interface ListedMember {
  /** A 64-bit number, which a JavaScript number cannot hold. */
  id: string;
  /** Empty until it has started for the first time. */
  name: string;
  peerUrls: string[];
  isLearner: boolean;
}

/** How one member is. */
export interface MemberStatus {
  memberId: string;
  leader: string;
  revision: string;
  dbSize: number;
  dbSizeInUse: number;
  /** Alarms and other trouble, in etcd's words, such as `memberID:1 alarm:NOSPACE`. */
  errors: string[];
}

/** etcd's maintenance and membership calls over its JSON gateway: no program is started for them. */
export interface EtcdClient {
  members(endpoint: string): Promise<ListedMember[]>;
  addMember(endpoint: string, peerUrl: string, asLearner: boolean): Promise<void>;
  promoteMember(endpoint: string, id: string): Promise<void>;
  removeMember(endpoint: string, id: string): Promise<void>;
  moveLeader(endpoint: string, to: string): Promise<void>;
  status(endpoint: string): Promise<MemberStatus>;
  compact(endpoint: string, revision: string): Promise<void>;
  defragment(endpoint: string): Promise<void>;
  /** Lifts every member's NOSPACE alarm. */
  disarm(endpoint: string): Promise<void>;
}

interface RawMember {
  ID?: string;
  name?: string;
  peerURLs?: string[];
  isLearner?: boolean;
}

/** A client that shows these keys. */
export function etcdClient(credentials: EtcdCredentials): EtcdClient {
  const call = (endpoint: string, path: string, body: object, timeoutMs = TIMEOUT_MS): Promise<unknown> =>
    post(`${endpoint}/v3/${path}`, body, credentials, timeoutMs);
  return {
    members: async (endpoint) => {
      const { members = [] } = (await call(endpoint, "cluster/member/list", {})) as { members?: RawMember[] };
      return members.map((member) => ({
        id: member.ID ?? "",
        name: member.name ?? "",
        peerUrls: member.peerURLs ?? [],
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
        header?: { member_id?: string; revision?: string };
        leader?: string;
        dbSize?: string;
        dbSizeInUse?: string;
        errors?: string[];
      };
      return {
        memberId: raw.header?.member_id ?? "",
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
        // Somebody was faster.
        if (!String(error).includes("has been compacted")) throw error;
      }
    },
    defragment: async (endpoint) => {
      await call(endpoint, "maintenance/defragment", {}, SLOW_TIMEOUT_MS);
    },
    disarm: async (endpoint) => {
      const { alarms = [] } = (await call(endpoint, "maintenance/alarm", { action: "GET", memberID: "0" })) as {
        alarms?: { memberID?: string; alarm?: string }[];
      };
      for (const { memberID, alarm } of alarms)
        if (alarm === "NOSPACE") await call(endpoint, "maintenance/alarm", { action: "DEACTIVATE", memberID, alarm });
    },
  };
}

function post(url: string, body: object, credentials: EtcdCredentials, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent: false, timeout: timeoutMs, ...credentials };
    const call = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) resolve(parse(text));
        else reject(new Error(`etcd: ${messageOf(text)}`));
      });
    });
    call.on("timeout", () => call.destroy(new Error(`etcd did not answer within ${timeoutMs / 1000} s`)));
    call.on("error", reject);
    call.end(JSON.stringify(body));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function messageOf(text: string): string {
  const { message, error } = parse(text) as { message?: string; error?: string };
  return message ?? error ?? text.slice(0, 200);
}
