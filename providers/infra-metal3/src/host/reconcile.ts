import { deepEqual, formatTime } from "@capstan/apimachinery";
import { withTransitionTimes } from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  hasFinalizer,
  type Reconcile,
  type ReconcileContext,
  type Request,
  type Result,
  redactText,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import {
  BareMetalHost,
  HOST_FINALIZER,
  HOST_HARDWARE_ANNOTATION,
  HOST_PAUSED_ANNOTATION,
  HOST_STATUS_ANNOTATION,
} from "../kinds/bare-metal-host.ts";
import { parseBmcAddress } from "../provisioner/bmc-address.ts";
import { failure, type HostIdentity, type Provisioner, type StepResult } from "../provisioner/provisioner.ts";
import { afterCall, afterStep, type Turn } from "./after-step.ts";
import { hostConditions } from "./conditions.ts";
import type { BmcSecrets } from "./credentials.ts";
import type { HostEvent } from "./enter-state.ts";
import { forgetHardware, givenHardware, storedHardware, storeHardware } from "./hardware.ts";
import { conflictOf } from "./hosts.ts";
import { nextStep } from "./next-step.ts";
import { provisionRequest } from "./provision-request.ts";
import { carriedStatus } from "./restore.ts";
import { SignedIn } from "./signed-in.ts";
import { type HostStatus, statusOf } from "./status.ts";
import type { Access, DriverCall, HostLimits, HostMemory, HostView } from "./step.ts";
import type { UpstreamOperator } from "./upstream.ts";

/** Dependencies of the BareMetalHost reconciler. */
export interface HostDeps {
  readonly drivers: Readonly<Partial<Record<"redfish" | "memory", Provisioner>>>;
  readonly secrets: BmcSecrets;
  readonly limits: HostLimits;
  /** Detects upstream's operator; undefined if no other controller manages hosts here. */
  readonly upstream?: UpstreamOperator | undefined;
}

/** More steps than any host takes at once. */
const MAX_STEPS = 30;
const UPSTREAM_RECHECK_MS = 60_000;

/** Written down before they begin: a new process must know that they may have begun. */
const SAVED_FIRST: ReadonlySet<DriverCall["op"]> = new Set(["register", "provision", "deprovision"]);

/** Returns the reconciler of BareMetalHosts, which performs steps until one has to wait. */
export function hostReconciler(deps: HostDeps): Reconcile {
  const memories = new Map<string, { uid: string; memory: HostMemory }>();
  const signedIn = new SignedIn();
  return async (request, context) => {
    const key = keyText(request);
    const host = context.cache.get(BareMetalHost, request);
    const known = memories.get(key);
    if (known !== undefined && known.uid !== host?.metadata.uid) {
      signedIn.forget(known.uid);
      memories.delete(key);
    }
    if (host === undefined) return done();
    const uid = host.metadata.uid ?? "";
    const memory = known?.uid === uid ? known.memory : { fingerprint: "" };
    memories.set(key, { uid, memory });
    if (host.metadata.annotations?.[HOST_PAUSED_ANNOTATION] !== undefined) {
      signedIn.tried(host);
      return done();
    }
    if ((await deps.upstream?.drivesHostsOf(request.namespace, context.client, context.signal)) === true)
      return requeueAfter(UPSTREAM_RECHECK_MS);
    if (host.metadata.deletionTimestamp !== undefined && !hasFinalizer(host, HOST_FINALIZER)) return done();
    const pass = new HostPass(deps, context, host, memory, signedIn);
    try {
      return await pass.run();
    } finally {
      memories.set(key, { uid, memory: pass.memory });
      signedIn.tried(host);
    }
  };
}

/** One look at one host. */
class HostPass {
  memory: HostMemory;
  readonly #deps: HostDeps;
  readonly #context: ReconcileContext;
  readonly #signedIn: SignedIn;
  #host: BareMetalHost;
  #status: HostStatus;
  #events: HostEvent[] = [];

  constructor(deps: HostDeps, context: ReconcileContext, host: BareMetalHost, memory: HostMemory, signedIn: SignedIn) {
    this.#deps = deps;
    this.#context = context;
    this.#signedIn = signedIn;
    this.#host = host;
    this.#status = statusOf(host);
    this.memory = memory;
  }

  async run(): Promise<Result> {
    const { context, client } = { context: this.#context, client: this.#context.client };
    this.#host = await ensureFinalizer(client, this.#host, HOST_FINALIZER, context.signal);
    await this.#restore();
    await this.#takeGivenHardware();
    const { access, identity, driver } = await this.#reach();
    for (let count = 0; count < MAX_STEPS; count++) {
      const view = this.#view(access);
      const step = nextStep(view);
      let turn: Turn;
      if (step.type === "call") {
        if (SAVED_FIRST.has(step.call.op)) await this.#save();
        const result = await this.#call(step.call, identity, driver);
        this.#noteSignIn(step.call, result);
        turn = afterCall({ ...view, host: this.#host, nowMs: context.clock.now() }, step.call, result, context.random);
      } else {
        turn = afterStep(view, step, context.random);
      }
      const ended = await this.#take(turn);
      if (ended !== undefined) return ended;
    }
    await this.#save();
    return requeueAfter(0);
  }

  /** Applies the outcome of a step; a result finishes the pass. */
  async #take(turn: Turn): Promise<Result | undefined> {
    this.#status = turn.status;
    this.memory = turn.memory;
    this.#events.push(...turn.events);
    if (turn.hardware !== undefined) await storeHardware(this.#host, turn.hardware, this.#context);
    if (turn.forget === true) return await this.#forget();
    const present = (turn.dropAnnotations ?? []).filter(
      (name) => this.#host.metadata.annotations?.[name] !== undefined,
    );
    if (present.length > 0) {
      await this.#save();
      await this.#dropAnnotations(present);
    }
    if (turn.againMs === 0) return undefined;
    await this.#save();
    return turn.againMs === undefined ? done() : requeueAfter(turn.againMs);
  }

  #view(access: Access): HostView {
    const { metadata, spec } = this.#host;
    const conflict = conflictOf(this.#context.cache, this.#host, this.#signedIn);
    const annotations = Object.entries(metadata.annotations ?? {}).filter(
      ([key]) => key.includes("metal3.io") || key.includes("capstan.dev"),
    );
    const version = access.type === "good" ? access.version : access.type;
    const fingerprint = JSON.stringify([
      metadata.generation,
      metadata.deletionTimestamp,
      spec.online,
      version,
      conflict,
      annotations,
    ]);
    return {
      host: this.#host,
      status: this.#status,
      access,
      conflict,
      memory: { ...this.memory, fingerprint },
      nowMs: this.#context.clock.now(),
      limits: this.#deps.limits,
    };
  }

  /** Brings back the status that a move carried in an annotation. */
  async #restore(): Promise<void> {
    if (this.#host.metadata.annotations?.[HOST_STATUS_ANNOTATION] === undefined) return;
    const carried = carriedStatus(this.#host);
    if (carried !== undefined) {
      const hardware = carried.hardware ?? (await storedHardware(this.#host, this.#context));
      this.#status = hardware === undefined ? carried : { ...carried, hardware };
      await this.#save();
    }
    await this.#dropAnnotations([HOST_STATUS_ANNOTATION]);
  }

  async #takeGivenHardware(): Promise<void> {
    const given = givenHardware(this.#host);
    if (given === undefined) return;
    if ("problem" in given) {
      const note = `The annotation ${HOST_HARDWARE_ANNOTATION} cannot be used: ${given.problem}`;
      this.#events.push({ type: "Warning", reason: "InvalidHardwareDetails", note });
    } else {
      this.#status = { ...this.#status, hardware: given.hardware };
      await storeHardware(this.#host, given.hardware, this.#context);
      await this.#save();
    }
    await this.#dropAnnotations([HOST_HARDWARE_ANNOTATION]);
  }

  /** Finds the way to the management controller. */
  async #reach(): Promise<{ access: Access; identity?: HostIdentity; driver?: Provisioner }> {
    const { bmc } = this.#host.spec;
    if (bmc === undefined || (bmc.address === "" && bmc.credentialsName === "")) return { access: { type: "none" } };
    const bad = (message: string): { access: Access } => ({ access: { type: "bad", message } });
    const { client, signal } = this.#context;
    const driver = this.#driver(bmc.address);
    if (typeof driver === "string") return bad(driver);
    const found = await this.#deps.secrets.find(client, this.#host, signal);
    if (found.type === "bad") return bad(found.message);
    const secret = await this.#deps.secrets.own(client, this.#host, found.secret, signal);
    const { namespace = "", name = "", uid = "", annotations = {} } = this.#host.metadata;
    const identity: HostIdentity = {
      namespace,
      name,
      uid,
      address: bmc.address,
      credentials: found.credentials,
      disableCertificateVerification: bmc.disableCertificateVerification === true,
      bootMACAddress: this.#host.spec.bootMACAddress,
      bootMode: this.#host.spec.bootMode ?? "UEFI",
      poweredOn: this.#host.status?.poweredOn === true,
      annotations,
    };
    const version = this.#deps.secrets.versionOf(secret);
    return { access: { type: "good", secret: bmc.credentialsName, version }, identity, driver };
  }

  #driver(address: string): Provisioner | string {
    try {
      const { driver, scheme } = parseBmcAddress(address);
      const found = driver === "other" ? undefined : this.#deps.drivers[driver];
      return (
        found ??
        `spec.bmc.address: no driver supports ${scheme}://; use a redfish address such as redfish-virtualmedia://HOST/redfish/v1/Systems/ID`
      );
    } catch (error) {
      return `spec.bmc.address: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async #call(
    call: DriverCall,
    identity: HostIdentity | undefined,
    driver: Provisioner | undefined,
  ): Promise<StepResult<unknown>> {
    const { signal, client, clock, log } = this.#context;
    if (identity === undefined || driver === undefined)
      return failure("The host has no driver for its management controller");
    try {
      switch (call.op) {
        case "powerOff":
          return await driver.powerOff(identity, call.mode, signal);
        case "reboot":
          return await driver.reboot(identity, call.mode, signal);
        case "prepare":
          return await driver.prepare(identity, this.#host.spec, signal);
        case "deprovision":
          return await driver.deprovision(identity, this.#host.spec.automatedCleaningMode ?? "metadata", signal);
        case "provision": {
          const request = await provisionRequest(client, this.#host, signal, clock);
          return request.type === "failed" ? request : await driver.provision(identity, request.value, signal);
        }
        case "adopt": {
          const request = await provisionRequest(client, this.#host, signal, clock);
          return await driver.adopt(identity, request.type === "failed" ? undefined : request.value, signal);
        }
        default:
          return await driver[call.op](identity, signal);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      log.error("driver call failed", { host: identity.name, operation: call.op, error });
      return failure(`The driver failed: ${redactText(error instanceof Error ? error.message : String(error))}`);
    }
  }

  /** `register` and `power` always ask the management controller; other calls may end before they do. */
  #noteSignIn({ op }: DriverCall, { type }: StepResult<unknown>): void {
    if (type === "done" && (op === "register" || op === "power")) this.#signedIn.succeeded(this.#host);
    if (type === "failed" && op === "register") this.#signedIn.failed(this.#host);
  }

  /** Writes the status if it changed, and records events. */
  async #save(): Promise<void> {
    const { client, clock, recorder, signal } = this.#context;
    const host = this.#host;
    const { lastUpdated: _at, conditions: existing, ...old } = host.status ?? {};
    const { lastUpdated: _before, conditions: _conditions, ...body } = this.#status;
    const computed = hostConditions(host, this.#status, this.memory.health);
    const conditions = withTransitionTimes(computed, existing ?? [], clock.now(), host.metadata.generation);
    if (!deepEqual(old, body) || !deepEqual(existing ?? [], conditions)) {
      const { namespace, name } = host.metadata;
      const status = { ...body, conditions, lastUpdated: formatTime(clock.now()) };
      const desired = { apiVersion: host.apiVersion, kind: host.kind, metadata: { namespace, name }, status };
      const applied = await client.apply(desired as unknown as BareMetalHost, { subresource: "status" }, signal);
      this.#host = applied;
    }
    const events = this.#events;
    this.#events = [];
    for (const { type, reason, note } of events) recorder.event(this.#host, type, reason, reason, redactText(note));
  }

  async #dropAnnotations(names: readonly string[]): Promise<void> {
    const present = names.filter((name) => this.#host.metadata.annotations?.[name] !== undefined);
    if (present.length === 0) return;
    const annotations = Object.fromEntries(present.map((name) => [name, null]));
    const { uid } = this.#host.metadata;
    this.#host = await this.#context.client.patch(
      this.#host,
      { metadata: { uid, annotations } },
      {},
      this.#context.signal,
    );
  }

  /** The last step of a deletion. */
  async #forget(): Promise<Result> {
    const { client, signal } = this.#context;
    await this.#save();
    await this.#deps.secrets.disown(client, this.#host, signal);
    await forgetHardware(this.#host, this.#context);
    await releaseFinalizer(client, this.#host, HOST_FINALIZER, signal);
    return done();
  }
}

function keyText(request: Request): string {
  return `${request.namespace}/${request.name}`;
}
