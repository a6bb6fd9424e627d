import { type Clock, type Random, sleep, stableStringify } from "@capstan/apimachinery";
import type { Logger } from "@capstan/runtime";
import type { Connect, Kubelet } from "@capstan/workloads";
import type { HardwareDetails } from "../../kinds/hardware-details.ts";
import { parseBmcAddress } from "../bmc-address.ts";
import { InFlight } from "../in-flight.ts";
import {
  failure,
  finished,
  type HostIdentity,
  type PowerOffMode,
  type PowerReport,
  type Provisioner,
  type ProvisionRequest,
  type StepFailure,
  type StepResult,
  working,
} from "../provisioner.ts";
import { type Behaviour, behaviourOf } from "./behaviour.ts";
import { bootFromConfigDrive } from "./guest.ts";
import { inventoryOf } from "./inventory.ts";
import { MemoryMachine } from "./machine.ts";

/** Dependencies and settings of simulated management controllers. */
export interface MemoryBmcOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Determines everything that differs between machines. */
  readonly seed: number;
  /** Connects machines to the API that they join. */
  readonly connect: Connect;
  /** Returns the kubelet version of a host, for images whose name has no version. */
  readonly kubeletOf?: (host: { readonly namespace: string; readonly name: string }) => string | undefined;
  /** The kubelet of a host that booted before this process started; throws while its cluster cannot be reached. */
  readonly resumed?: (host: HostIdentity) => Kubelet;
  /** Concurrent requests; by default 2 per management controller and 512 in total. */
  readonly limits?: { readonly perKey: number; readonly total: number };
}

const ASK_AGAIN_MS = 1_000;

/**
 * Driver for simulated management controllers and machines, deterministic, with latency and faults. Machines with addresses
 * `memory://CHASSIS/SLOT` share the management controller of their chassis.
 */
export class MemoryBmcs implements Provisioner {
  readonly inFlight: InFlight;
  readonly #options: MemoryBmcOptions;
  readonly #machines = new Map<string, MemoryMachine>();

  constructor(options: MemoryBmcOptions) {
    this.#options = options;
    this.inFlight = new InFlight(options.limits ?? { perKey: 2, total: 512 });
  }

  /** Whether the machine at an address is on, and what is in its drive; for tests. */
  look(address: string): { on: boolean; media: string | undefined } | undefined {
    const machine = this.#machines.get(nameOf(address));
    return machine === undefined ? undefined : { on: machine.on, media: machine.media };
  }

  /** Simulates a press of the power button. */
  press(address: string, on: boolean): void {
    this.#machine({ address, poweredOn: false }).setPower(on, 0);
  }

  async register(host: HostIdentity, signal: AbortSignal): Promise<StepResult<{ id: string }>> {
    return await this.#ask(host, signal, async () => finished({ id: nameOf(host.address) }));
  }

  async inspect(host: HostIdentity, signal: AbortSignal): Promise<StepResult<HardwareDetails>> {
    return await this.#ask<HardwareDetails>(host, signal, async ({ faults }) =>
      faults.has("inspection-fails")
        ? failure("GET /Systems/1/Processors: the management controller answered 500: fault inspection-fails is set")
        : finished(inventoryOf(host, this.#options.seed)),
    );
  }

  async power(host: HostIdentity, signal: AbortSignal): Promise<StepResult<PowerReport>> {
    return await this.#ask<PowerReport>(host, signal, async ({ faults }) => {
      const health = faults.has("broken-fan") ? "Critical" : "OK";
      return finished({ on: this.#machine(host).on, health });
    });
  }

  async powerOn(host: HostIdentity, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async (behaviour) => this.#setPower(host, true, behaviour));
  }

  async powerOff(host: HostIdentity, _mode: PowerOffMode, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async (behaviour) => this.#setPower(host, false, behaviour));
  }

  async reboot(host: HostIdentity, _mode: PowerOffMode, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async (behaviour) => {
      this.#machine(host).setPower(false, 0);
      return this.#setPower(host, true, { ...behaviour, powerMs: 0 });
    });
  }

  async prepare(host: HostIdentity, _spec: unknown, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async () => finished());
  }

  async provision(host: HostIdentity, request: ProvisionRequest, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async (behaviour) => {
      const machine = this.#machine(host);
      const media = stableStringify(request);
      if (behaviour.faults.has("bad-checksum"))
        return failure(`The image ${request.image?.url} is not what spec.image.checksum says: correct one of them`, {
          fatal: true,
        });
      if (machine.media !== media) {
        const off = this.#setPower(host, false, behaviour);
        if (off.type !== "done") return off;
        if (behaviour.faults.has("media-refused"))
          return failure("InsertMedia: the management controller answered 400: fault media-refused is set");
        this.#insert(host, request, behaviour);
      }
      return this.#setPower(host, true, behaviour);
    });
  }

  async deprovision(host: HostIdentity, _cleaning: unknown, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async (behaviour) => {
      const off = this.#setPower(host, false, behaviour);
      if (off.type === "done") this.#machine(host).eject();
      return off;
    });
  }

  /** After a restart of the process the machine is as it was before: on, with its media. */
  async adopt(host: HostIdentity, request: ProvisionRequest | undefined, signal: AbortSignal): Promise<StepResult> {
    return await this.#ask(host, signal, async (behaviour) => {
      const machine = this.#machine(host);
      if (machine.media !== undefined || request === undefined) return finished();
      this.#insert(host, request, behaviour, "resumed");
      if (machine.on) machine.resume();
      return finished();
    });
  }

  async release(): Promise<StepResult> {
    return finished();
  }

  #insert(host: HostIdentity, request: ProvisionRequest, behaviour: Behaviour, how?: "resumed"): void {
    const machine = this.#machine(host);
    machine.eject();
    machine.media = stableStringify(request);
    machine.bootMs = behaviour.bootMs;
    const boots = request.configDrive.userData !== undefined && !behaviour.faults.has("never-boots");
    machine.boot = boots ? () => bootFromConfigDrive(host, request, this.#options, how) : undefined;
  }

  #setPower(host: HostIdentity, on: boolean, behaviour: Behaviour): StepResult {
    const machine = this.#machine(host);
    if (machine.on === on) return finished();
    const what = `Reset ${on ? "On" : "ForceOff"} was accepted, but the power is still ${on ? "off" : "on"}`;
    if (behaviour.faults.has("power-lies")) return working(what, ASK_AGAIN_MS);
    const leftMs = machine.setPower(on, behaviour.powerMs);
    return leftMs === 0 ? finished() : working(what, leftMs);
  }

  /** A machine that this process has not seen yet has the power that it had when it was last looked at. */
  #machine(host: Pick<HostIdentity, "address" | "poweredOn">): MemoryMachine {
    const name = nameOf(host.address);
    const machine = this.#machines.get(name) ?? new MemoryMachine(this.#options.clock, host.poweredOn);
    this.#machines.set(name, machine);
    return machine;
  }

  async #ask<T>(
    host: HostIdentity,
    signal: AbortSignal,
    answer: (behaviour: Behaviour) => Promise<StepResult<T>>,
  ): Promise<StepResult<T>> {
    const behaviour = behaviourOf(host);
    return await this.inFlight.run(parseBmcAddress(host.address).host, signal, async () => {
      if (behaviour.latencyMs > 0) await sleep(this.#options.clock, behaviour.latencyMs, signal);
      return accessProblem(host, behaviour) ?? (await answer(behaviour));
    });
  }
}

function accessProblem(host: HostIdentity, { faults }: Behaviour): StepFailure | undefined {
  const where = `GET ${host.address.split("?")[0]}`;
  if (faults.has("unreachable"))
    return failure(
      `${where}: connect ECONNREFUSED: check that the management controller is powered on and its address is correct`,
      {
        access: "unreachable",
      },
    );
  if (faults.has("self-signed") && !host.disableCertificateVerification && host.credentials.ca === undefined)
    return failure(
      `${where}: self-signed certificate: put its CA into ca.crt of the credentials Secret, or set spec.bmc.disableCertificateVerification`,
      { access: "unreachable" },
    );
  if (faults.has("wrong-credentials") || host.credentials.password === "wrong")
    return failure(
      `${where}: 401 Unauthorized: correct username and password in the Secret of spec.bmc.credentialsName`,
      { access: "refused" },
    );
  return undefined;
}

function nameOf(address: string): string {
  return address.split("?")[0] ?? address;
}
