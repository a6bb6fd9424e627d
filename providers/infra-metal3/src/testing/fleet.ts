import { CLONED_FROM_NAME_ANNOTATION, DEPLOYMENT_NAME_LABEL } from "@capstan/capi";
import { ClaimFleet, type FleetDeps } from "@capstan/capi/testing";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import { Metal3DataTemplate } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import { metal3Provider } from "../running.ts";
import { type Metal3World, startWorld } from "./world.ts";

const IMAGE = { url: "http://images.example/node.qcow2", checksum: "abc", diskFormat: "qcow2" };
const POOL = { namePrefix: "pool", pools: [{ start: "192.0.2.10", end: "192.0.2.250" }], prefix: 24 };
const DATA = { metaData: { indexes: [{ key: "index" }], ipAddressesFromPool: [{ key: "ip", name: "pool" }] } };

/** A fleet of Metal3Machines with data and addresses over BareMetalHosts. */
export class Fleet extends ClaimFleet<Metal3World, Metal3Machine> {
  private constructor(deps: FleetDeps, world: Metal3World) {
    super(deps, world, {
      provider: metal3Provider,
      host: BareMetalHost,
      machine: Metal3Machine,
      claimField: "consumerRef",
      isInUse: (host) => world.hosts.running.has(host),
    });
  }

  static async start(seed = 1): Promise<Fleet> {
    const deps = ClaimFleet.deps(seed, metal3Provider().kinds);
    const fleet = new Fleet(deps, await startWorld(deps));
    await fleet.createCluster();
    await fleet.create(IPPool, "pool", POOL);
    await fleet.create(Metal3DataTemplate, "data", DATA);
    return fleet;
  }

  /** Addresses that are given away. */
  addresses(): Set<string> {
    const all = this.world.server.internal.list({ group: IPPool.group, plural: "ipaddresses" }, "default");
    return new Set(all.map((address) => (address as { spec?: { address?: string } }).spec?.address ?? ""));
  }

  override async addHosts(...names: string[]): Promise<void> {
    for (const name of names) await this.world.hosts.add(name);
  }

  override async addMachines(...names: string[]): Promise<void> {
    for (const name of names) await this.addMachine(name);
  }

  /** A machine with this in its spec, of this MachineDeployment and template if one is named. */
  async addMachine(
    name: string,
    spec: object = {},
    of: { deployment?: string; template?: string } = {},
  ): Promise<void> {
    const labels: Record<string, string> =
      of.deployment === undefined ? {} : { [DEPLOYMENT_NAME_LABEL]: of.deployment };
    const annotations: Record<string, string> =
      of.template === undefined ? {} : { [CLONED_FROM_NAME_ANNOTATION]: of.template };
    await this.createMachine(name, { image: IMAGE, dataTemplate: { name: "data" }, ...spec }, { labels, annotations });
  }
}
