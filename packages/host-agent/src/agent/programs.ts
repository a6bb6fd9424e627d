import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "@capstan/apimachinery";
import { signalProcess, writeFileAtomicSync } from "@capstan/os";
import type { Logger } from "@capstan/runtime";
import { identityOf, isAlive, type ProcessId, processId } from "./work.ts";

/** A program that the agent keeps running on a host without systemd. */
export type ProgramName = "containerd" | "kubelet";

interface Program {
  /** A shell line that becomes the program. */
  line: string;
  /** Files that must exist before it is started. */
  needs: string[];
}

const PROGRAMS: Record<ProgramName, Program> = {
  containerd: { line: "exec containerd", needs: [] },
  kubelet: {
    line: "[ ! -r /etc/default/kubelet ] || . /etc/default/kubelet; . /var/lib/kubelet/kubeadm-flags.env; exec kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS",
    // kubeadm writes the flags last: with them all that the kubelet reads is there.
    needs: ["/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env"],
  },
};

const LOOK_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const STOP_MS = 10_000;
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const CONTAINERD_SOCKET = "/run/containerd/containerd.sock";

/** Returns whether systemd is running on the host. */
export function hasSystemd(): boolean {
  return existsSync("/run/systemd/system");
}

/**
 * Keeps containerd and the kubelet running on a host without systemd. They outlive the agent: the next one finds them through records in
 * the state folder, so that replacing an agent does not disturb pods.
 */
export class Programs {
  readonly #stateDir: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #programs: Record<ProgramName, Program>;
  readonly #wanted: Map<ProgramName, ProcessId | undefined>;
  readonly #pauses = new Map<ProgramName, { until: number; ms: number }>();
  #stopped = false;

  constructor(options: { stateDir: string; clock: Clock; log: Logger; programs?: Record<ProgramName, Program> }) {
    this.#stateDir = options.stateDir;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#programs = options.programs ?? PROGRAMS;
    this.#wanted = new Map(this.#read());
    this.#look();
  }

  /** Stops supervising; the programs keep running. */
  close(): void {
    this.#stopped = true;
  }

  /** Keeps a program running from now on, also after restarts of the agent and the host. */
  want(name: ProgramName): void {
    if (this.#wanted.has(name)) return;
    this.#wanted.set(name, undefined);
    this.#write();
  }

  /** Makes containerd run if the host has none running, and waits until it answers. Returns what went wrong. */
  async ensureRuntime(): Promise<string | undefined> {
    if (this.#wanted.has("containerd") || !existsSync(CONTAINERD_SOCKET)) this.want("containerd");
    const until = this.#clock.monotonic() + MAX_PAUSE_MS;
    while (!existsSync(CONTAINERD_SOCKET)) {
      if (this.#clock.monotonic() > until)
        return `containerd does not start: see ${this.#logFile("containerd")} on the host`;
      await sleep(this.#clock, LOOK_MS);
    }
    return undefined;
  }

  /** Stops a program permanently. */
  async stop(name: ProgramName): Promise<void> {
    const id = this.#wanted.get(name);
    this.#wanted.delete(name);
    this.#write();
    if (id === undefined) return;
    const until = this.#clock.monotonic() + STOP_MS;
    signalProcess(identityOf(id), "SIGTERM");
    while (isAlive(id)) {
      if (this.#clock.monotonic() > until) signalProcess(identityOf(id), "SIGKILL");
      await sleep(this.#clock, LOOK_MS / 5);
    }
  }

  #look(): void {
    if (this.#stopped) return;
    for (const name of this.#wanted.keys()) this.#keepRunning(name);
    this.#clock.after(LOOK_MS, () => this.#look());
  }

  #keepRunning(name: ProgramName): void {
    const id = this.#wanted.get(name);
    if (id !== undefined && isAlive(id)) return;
    const now = this.#clock.monotonic();
    const pause = this.#pauses.get(name);
    if (pause !== undefined && now < pause.until) return;
    if (!this.#programs[name].needs.every((path) => existsSync(path))) return;
    const ms = Math.min(MAX_PAUSE_MS, (pause?.ms ?? LOOK_MS / 2) * 2);
    this.#pauses.set(name, { until: now + ms, ms });
    if (id !== undefined) this.#log.warn(`${name} has exited; restarting it`);
    this.#wanted.set(name, this.#start(name));
    this.#write();
  }

  #start(name: ProgramName): ProcessId | undefined {
    const file = this.#logFile(name);
    if (existsSync(file) && statSync(file).size > MAX_LOG_BYTES) truncateSync(file);
    const output = openSync(file, "a", 0o600);
    const child = spawn("/bin/sh", ["-c", this.#programs[name].line], {
      stdio: ["ignore", output, output],
      detached: true,
    });
    closeSync(output);
    child.on("error", (error) => this.#log.warn(`failed to start ${name}`, { error }));
    child.unref();
    return child.pid === undefined ? undefined : processId(child.pid);
  }

  #logFile(name: ProgramName): string {
    return join(this.#stateDir, `${name}.log`);
  }

  get #file(): string {
    return join(this.#stateDir, "programs.json");
  }

  #read(): [ProgramName, ProcessId | undefined][] {
    try {
      const saved = JSON.parse(readFileSync(this.#file, "utf8")) as Record<string, ProcessId | null>;
      return Object.entries(saved).flatMap(([name, id]) =>
        name === "containerd" || name === "kubelet" ? [[name, id ?? undefined]] : [],
      );
    } catch {
      return [];
    }
  }

  #write(): void {
    mkdirSync(this.#stateDir, { recursive: true, mode: 0o700 });
    const saved = Object.fromEntries([...this.#wanted].map(([name, id]) => [name, id ?? null]));
    writeFileAtomicSync(this.#file, JSON.stringify(saved));
  }
}
