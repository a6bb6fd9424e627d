import type { EtcdGround, Trouble, Waiting } from "./ground.ts";
import { recordEtcdEvent } from "./record.ts";

/** Completes the rollback of a change that failed or is no longer requested, with the data as it was before. A crash repeats it. */
export async function rollBack(ground: EtcdGround): Promise<Waiting | undefined> {
  const { etcdChange: change, etcdServes: serves } = ground.record;
  if (change?.stage !== "back" || serves === undefined) return undefined;
  const data = await ground.putBack(change, serves);
  if (data.type === "restore" && change.restores !== true) {
    recordEtcdEvent(ground.record, { type: "restoreStarted" });
    await ground.save();
  }
  if (data.type !== "done") return data.waiting;
  const { failure } = change;
  const isRefused = failure !== undefined && !ground.refuseUpgrade(change.to, failure, serves);
  recordEtcdEvent(ground.record, { type: "rolledBack", ...(isRefused ? { refused: failure } : {}) });
  return undefined;
}

/** Starts the rollback of a change that failed. */
export async function giveUp(ground: EtcdGround, why: string, atMs: number): Promise<Waiting> {
  recordEtcdEvent(ground.record, { type: "failed", why, atMs });
  await ground.save();
  const waits = await rollBack(ground);
  await ground.save();
  return waits ?? { pending: refusal(why) };
}

/** Ends a change before the new etcd has run with the data, because another one is requested. */
export async function withdraw(ground: EtcdGround): Promise<void> {
  await ground.endTrial();
  recordEtcdEvent(ground.record, { type: "withdrawn" });
  await ground.save();
  await rollBack(ground);
}

/** Returns what is reported of an etcd that failed and is not tried again. */
export function refusal(message: string): Trouble {
  return {
    reason: "ConfigurationRefused",
    message: `etcd does not become ready: ${message}; the previous etcd keeps serving. Correct spec.etcd`,
  };
}
