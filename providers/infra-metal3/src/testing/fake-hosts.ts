import { type Clock, formatTime, isReason, type Unstructured } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { BareMetalHost, HOST_PAUSED_ANNOTATION } from "../kinds/bare-metal-host.ts";
import { NODE_UUID_LABEL } from "../machine/names.ts";

const HOSTS = { group: BareMetalHost.group, plural: BareMetalHost.plural };
const NODES = { group: "", plural: "nodes" };
const PROVISION_MS = 5_000;
const DEPROVISION_MS = 3_000;

/** Hosts managed by another operator: they run what their spec says after a while, and become Nodes. */
export class FakeHosts {
  /** What runs on the hosts, whatever the API says: host to machine. */
  readonly running = new Map<string, string>();
  /** Hosts whose provisioning fails, with what their controller says. */
  readonly broken = new Map<string, string>();
  readonly #server: ApiServer;
  readonly #workload: ApiServer;
  readonly #clock: Clock;
  readonly #busy = new Set<string>();
  readonly #stop: () => void;

  constructor(server: ApiServer, workload: ApiServer, clock: Clock) {
    this.#server = server;
    this.#workload = workload;
    this.#clock = clock;
    this.#stop = server.internal.watch(HOSTS, ({ name }) => this.#look(name));
  }

  close(): void {
    this.#stop();
  }

  /** A host that is registered and inspected. */
  async add(name: string, labels: Record<string, string> = {}, spec: object = {}): Promise<void> {
    const { apiVersion, kind } = BareMetalHost;
    const metadata = { namespace: "default", name, labels };
    await this.#server.internal.create(HOSTS, { apiVersion, kind, metadata, spec: { online: false, ...spec } }, "test");
    await this.#report(name, "available", {
      hardware: { hostname: name, nics: [{ name: "eth0", mac: "00:11:22:33:44:55", ip: "192.0.2.7" }] },
    });
  }

  host(name: string): BareMetalHost | undefined {
    return this.#server.internal.get(HOSTS, "default", name) as BareMetalHost | undefined;
  }

  hosts(): BareMetalHost[] {
    return this.#server.internal.list(HOSTS, "default") as unknown as BareMetalHost[];
  }

  #look(name: string): void {
    const task = this.#busy.has(name) ? undefined : this.#task(name);
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
    const host = this.host(name);
    if (host === undefined || host.metadata.annotations?.[HOST_PAUSED_ANNOTATION] !== undefined) return undefined;
    const state = host.status?.provisioning.state;
    const hasImage = host.spec.image !== undefined;
    if (state === "available" && hasImage && host.spec.online)
      return { ms: 100, run: () => this.#report(name, "provisioning") };
    if (state === "provisioning" && hasImage) return { ms: PROVISION_MS, run: () => this.#provision(name) };
    if ((state === "provisioned" || state === "provisioning") && !hasImage)
      return { ms: 100, run: () => this.#report(name, "deprovisioning") };
    if (state === "deprovisioning") return { ms: DEPROVISION_MS, run: () => this.#deprovision(name) };
    return undefined;
  }

  async #provision(name: string): Promise<void> {
    const host = this.host(name);
    if (host?.spec.image === undefined) return;
    const problem = this.broken.get(name);
    if (problem !== undefined) {
      await this.#report(name, "available", { errorType: "provisioning error", errorMessage: problem });
      return;
    }
    this.running.set(name, host.spec.consumerRef?.name ?? "");
    const metadata = { name, labels: { [NODE_UUID_LABEL]: host.metadata.uid ?? "" } };
    if (this.#workload.internal.get(NODES, "", name) === undefined)
      await this.#workload.internal.create(NODES, { apiVersion: "v1", kind: "Node", metadata }, "kubelet");
    await this.#report(name, "provisioned", { poweredOn: true });
  }

  async #deprovision(name: string): Promise<void> {
    this.running.delete(name);
    // As the Machine controller does when its Machine goes.
    await this.#workload.internal.delete(NODES, "", name).catch(() => undefined);
    await this.#report(name, "available", { poweredOn: false });
  }

  async #report(name: string, state: string, facts: object = {}): Promise<void> {
    const change = (host: Unstructured): void => {
      const before = (host["status"] ?? {}) as object;
      const lastUpdated = formatTime(this.#clock.now());
      const healthy = { operationalStatus: "OK", errorMessage: "", errorCount: 0, poweredOn: false };
      host["status"] = { ...healthy, ...before, ...facts, lastUpdated, provisioning: { state, ID: name } };
    };
    try {
      await this.#server.internal.update(HOSTS, "default", name, "hosts", change, "status");
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
  }
}
