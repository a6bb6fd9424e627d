import { type Clock, formatTime, type Unstructured } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { ByoHost } from "@capstan/host-agent";

const HOSTS = { group: ByoHost.group, plural: ByoHost.plural };
const NODES = { group: "", plural: "nodes" };
const HEARTBEAT_MS = 60_000;
const BOOTSTRAP_MS = 5_000;
const RELEASE_MS = 3_000;

/** How a host differs from an ordinary one. */
export interface Peculiarity {
  hostname?: string;
  machineID?: string;
  kubeletVersion?: string;
  /** Its clock is this much ahead. */
  skewMs?: number;
  certificateExpiresAt?: string;
  /** What its bootstrap data says when it fails. */
  fails?: string;
  /** Why the agent says that the host cannot be used. */
  unfit?: { reason: string; message: string };
}

/** Agents of hosts as the API sees them: they write status alone, run one machine at a time, and may fall silent. */
export class FakeAgents {
  /** There is no Machine whose controller would remove the Node of a host that is cleaned. */
  keepsNodes = false;
  /** What runs on the hosts, whatever the API says: host to machine UID. */
  readonly running = new Map<string, string>();
  readonly #server: ApiServer;
  readonly #workload: ApiServer;
  readonly #clock: Clock;
  readonly #names = new Set<string>();
  readonly #silent = new Set<string>();
  readonly #busy = new Set<string>();
  readonly #peculiar = new Map<string, Peculiarity>();
  readonly #stop: () => void;
  #cancelBeat: () => void = () => undefined;

  constructor(server: ApiServer, workload: ApiServer, clock: Clock) {
    this.#server = server;
    this.#workload = workload;
    this.#clock = clock;
    this.#stop = server.internal.watch(HOSTS, ({ name }) => this.#look(name));
    this.#beatLater();
  }

  close(): void {
    this.#stop();
    this.#cancelBeat();
  }

  /** A new host whose agent has reported. */
  async enrol(
    name: string,
    labels: Record<string, string> = {},
    annotations: Record<string, string> = {},
  ): Promise<void> {
    const { apiVersion, kind } = ByoHost;
    const metadata = { namespace: "default", name, labels, annotations };
    await this.#server.internal.create(HOSTS, { apiVersion, kind, metadata, spec: {} }, "test");
    this.#names.add(name);
    await this.#report(name, {});
  }

  /** Makes a host peculiar, or ordinary again. */
  async make(name: string, peculiarity: Peculiarity): Promise<void> {
    this.#peculiar.set(name, peculiarity);
    await this.#report(name, {});
  }

  /** The host loses its power: what runs on it is there again when it returns. */
  silence(name: string): void {
    this.#silent.add(name);
  }

  async wake(name: string): Promise<void> {
    this.#silent.delete(name);
    await this.#report(name, {});
    this.#look(name);
  }

  host(name: string): ByoHost | undefined {
    return this.#server.internal.get(HOSTS, "default", name) as ByoHost | undefined;
  }

  hosts(): ByoHost[] {
    return this.#server.internal.list(HOSTS, "default") as unknown as ByoHost[];
  }

  #beatLater(): void {
    this.#cancelBeat = this.#clock.after(HEARTBEAT_MS, () => {
      for (const name of this.#names) if (!this.#silent.has(name)) void this.#report(name, {});
      this.#beatLater();
    });
  }

  #look(name: string): void {
    const task = this.#silent.has(name) || this.#busy.has(name) ? undefined : this.#task(name);
    if (task === undefined) return;
    this.#busy.add(name);
    this.#clock.after(task.ms, () => {
      void task.run().then(() => {
        this.#busy.delete(name);
        this.#look(name);
      });
    });
  }

  #task(name: string): { ms: number; run(): Promise<void> } | undefined {
    const { spec, status } = this.host(name) ?? {};
    const { release, machineRef } = spec ?? {};
    if (release !== undefined) {
      const { machineUID } = release;
      if (status?.release?.machineUID === machineUID && status.release.phase === "Released") return undefined;
      return { ms: RELEASE_MS, run: () => this.#clean(name, machineUID) };
    }
    if (machineRef === undefined || spec?.bootstrapSecret === undefined) return undefined;
    if (status?.bootstrap?.machineUID === machineRef.uid) return undefined;
    return { ms: BOOTSTRAP_MS, run: () => this.#bootstrap(name, machineRef.uid) };
  }

  async #bootstrap(name: string, machineUID: string): Promise<void> {
    if (this.#silent.has(name) || this.host(name)?.spec?.machineRef?.uid !== machineUID) return;
    const before = this.running.get(name);
    if (before !== undefined && before !== machineUID)
      throw new Error(`${name} is given to ${machineUID} while it runs ${before}`);
    const { fails: message, hostname = name } = this.#peculiar.get(name) ?? {};
    if (message !== undefined) return await this.#report(name, { bootstrap: { machineUID, phase: "Failed", message } });
    this.running.set(name, machineUID);
    const node = hostname.toLowerCase();
    if (this.#workload.internal.get(NODES, "", node) === undefined)
      await this.#workload.internal.create(
        NODES,
        { apiVersion: "v1", kind: "Node", metadata: { name: node } },
        "kubelet",
      );
    await this.#report(name, { bootstrap: { machineUID, phase: "Succeeded" } });
  }

  async #clean(name: string, machineUID: string): Promise<void> {
    if (this.#silent.has(name)) return;
    this.running.delete(name);
    // As the Machine controller does when its Machine goes.
    if (!this.keepsNodes) await this.#workload.internal.delete(NODES, "", name).catch(() => undefined);
    await this.#report(name, { release: { machineUID, phase: "Released" } });
  }

  async #report(name: string, progress: object): Promise<void> {
    const { skewMs = 0, certificateExpiresAt, kubeletVersion, ...peculiar } = this.#peculiar.get(name) ?? {};
    const now = formatTime(this.#clock.now() + skewMs);
    const change = (host: Unstructured): void => {
      const fit = { status: "True", reason: "AgentRunning", message: "" };
      const unfit = peculiar.unfit === undefined ? fit : { status: "False", ...peculiar.unfit };
      const ready = { type: "Ready", ...unfit, lastTransitionTime: now };
      const network = [{ networkInterfaceName: "eth0", isDefault: true, ipAddrs: ["192.0.2.7/24"] }];
      const facts = {
        hostinfo: { hostname: peculiar.hostname ?? name, kubeletVersion },
        network,
        machineID: peculiar.machineID ?? `id-of-${name}`,
        lastHeartbeatTime: now,
        certificateExpiresAt,
      };
      const before = host["status"] as ByoHost["status"];
      // The manager's own conditions are not an agent's to change.
      const others = before?.conditions?.filter(({ type }) => type !== "Ready") ?? [
        // As a manager has found it before.
        { type: "AgentConnected", status: "True", reason: "HeartbeatsArrive", message: "", lastTransitionTime: now },
      ];
      host["status"] = { ...before, ...facts, conditions: [ready, ...others], ...progress };
    };
    await this.#server.internal.update(HOSTS, "default", name, "agent", change, "status");
  }
}
