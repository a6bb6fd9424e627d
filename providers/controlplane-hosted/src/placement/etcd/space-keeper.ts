import type { EtcdClient, MemberStatus } from "@capstan/etcd";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { hasAlarm, planSpace, spaceProblem } from "./space.ts";

/** After a failure, and as long as nothing helps, the space is looked at again after this. */
const ASK_AGAIN_MS = 15_000;

interface Trouble {
  reason: string;
  message: string;
}

interface Seen {
  nextCheckMs: number;
  trouble: Trouble | undefined;
  quotaBytes: number | undefined;
}

/** Inputs for one check of etcd's disk space. */
export interface SpaceKeeping {
  owner: string;
  spec: HostedControlPlaneSpec["etcd"];
  client: EtcdClient;
  /** Client addresses of all members. */
  endpoints: readonly string[];
  nowMs: number;
  /** Persistent record of when etcd was last defragmented. */
  record: { lastDefragmentMs?: number };
}

/** Keeps etcd from running out of space: compacts, defragments and disarms alarms, and reports what it cannot fix. */
export class EtcdSpaceKeeper {
  /** What was seen last and when to look again; lost with the manager, found again at once. */
  readonly #seen = new Map<string, Seen>();

  /** What was seen last of a control plane's space. */
  seen(owner: string): Seen | undefined {
    return this.#seen.get(owner);
  }

  forget(owner: string): void {
    this.#seen.delete(owner);
  }

  /** Looks at the space when that is due and does what follows. All members must be there. */
  async keep({ owner, spec, client, endpoints, nowMs, record }: SpaceKeeping): Promise<void> {
    const seen = this.#seen.get(owner);
    const quotaBytes = spec?.quotaBytes;
    // Another quota may be the cure of a trouble, or the beginning of one.
    if (seen !== undefined && nowMs < seen.nextCheckMs && seen.quotaBytes === quotaBytes) return;
    const ask = (): Promise<MemberStatus[]> => Promise.all(endpoints.map((endpoint) => client.status(endpoint)));
    try {
      const statuses = await ask();
      record.lastDefragmentMs ??= nowMs;
      const next = planSpace({ statuses, spec, lastDefragmentMs: record.lastDefragmentMs, nowMs });
      const first = endpoints[0] ?? "";
      if (next.compact) await client.compact(first, statuses[0]?.revision ?? "0");
      if (next.defragment) {
        // One at a time, the leader last: it is the one whose pause all notice.
        const leads = (endpoint: string): number => Number(isLeader(statuses[endpoints.indexOf(endpoint)]));
        for (const endpoint of endpoints.toSorted((a, b) => leads(a) - leads(b))) await client.defragment(endpoint);
        record.lastDefragmentMs = nowMs;
      }
      let trouble = hasAlarm(statuses, "CORRUPT") ? CORRUPT : undefined;
      if (next.compact) {
        trouble = spaceProblem(await ask(), spec) ?? trouble;
        if (trouble === undefined) await client.disarm(first);
      }
      // Every look at a full etcd is a pause: it is defragmented.
      const nextCheckMs = trouble === undefined ? next.nextCheckMs : Math.max(next.nextCheckMs, nowMs + ASK_AGAIN_MS);
      this.#seen.set(owner, { nextCheckMs, trouble, quotaBytes });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const trouble = { reason: "EtcdNotAsked", message: `The space of etcd is not known: ${why}; asked again soon` };
      this.#seen.set(owner, { nextCheckMs: nowMs + ASK_AGAIN_MS, trouble, quotaBytes });
    }
  }
}

function isLeader(status: MemberStatus | undefined): boolean {
  return status !== undefined && status.memberId === status.leader;
}

const CORRUPT: Trouble = {
  reason: "DataCorrupt",
  message: "etcd found that its members disagree about the data (alarm CORRUPT); set spec.etcd.restoreFrom to a backup",
};
