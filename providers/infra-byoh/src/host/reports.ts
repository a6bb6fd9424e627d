import { findCondition, formatDuration } from "@capstan/apimachinery";
import { type ConditionInput, pausedCondition, withTransitionTimes } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { type ReconcileContext, type Result, requeueAfter } from "@capstan/runtime";
import { SILENT_AFTER_MS, SKEW_MS } from "../machine/choose-host.ts";
import type { Hosts } from "../machine/hosts.ts";
import { clusterOf } from "./pause.ts";

/** Writes conditions that an agent cannot report about itself, such as AgentConnected, and records events for problems. */
export class HostReports {
  readonly #hosts: Hosts;
  readonly #skews = new Map<string, number>();
  /** The last event of each host, so that it is recorded once. */
  readonly #told = new Map<string, string>();

  constructor(hosts: Hosts) {
    this.#hosts = hosts;
  }

  /** Removes what is kept in memory of a deleted host. */
  forget(uid: string): void {
    this.#skews.delete(uid);
    this.#told.delete(uid);
  }

  /** Checks a host; returns when to check again for silence. */
  async look(host: ByoHost, context: ReconcileContext): Promise<Result> {
    const { uid = "" } = host.metadata;
    const skew = this.#hosts.observe(host, context.clock.now());
    if (skew !== undefined) this.#skews.set(uid, skew);
    await this.#hosts.recordMachineID(host, context.clock.now(), context.signal);
    await this.#write(host, this.#conditions(host, context), context);
    this.#recordEvents(host, context);
    return requeueAfter(SILENT_AFTER_MS / 3);
  }

  #conditions(host: ByoHost, context: ReconcileContext): ConditionInput[] {
    const { name, uid = "" } = host.metadata;
    const now = context.clock.now();
    const last = host.status?.lastHeartbeatTime;
    const yes = (type: string, reason: string): ConditionInput => ({ type, status: "True", reason, message: "" });
    const no = (type: string, reason: string, message: string): ConditionInput => ({
      type,
      status: "False",
      reason,
      message,
    });
    const all: ConditionInput[] = [];
    if (last === undefined)
      all.push(
        no(
          "AgentConnected",
          "WaitingForAgent",
          `no agent has enrolled: run the command that capstan host add ${name} prints on the host`,
        ),
      );
    else if (this.#hosts.isSilent(host, now)) {
      const ends = host.status?.certificateExpiresAt;
      const expired = ends !== undefined && Date.parse(ends) < now;
      all.push(
        no(
          "AgentConnected",
          expired ? "CertificateExpired" : "HeartbeatTimeout",
          expired
            ? `the agent's certificate expired at ${ends} and it has not reported since: run the command that capstan host add ${name} prints on the host`
            : "the agent has stopped reporting: check that the host is powered on and reaches the management API, and that its agent is running (journalctl -u capstan-host-agent)",
        ),
      );
    } else all.push(yes("AgentConnected", "HeartbeatsArrive"));
    const skew = this.#skews.get(uid);
    if (skew !== undefined && Math.abs(skew) > SKEW_MS)
      all.push(
        no(
          "ClockInSync",
          "ClockSkew",
          // Rounded, or it would be another message with each heartbeat.
          `the host's clock is ${formatDuration(Math.max(60_000, Math.round(Math.abs(skew) / 60_000) * 60_000))} ${skew > 0 ? "behind" : "ahead"}: certificates and tokens fail because of this; set up NTP on the host`,
        ),
      );
    else if (findCondition(host.status?.conditions ?? [], "ClockInSync") !== undefined)
      all.push(skew === undefined ? keptCondition(host, "ClockInSync") : yes("ClockInSync", "InSync"));
    const twin = this.#hosts.twinOf(host);
    if (twin !== undefined)
      all.push(
        no(
          "MachineIDUnique",
          "ClonedMachineID",
          `host ${twin.metadata.name} had this machine-id before, and Nodes are distinguished by it, so no machine can claim this host: run rm /etc/machine-id && systemd-machine-id-setup on it and restart it; if both are the same computer, remove the other one with capstan host remove ${twin.metadata.name}`,
        ),
      );
    else if (findCondition(host.status?.conditions ?? [], "MachineIDUnique") !== undefined)
      all.push(yes("MachineIDUnique", "Unique"));
    const paused = pausedCondition(host, clusterOf(host, context));
    if (paused.status === "True" || findCondition(host.status?.conditions ?? [], "Paused") !== undefined)
      all.push(paused);
    return all;
  }

  /** Written only when something changed: another manager of the same list is the agent. */
  async #write(host: ByoHost, conditions: readonly ConditionInput[], context: ReconcileContext): Promise<void> {
    const before = host.status?.conditions ?? [];
    const changed = conditions.filter((condition) => {
      const old = findCondition(before, condition.type);
      return old?.status !== condition.status || old.reason !== condition.reason || old.message !== condition.message;
    });
    if (changed.length === 0) return;
    for (const { type, status, reason, message } of changed)
      if (type === "Paused") continue;
      else if (status === "False" && reason !== "WaitingForAgent")
        context.recorder.event(host, "Warning", reason, "Observe", message);
      else if (findCondition(before, type)?.status === "False")
        context.recorder.event(host, "Normal", reason, "Observe", `${type} again`);
    const { namespace, name, generation } = host.metadata;
    const status = { conditions: withTransitionTimes(conditions, before, context.clock.now(), generation) };
    const desired = { apiVersion: ByoHost.apiVersion, kind: ByoHost.kind, metadata: { namespace, name }, status };
    await context.client
      .withFieldManager("capstan-byoh-health")
      .apply(desired as ByoHost, { subresource: "status" }, context.signal);
  }

  /** An agent may not create events, so the manager records them for it. */
  #recordEvents(host: ByoHost, context: ReconcileContext): void {
    const { uid = "", name } = host.metadata;
    const said = eventOf(host);
    const text = JSON.stringify(said ?? "");
    const before = this.#told.get(uid);
    if (before === text) return;
    this.#told.set(uid, text);
    // Successes from before this manager started are not recorded again.
    if (said === undefined || (before === undefined && said.type === "Normal")) return;
    context.recorder.event(
      host,
      said.type,
      said.reason,
      said.action,
      `${said.note}${said.type === "Warning" ? `; its log: capstan host logs ${name}` : ""}`,
    );
  }
}

function keptCondition(host: ByoHost, type: string): ConditionInput {
  const {
    status = "Unknown",
    reason = "Unknown",
    message = "",
  } = findCondition(host.status?.conditions ?? [], type) ?? {};
  return { type, status, reason, message };
}

interface Told {
  type: "Normal" | "Warning";
  reason: string;
  action: string;
  note: string;
}

function eventOf({ spec, status }: ByoHost): Told | undefined {
  const { bootstrap, release } = status ?? {};
  if (spec?.release !== undefined && release?.machineUID === spec.release.machineUID) {
    if (release.phase === "Failed") return warning("ResetK8sNodeFailed", "Reset", release.message);
    if (release.phase === "Released") return normal("ResetK8sNodeSucceeded", "Reset", "the host is clean");
  }
  if (spec?.machineRef !== undefined && bootstrap?.machineUID === spec.machineRef.uid) {
    if (bootstrap.phase === "Failed") return warning("BootstrapK8sNodeFailed", "Bootstrap", bootstrap.message);
    if (bootstrap.phase === "Succeeded") return normal("BootstrapK8sNodeSucceeded", "Bootstrap", spec.machineRef.name);
  }
  const ready = findCondition(status?.conditions ?? [], "Ready");
  return ready?.status === "False" && !["Paused", "Cleaning"].includes(ready.reason)
    ? warning(ready.reason, "Check", ready.message)
    : undefined;
}

const warning = (reason: string, action: string, note = ""): Told => ({ type: "Warning", reason, action, note });
const normal = (reason: string, action: string, note: string): Told => ({ type: "Normal", reason, action, note });
