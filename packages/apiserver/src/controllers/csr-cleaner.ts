import { isReason, type Unstructured } from "@capstan/apimachinery";
import { parseCertificate } from "@capstan/pki";
import type { InternalApi, ResourceKey } from "../types.ts";
import { Deadlines } from "./deadlines.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { WorkList } from "./work-list.ts";

const REQUESTS: ResourceKey = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };
const HOUR = 3_600_000;
/** An issued, denied or failed request has served its purpose after this. */
const SETTLED_MS = HOUR;
/** Pending, or approved but not issued. */
const PENDING_MS = 24 * HOUR;

/** Deletes certificate signing requests that are settled or stale, after the times upstream uses. */
export function startCsrCleaner(api: InternalApi, deps: ControllerDeps): Controller {
  const work = new WorkList(
    deps.clock,
    (name) => deleteOld(api, deps, name),
    (name, error) => deps.log(`failed to delete the expired certificate signing request ${name}; retrying`, error),
  );
  const deadlines = new Deadlines(deps.clock, (name) => work.add(name));
  const unsubscribe = api.watch(REQUESTS, ({ name, object }) => {
    deadlines.set(name, object === undefined ? undefined : dueAt(object));
  });
  return {
    stop: () => {
      unsubscribe();
      deadlines.stop();
      work.stop();
    },
    idle: () => work.idle(),
  };
}

async function deleteOld(api: InternalApi, deps: ControllerDeps, name: string): Promise<void> {
  const request = api.get(REQUESTS, "", name);
  if (request === undefined || dueAt(request) > deps.clock.now()) return;
  const { uid } = request.metadata;
  try {
    await api.delete(REQUESTS, "", name, uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (!isReason(error, "NotFound", "Conflict")) throw error;
  }
}

interface RequestStatus {
  certificate?: string;
  conditions?: { type: string; lastUpdateTime?: string }[];
}

/** When a request may go. */
function dueAt(request: Unstructured): number {
  const status = request["status"] as RequestStatus | undefined;
  const conditions = status?.conditions ?? [];
  const created = timeOf(request.metadata.creationTimestamp);
  if (conditions.length === 0) return created + PENDING_MS;
  const certificate = status?.certificate;
  const times = conditions.map(({ type, lastUpdateTime }) => {
    const since = lastUpdateTime === undefined ? created : timeOf(lastUpdateTime);
    if (type !== "Approved") return since + SETTLED_MS;
    if (certificate === undefined || certificate === "") return since + PENDING_MS;
    return Math.min(since + SETTLED_MS, endOf(certificate));
  });
  return Math.min(...times);
}

/** When the certificate expires; an unreadable one does not advance the deletion. */
function endOf(certificate: string): number {
  try {
    return parseCertificate(Buffer.from(certificate, "base64").toString()).notAfterMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function timeOf(text: string | undefined): number {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? 0 : at;
}
