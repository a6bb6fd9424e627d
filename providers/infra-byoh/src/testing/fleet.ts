import { ClaimFleet, type FleetDeps } from "@capstan/capi/testing";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { byohProvider } from "../running.ts";
import { type ByohWorld, startWorld } from "./world.ts";

/** A fleet of ByoMachines over hosts with agents. */
export class Fleet extends ClaimFleet<ByohWorld, ByoMachine> {
  private constructor(deps: FleetDeps, world: ByohWorld) {
    super(deps, world, {
      provider: byohProvider,
      host: ByoHost,
      machine: ByoMachine,
      claimField: "machineRef",
      isInUse: (host) => world.agents.running.has(host),
    });
  }

  static async start(seed = 1): Promise<Fleet> {
    const deps = ClaimFleet.deps(seed, byohProvider().kinds);
    const fleet = new Fleet(deps, await startWorld(deps));
    await fleet.createCluster();
    return fleet;
  }

  override async addHosts(...names: string[]): Promise<void> {
    for (const name of names) await this.world.agents.enrol(name);
  }

  override async addMachines(...names: string[]): Promise<void> {
    await this.addMachinesWith({}, ...names);
  }

  /** Machines whose ByoMachine has this spec. */
  async addMachinesWith(wanted: object, ...names: string[]): Promise<void> {
    for (const name of names) await this.createMachine(name, wanted, { machine: { version: "v1.34.4" } });
  }
}
