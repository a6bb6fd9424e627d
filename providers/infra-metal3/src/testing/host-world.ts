import { type KubeObject, seededRandom, type Transport, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { kindAdmissionPlugins, type Secret } from "@capstan/capi";
import { RestartableControllers } from "@capstan/capi/testing";
import { Client, silentLogger } from "@capstan/runtime";
import { bareMetalHosts } from "../host/provide.ts";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { HardwareData } from "../kinds/hardware-data.ts";
import { type MemoryBmcOptions, MemoryBmcs } from "../provisioner/memory/memory-bmcs.ts";
import type { Provisioner } from "../provisioner/provisioner.ts";

const HOSTS = { group: BareMetalHost.group, plural: BareMetalHost.plural };

/** An API, machines in memory and the host controller, all in virtual time. */
export class HostWorld {
  readonly clock = new VirtualClock();
  readonly random = seededRandom(1);
  readonly server: ApiServer;
  readonly client: Client;
  readonly bmcs: MemoryBmcs;
  /** `REASON: note` of every event. */
  readonly events: string[] = [];
  redfish: Provisioner | undefined;
  readonly #controllers: RestartableControllers;

  private constructor(server: ApiServer, clock: VirtualClock, connect: MemoryBmcOptions["connect"]) {
    this.server = server;
    this.clock = clock;
    this.client = new Client(server.admin(), { fieldManager: "test", clock });
    this.#controllers = new RestartableControllers(clock, this.random);
    this.bmcs = new MemoryBmcs({ clock, random: this.random, log: silentLogger, seed: 1, connect });
  }

  static async start(connect?: MemoryBmcOptions["connect"], clock = new VirtualClock()): Promise<HostWorld> {
    const random = seededRandom(7);
    const kinds = [BareMetalHost, HardwareData];
    const server = await createApiServer({
      store: memoryStore(),
      clock,
      random,
      admission: kindAdmissionPlugins(kinds),
    });
    await server.registerCrds(kinds.map((kind) => kind.crd()));
    const nobody = (): Transport => {
      throw new Error("connect ECONNREFUSED");
    };
    return new HostWorld(server, clock, connect ?? nobody);
  }

  /** A controller without memory; the previous one stopped in the middle of its work. */
  async startController(line: (inner: Transport) => Transport = (inner) => inner): Promise<void> {
    const { clock, random } = this;
    const drivers = { memory: this.bmcs, redfish: this.redfish };
    const hosts = bareMetalHosts({ clock, random, drivers });
    const event = (_object: KubeObject, _type: string, reason: string, _action: string, note: string): void => {
      this.events.push(`${reason}: ${note}`);
    };
    await this.#controllers.start(
      line(this.server.admin()),
      "metal3",
      (cache) => {
        hosts.addIndexes(cache);
        return hosts.controllers();
      },
      { event },
    );
  }

  async stopController(): Promise<void> {
    await this.#controllers.stop();
  }

  async close(): Promise<void> {
    await this.stopController();
    await this.server.close();
  }

  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) await this.clock.advance(1000);
  }

  /** Passes time until something holds, at most `seconds`. */
  async until(what: string, holds: () => boolean, seconds = 600): Promise<void> {
    for (let passed = 0; !holds(); passed++) {
      if (passed >= seconds) throw new Error(`timed out: ${what}: ${JSON.stringify(this.host()?.status)}`);
      await this.clock.advance(1000);
    }
  }

  async addSecret(
    name: string,
    data: Record<string, string> = { username: "admin", password: "secret" },
  ): Promise<void> {
    await this.client.create<Unstructured>({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name },
      stringData: data,
    });
  }

  async addHost(spec: object = {}, metadata: object = {}, name = "h1"): Promise<void> {
    await this.client.create<Unstructured>({
      apiVersion: BareMetalHost.apiVersion,
      kind: BareMetalHost.kind,
      metadata: { namespace: "default", name, ...metadata },
      spec: { online: true, bmc: { address: `memory://rack1/${name}`, credentialsName: "bmc" }, ...spec },
    });
  }

  async change(patch: object, name = "h1"): Promise<void> {
    await this.client.patch({ kind: BareMetalHost, namespace: "default", name }, patch);
  }

  async annotate(annotations: Record<string, string | null>, name = "h1"): Promise<void> {
    await this.change({ metadata: { annotations } }, name);
  }

  async remove(name = "h1"): Promise<void> {
    await this.client.delete({ kind: BareMetalHost, namespace: "default", name });
  }

  host(name = "h1"): BareMetalHost | undefined {
    return this.server.internal.get(HOSTS, "default", name) as unknown as BareMetalHost | undefined;
  }

  state(name = "h1"): string {
    return this.host(name)?.status?.provisioning.state ?? "";
  }

  secret(name = "bmc"): Secret | undefined {
    return this.server.internal.get({ group: "", plural: "secrets" }, "default", name) as unknown as Secret | undefined;
  }

  hardwareData(name = "h1"): HardwareData | undefined {
    return this.server.internal.get(
      { group: HardwareData.group, plural: HardwareData.plural },
      "default",
      name,
    ) as unknown as HardwareData | undefined;
  }

  reasons(): string[] {
    return this.events.map((event) => event.split(":")[0] ?? "");
  }
}
