import type { MachineAddress } from "@capstan/capi";
import type { VmPhase, VmRunner } from "@capstan/vm";
import { type Segment, segmentOf } from "../cluster/segment.ts";
import { DeliveryProblem, seedOf } from "../machine/seed.ts";
import { idOf, type Key, keyOf, keyOfId } from "../names.ts";
import type { HostSettings } from "./host-settings.ts";
import { orderOf } from "./order.ts";
import type { MachineFacts, MachineView, Placement, Removal, Scope } from "./placement.ts";

/** What this placement needs of a runner. */
export type Runner = Pick<
  VmRunner,
  "resume" | "subscribe" | "ensure" | "status" | "powerOff" | "destroy" | "console" | "list"
>;

/** The host that runs machines, once its settings are read. */
export interface ProcessHost {
  readonly settings: HostSettings;
  readonly runner: Runner;
  readonly memoryMib: number;
  /** Lets go of the machines, which keep running. */
  close(): Promise<void>;
}

/** Runs machines as processes next to the manager. */
export class ProcessPlacement implements Placement {
  readonly #open: () => Promise<ProcessHost>;
  readonly #listeners = new Set<(key: Key) => void>();
  #host: Promise<ProcessHost> | undefined;

  /** `open` is called once a machine is here, and again when it has failed. */
  constructor(open: () => Promise<ProcessHost>) {
    this.#open = open;
  }

  async ensure(scope: Scope, facts: MachineFacts): Promise<MachineView> {
    const { key, nodeIndex } = facts;
    const { settings, runner, memoryMib } = await this.#ready();
    const { object, cluster, infraCluster, machine } = scope;
    const spec = object.spec ?? {};
    const segment = segmentFor(keyOf(cluster), infraCluster?.spec?.network?.segmentCIDR, nodeIndex);
    const order = orderOf(key, spec, segment, settings);
    const known = await runner.status(order.id);
    const addresses = addressesOf(key, segment);
    const none = { addresses, restarts: 0, agentConnected: false, drift: [], disks: [] };
    // Its bootstrap token is spent: another virtual machine of the same name could not join.
    if (known === undefined && object.spec?.providerID !== undefined)
      return { ...none, phase: "failed", reason: "VMLost", message: `This host has no virtual machine ${key.name}` };
    const refused = known === undefined ? await refusal(order, settings, runner, memoryMib) : undefined;
    if (refused !== undefined) return { ...none, phase: "preparing", ...refused };
    // Fetched only when the machine is made: later the Secret may be deleted.
    const seed = async () => {
      const { failureDomain } = machine.spec;
      return seedOf(await scope.bootstrap.data(), { ...facts, spec, failureDomain, segmentAddress: segment?.address });
    };
    try {
      // Without its bootstrap data a machine would boot for nothing; the SDK waits for the Secret.
      if (known === undefined) await seed();
      return { ...(await runner.ensure(order, seed)), addresses };
    } catch (error) {
      if (!(error instanceof DeliveryProblem)) throw error;
      return { phase: "preparing", reason: "BootstrapDataNotSupported", message: error.message, ...none };
    }
  }

  async powerOff(key: Key, graceMs: number): Promise<VmPhase | undefined> {
    return (await (await this.#ready()).runner.powerOff(idOf(key), graceMs))?.phase;
  }

  async destroy({ object }: Removal): Promise<void> {
    await (await this.#ready()).runner.destroy(idOf(keyOf(object)));
  }

  async console(key: Key, bytes: number): Promise<string> {
    return await (await this.#ready()).runner.console(idOf(key), bytes);
  }

  subscribe(listener: (key: Key) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await (await this.#host?.catch(() => undefined))?.close();
  }

  #ready(): Promise<ProcessHost> {
    if (this.#host !== undefined) return this.#host;
    const opening = (async () => {
      const host = await this.#open();
      host.runner.subscribe((id) => {
        for (const listener of this.#listeners) listener(keyOfId(id));
      });
      try {
        await host.runner.resume();
      } catch (error) {
        await host.close().catch(() => undefined);
        throw error;
      }
      return host;
    })();
    this.#host = opening;
    opening.catch(() => {
      this.#host = undefined;
    });
    return opening;
  }
}

function segmentFor(cluster: Key, cidr: string | undefined, index: number | undefined): Segment | undefined {
  return index === undefined ? undefined : segmentOf(cluster, cidr, index);
}

/** Why a machine cannot be made on this host now. */
async function refusal(
  { memory }: { memory: { mib: number } },
  { openUserNetwork }: HostSettings,
  runner: Runner,
  memoryMib: number,
): Promise<{ reason: string; message: string } | undefined> {
  if (!openUserNetwork)
    return {
      reason: "UserNetworkClosed",
      message:
        "the operator of this host does not allow machines to connect to other machines, so that they cannot join",
    };
  const taken = (await runner.list()).reduce((sum, each) => sum + each.memory.mib, 0);
  if (taken + memory.mib <= memoryMib) return undefined;
  return {
    reason: "InsufficientMemory",
    message: `The machine needs ${memory.mib} MiB of memory, and ${Math.max(0, memoryMib - taken)} of ${memoryMib} MiB for machines are free on this host`,
  };
}

function addressesOf({ name }: Key, segment: Segment | undefined): MachineAddress[] {
  const [address] = segment?.address.split("/") ?? [];
  return [
    ...(address === undefined ? [] : [{ type: "InternalIP" as const, address }]),
    { type: "Hostname", address: name },
  ];
}
