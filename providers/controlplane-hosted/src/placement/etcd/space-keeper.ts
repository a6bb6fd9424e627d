import { hasAlarm, makeSpace, planSpace } from "@capstan/controlplane";
import type { EtcdClient } from "@capstan/etcd";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";

/** The space is checked again after this time if a check failed or nothing helped. */
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
  /** The last observation and when to check again; lost with the manager, and observed again immediately. */
  readonly #seen = new Map<string, Seen>();

  /** The last observation of a control plane's space. */
  seen(owner: string): Seen | undefined {
    return this.#seen.get(owner);
  }

  forget(owner: string): void {
    this.#seen.delete(owner);
  }

  /** Checks the space when that is due and acts on it. All members must be reachable. */
  async keep({ owner, spec, client, endpoints, nowMs, record }: SpaceKeeping): Promise<void> {
    const seen = this.#seen.get(owner);
    const quotaBytes = spec?.quotaBytes;
    // A changed quota may solve a problem, or cause one.
    if (seen !== undefined && nowMs < seen.nextCheckMs && seen.quotaBytes === quotaBytes) return;
    try {
      const members = await Promise.all(
        endpoints.map(async (endpoint) => ({ client, endpoint, status: await client.status(endpoint) })),
      );
      const statuses = members.map(({ status }) => status);
      record.lastDefragmentMs ??= nowMs;
      const next = planSpace({ statuses, settings: spec, lastDefragmentMs: record.lastDefragmentMs, nowMs });
      const full = await makeSpace(members, next, spec, "spec.etcd.quotaBytes");
      if (next.defragment) record.lastDefragmentMs = nowMs;
      const trouble = full ?? (hasAlarm(statuses, "CORRUPT") ? CORRUPT : undefined);
      // Every check of a full etcd defragments it, which is a pause.
      const nextCheckMs = trouble === undefined ? next.nextCheckMs : Math.max(next.nextCheckMs, nowMs + ASK_AGAIN_MS);
      this.#seen.set(owner, { nextCheckMs, trouble, quotaBytes });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const trouble = {
        reason: "EtcdNotAsked",
        message: `The space that etcd uses is unknown: ${why}; it will be checked again`,
      };
      this.#seen.set(owner, { nextCheckMs: nowMs + ASK_AGAIN_MS, trouble, quotaBytes });
    }
  }
}

const CORRUPT: Trouble = {
  reason: "DataCorrupt",
  message: "etcd reports that the data of its members differs (alarm CORRUPT); set spec.etcd.restoreFrom to a backup",
};
