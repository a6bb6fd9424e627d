import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { EtcdClient, ListedMember, MemberStatus } from "@capstan/etcd";
import type { EtcdPlace, EtcdWays } from "../etcd/etcd-ways.ts";

/** Members of an etcd in memory, one per Node; without a majority of them there is no leader. */
export class FakeWays implements EtcdWays {
  /** Nodes whose member does not answer. */
  readonly dead = new Set<string>();
  /** Nodes that have a member. */
  readonly members: string[] = [];
  /** Whether members that have a majority are about to elect a leader. */
  electing = false;
  /** Whether members of further Nodes start. */
  startsMembers = true;
  readonly snapshots: string[] = [];
  revision = 100;
  /** Revisions of Nodes that lag behind. */
  readonly behind = new Map<string, number>();

  open(_cluster: object, { nodeName }: EtcdPlace): ReturnType<EtcdWays["open"]> {
    if (this.dead.has(nodeName) || (!this.startsMembers && !this.members.includes(nodeName)))
      return Promise.reject(new Error(`etcd on Node ${nodeName} cannot be reached`));
    if (!this.members.includes(nodeName)) this.members.push(nodeName);
    return Promise.resolve({ client: this.#client(nodeName), endpoint: `https://${nodeName}:2379` });
  }

  forget(): void {
    return undefined;
  }

  #client(node: string): EtcdClient {
    const alive = this.members.filter((name) => !this.dead.has(name));
    const leader = alive.length * 2 > this.members.length && !this.electing ? (alive[0] ?? "0") : "0";
    const status: MemberStatus = {
      memberId: node,
      clusterId: "1",
      leader,
      revision: String(this.behind.get(node) ?? this.revision),
      dbSize: 20_480,
      dbSizeInUse: 16_384,
      errors: leader === "0" ? ["etcdserver: no leader"] : [],
    };
    const members: ListedMember[] = this.members.map((name) => ({
      id: name,
      name,
      peerUrls: [`https://${name}:2380`],
      clientUrls: [`https://${name}:2379`],
      isLearner: false,
    }));
    const client: Partial<EtcdClient> = {
      status: () => Promise.resolve(status),
      members: () => Promise.resolve(members),
      snapshot: async (_endpoint, file) => {
        this.snapshots.push(node);
        await writeFile(file, wholeSnapshot(`snapshot of ${node} at ${status.revision}`));
      },
    };
    return client as EtcdClient;
  }
}

/** A text with the hash at its end that etcd appends to a snapshot. */
export function wholeSnapshot(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), createHash("sha256").update(text).digest()]);
}
