import { type Clock, formatTime } from "@capstan/apimachinery";
import { type ConditionInput, PAUSED_ANNOTATION, withTransitionTimes } from "@capstan/capi";
import { parseCertificate } from "@capstan/pki";
import type { Cache, Client } from "@capstan/runtime";
import type { Unfit } from "../execute/checks.ts";
import { ByoHost, type ByoHostStatus } from "../kinds/byo-host.ts";
import { AGENT_VERSION } from "../protocol.ts";

/** How often an agent reports to its ByoHost when nothing else changes. */
export const HEARTBEAT_MS = 60_000;

/** The part of a ByoHost's status that shows an ongoing bootstrap or release. */
export type Progress = Pick<ByoHostStatus, "bootstrap" | "release">;

/** What a Reporter needs to write the status of one ByoHost. */
export interface ReporterOptions {
  namespace: string;
  name: string;
  cache: Cache;
  client: Client;
  clock: Clock;
  facts: () => Promise<Partial<ByoHostStatus>>;
  certPem: () => string;
}

/** Writes the status of the ByoHost, all of which the agent owns except for the manager's conditions. */
export class Reporter {
  readonly #options: ReporterOptions;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Writes a status with this progress, and `unfit` as the reason why the host cannot be used. One at a time, in order. */
  write(progress: Progress = {}, unfit?: Unfit): Promise<void> {
    const written = this.#writing.then(() => this.#write(progress, unfit));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(progress: Progress, unfit: Unfit | undefined): Promise<void> {
    const { namespace, name, cache, client, clock } = this.#options;
    const live = cache.get(ByoHost, { namespace, name });
    if (live === undefined) return;
    const { bootstrap = live.status?.bootstrap, release = live.status?.release } = progress;
    const next: Progress = {
      bootstrap,
      release,
    };
    const now = clock.now();
    const certificateExpiresAt = expiryOf(this.#options.certPem());
    const status: ByoHostStatus = {
      ...(await this.#options.facts()),
      agentVersion: AGENT_VERSION,
      lastHeartbeatTime: beatOf(live, progress, now),
      ...(certificateExpiresAt === undefined ? {} : { certificateExpiresAt }),
      ...next,
      conditions: withTransitionTimes(
        conditionsOf(next, live, unfit),
        live.status?.conditions ?? [],
        now,
        live.metadata.generation,
      ),
    };
    const desired = { apiVersion: ByoHost.apiVersion, kind: ByoHost.kind, metadata: { namespace, name }, status };
    await client.ensure(desired as ByoHost, live, { subresource: "status" });
  }
}

/** Another heartbeat within the minute would only be noise. */
function beatOf(live: ByoHost, progress: Progress, now: number): string {
  const last = live.status?.lastHeartbeatTime;
  const age = now - Date.parse(last ?? "");
  const isDue = !(age >= 0 && age < HEARTBEAT_MS - 5_000) || Object.keys(progress).length > 0;
  return isDue || last === undefined ? formatTime(now) : last;
}

function expiryOf(certPem: string): string | undefined {
  try {
    return formatTime(parseCertificate(certPem).notAfterMs);
  } catch {
    return undefined;
  }
}

function conditionsOf(progress: Progress, host: ByoHost, unfit: Unfit | undefined): ConditionInput[] {
  return [readyCondition(progress, host, unfit), nodeCondition(progress, host)];
}

function readyCondition(progress: Progress, host: ByoHost, unfit: Unfit | undefined): ConditionInput {
  const no = (reason: string, message = ""): ConditionInput => ({ type: "Ready", status: "False", reason, message });
  const { spec } = host;
  if (spec?.release !== undefined && progress.release?.phase === "Failed")
    return no("ReleaseFailed", progress.release.message);
  if (spec?.machineRef !== undefined && progress.bootstrap?.phase === "Failed")
    return no("BootstrapFailed", progress.bootstrap.message);
  if (unfit !== undefined) return no(unfit.reason, unfit.message);
  if (host.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined)
    return no("Paused", `annotation ${PAUSED_ANNOTATION} is set: the agent only reports`);
  return { type: "Ready", status: "True", reason: "AgentRunning", message: "" };
}

/** The condition that tools for the upstream provider expect. */
function nodeCondition(progress: Progress, host: ByoHost): ConditionInput {
  const type = "K8sNodeBootstrapSucceeded";
  const no = (reason: string, message = ""): ConditionInput => ({ type, status: "False", reason, message });
  const claim = host.spec?.machineRef;
  if (claim === undefined)
    return host.spec?.release === undefined
      ? no("WaitingForMachineRefToBeAssigned")
      : no("K8sNodeAbsent", "the host is being cleaned");
  if (progress.bootstrap?.machineUID !== claim.uid) return no("BootstrapDataSecretUnavailable");
  switch (progress.bootstrap.phase) {
    case "Succeeded":
      return { type, status: "True", reason: "Joined", message: "" };
    case "Failed":
      return no("CloudInitExecutionFailed", progress.bootstrap.message);
    default:
      return no("Bootstrapping", progress.bootstrap.steps?.at(-1)?.name);
  }
}
