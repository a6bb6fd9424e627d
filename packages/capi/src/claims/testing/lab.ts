import { type KubeObject, seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import {
  Client,
  type Controller,
  controller,
  done,
  type Kind,
  kindRef,
  type Result,
  requeueAfter,
} from "@capstan/runtime";
import { RestartableControllers } from "../../testing/restartable.ts";
import { firstByName } from "../choose.ts";
import { HostClaims } from "../host-claims.ts";
import { type ClaimIdentity, claimOn, unclaimed } from "../reference.ts";
import { ShakyLine } from "./shaky-line.ts";

const GROUP = "lab.example";
const NAMESPACE = "default";
const FIELD = "machineRef";
const HELD = "lab.example/host";
/** Time for controllers to settle; far below any periodic check, so that only a call brings a waiting machine back. */
const SETTLE_MS = 5_000;

/** A host as simple as hosts can be: what keeps it from being claimed is one field. */
export interface LabHost extends KubeObject {
  spec?: { closed?: boolean; machineRef?: { name?: string; uid?: string } };
}

/** A machine that wants a host with one of two labels, or any. */
export interface LabMachine extends KubeObject {
  spec?: { color?: string; paused?: boolean };
}

const Host: Kind<LabHost> = kindRef({ group: GROUP, version: "v1", kind: "Host", plural: "hosts", namespaced: true });
const Machine: Kind<LabMachine> = kindRef({
  group: GROUP,
  version: "v1",
  kind: "Machine",
  plural: "machines",
  namespaced: true,
});

/** Machines that claim hosts through HostClaims, over a connection whose faults the test orders. */
export class Lab {
  readonly clock = new VirtualClock();
  /** What must never be seen in any state of the hosts. */
  readonly violations: string[] = [];
  /** Names of machines in the order in which they got a host. */
  readonly claimed: string[] = [];
  readonly server: ApiServer;
  readonly #identity: ClaimIdentity;
  readonly #withControllers: boolean;
  #claims: HostClaims<LabHost, LabMachine> | undefined;
  readonly #user: Client;
  readonly #line: ShakyLine;
  readonly #manager: RestartableControllers;

  private constructor(server: ApiServer, clock: VirtualClock, identity: ClaimIdentity, withControllers: boolean) {
    this.server = server;
    this.#withControllers = withControllers;
    this.clock = clock;
    this.#identity = identity;
    this.#user = new Client(server.admin(), { fieldManager: "user", clock });
    this.#line = new ShakyLine(server.admin(), clock);
    this.#manager = new RestartableControllers(clock, seededRandom(2));
    server.internal.watch({ group: GROUP, plural: Host.plural }, ({ name, object, previous }) =>
      this.#check(name, object as LabHost | undefined, previous as LabHost | undefined),
    );
  }

  /** Without controllers only the test itself claims hosts. */
  static async start(identity: ClaimIdentity, withControllers = true): Promise<Lab> {
    const clock = new VirtualClock();
    const server = await createApiServer({
      store: memoryStore(),
      clock,
      random: seededRandom(1),
      controllers: false,
    });
    await server.registerCrds([crd(Host), crd(Machine)]);
    const lab = new Lab(server, clock, identity, withControllers);
    await lab.restart();
    return lab;
  }

  get line(): ShakyLine {
    return this.#line;
  }

  /** What the manager that runs uses. */
  get claims(): HostClaims<LabHost, LabMachine> {
    if (this.#claims === undefined) throw new Error("no manager runs");
    return this.#claims;
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.server.close();
  }

  /** Replaces the manager by one without memory. Writes that are late survive it. */
  async restart(): Promise<void> {
    await this.#stop();
    const line = this.#line;
    line.thaw();
    line.onFault = async (fault, path) => {
      if (fault === "killed") this.#manager.kill();
      else await this.#touch(path);
    };
    const claims = this.#newClaims();
    this.#claims = claims;
    await this.#manager.start(line, "lab", (cache) => {
      claims.bind(cache, cache.client);
      return this.#withControllers ? [claimant(claims), keeper(claims)] : [];
    });
  }

  /** Restarts a manager that was killed. */
  async restartIfKilled(): Promise<void> {
    if (this.#manager.isKilled) await this.restart();
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.restartIfKilled();
  }

  /** Ends all faults and lets everything settle. */
  async settle(): Promise<void> {
    this.#line.calm();
    this.#line.thaw();
    await this.restartIfKilled();
    await this.#line.deliver();
    for (let passed = 0; passed < SETTLE_MS; passed += 500) await this.clock.advance(500);
  }

  async addHost(name: string, color: string, closed = false): Promise<void> {
    if (this.host(name) !== undefined) return;
    await this.#user.create({ ...object(Host, name, { labels: { color } }), spec: closed ? { closed } : {} });
  }

  async changeHost(name: string, change: { color?: string; closed?: boolean }): Promise<void> {
    if (this.host(name) === undefined) return;
    const { color, closed } = change;
    await this.#user.patch(
      { kind: Host, namespace: NAMESPACE, name },
      {
        ...(color === undefined ? {} : { metadata: { labels: { color } } }),
        ...(closed === undefined ? {} : { spec: { closed } }),
      },
    );
  }

  /** Writes a host as another client does. */
  async patchHost(name: string, patch: Record<string, unknown>): Promise<void> {
    await this.#user.patch({ kind: Host, namespace: NAMESPACE, name }, patch);
  }

  async deleteHost(name: string): Promise<void> {
    if (this.host(name) !== undefined) await this.#user.delete({ kind: Host, namespace: NAMESPACE, name });
  }

  async addMachine(name: string, color: string | undefined): Promise<void> {
    if (this.machine(name) !== undefined) return;
    const machine = object(Machine, name, { finalizers: [HELD] });
    await this.#user.create({ ...machine, spec: color === undefined ? {} : { color } });
  }

  async pauseMachine(name: string, paused: boolean): Promise<void> {
    if (this.machine(name) !== undefined)
      await this.#user.patch({ kind: Machine, namespace: NAMESPACE, name }, { spec: { paused } });
  }

  /** A machine wants another color; null for any. */
  async changeMachine(name: string, color: string | null): Promise<void> {
    if (this.machine(name) !== undefined)
      await this.#user.patch({ kind: Machine, namespace: NAMESPACE, name }, { spec: { color } });
  }

  /** Deletes a machine; one that vanishes loses its finalizer as well, so that nothing releases its host for it. */
  async deleteMachine(name: string, vanishes: boolean): Promise<void> {
    if (this.machine(name) === undefined) return;
    const key = { kind: Machine, namespace: NAMESPACE, name };
    if (vanishes) await this.#user.patch(key, { metadata: { finalizers: null } });
    if (this.machine(name) !== undefined) await this.#user.delete(key);
  }

  host(name: string): LabHost | undefined {
    return this.server.internal.get({ group: GROUP, plural: Host.plural }, NAMESPACE, name) as LabHost | undefined;
  }

  machine(name: string): LabMachine | undefined {
    return this.server.internal.get({ group: GROUP, plural: Machine.plural }, NAMESPACE, name) as
      | LabMachine
      | undefined;
  }

  hosts(): LabHost[] {
    return this.server.internal.list({ group: GROUP, plural: Host.plural }, NAMESPACE) as unknown as LabHost[];
  }

  machines(): LabMachine[] {
    return this.server.internal.list({ group: GROUP, plural: Machine.plural }, NAMESPACE) as unknown as LabMachine[];
  }

  #newClaims(): HostClaims<LabHost, LabMachine> {
    return new HostClaims<LabHost, LabMachine>({
      host: Host,
      machine: Machine,
      field: FIELD,
      identity: this.#identity,
      whyTaken,
      isNews: (host, old) =>
        whyTaken(host) === undefined &&
        (old === undefined ||
          whyTaken(old) !== undefined ||
          host.metadata.labels?.["color"] !== old.metadata.labels?.["color"]),
      isUsed: ({ metadata }) => metadata.annotations?.["used"] === "true",
    });
  }

  async #stop(): Promise<void> {
    this.#line.thaw();
    await this.#manager.stop();
  }

  /** Another client changes a host, so that what was read of it is out of date. */
  async #touch(path: string): Promise<void> {
    const name = path.split("/").at(-1) ?? "";
    if (this.host(name) === undefined) return;
    const annotations = { touched: String(this.clock.now()) };
    await this.#user.patch({ kind: Host, namespace: NAMESPACE, name }, { metadata: { annotations } });
  }

  #check(name: string, host: LabHost | undefined, previous: LabHost | undefined): void {
    const [before, after] = [previous?.spec?.machineRef, host?.spec?.machineRef];
    if (before?.uid === after?.uid) return;
    if (before !== undefined && after !== undefined)
      this.violations.push(`${name} went from ${before.name} to ${after.name} without a release`);
    if (after !== undefined && previous?.spec?.closed === true)
      this.violations.push(`${name} was claimed while closed`);
    if (after?.name === undefined) return;
    this.claimed.push(after.name);
    // A write that is carried out late can give a machine a second host, which it releases.
    if (this.#line.wasLate) return;
    const other = this.hosts().find(
      ({ metadata, spec }) => metadata.name !== name && spec?.machineRef?.uid === after.uid,
    );
    if (other !== undefined) this.violations.push(`${after.name} got ${name} while it had ${other.metadata.name}`);
  }
}

/** Reports whether a machine can use a host, free or not. */
export function matches(machine: LabMachine): (host: LabHost) => boolean {
  const color = machine.spec?.color;
  return ({ metadata }) => color === undefined || metadata.labels?.["color"] === color;
}

/** Returns why a host cannot be claimed; undefined if it can. */
export function whyTaken({ metadata, spec }: LabHost): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return "being deleted";
  if (spec?.machineRef !== undefined) return "in use";
  return spec?.closed === true ? "closed" : undefined;
}

/** What the machine reconciler of a provider does, without bootstrap data and Nodes. It never checks again by time alone. */
function claimant(claims: HostClaims<LabHost, LabMachine>): Controller {
  return controller("claimant")
    .for(Machine)
    .watchesRaw({
      start: (enqueue, signal) => signal.addEventListener("abort", claims.subscribe(enqueue), { once: true }),
    })
    .concurrency(3)
    .reconcile(async (request, { cache, client, signal }): Promise<Result> => {
      const machine = cache.get(Machine, request);
      if (machine === undefined) return done();
      const own = claims.allOf(machine);
      if (machine.spec?.paused === true && machine.metadata.deletionTimestamp === undefined) {
        claims.stopWaiting(machine);
        return done();
      }
      const isLeaving = machine.metadata.deletionTimestamp !== undefined;
      if (isLeaving) claims.stopWaiting(machine);
      for (const host of isLeaving ? own : own.slice(1))
        if ((await claims.update(unclaimed(host, FIELD), signal)) === undefined) return requeueAfter(50);
      if (!isLeaving && own.length > 0) {
        claims.stopWaiting(machine);
        return done();
      }
      if ((await claims.doubtful(machine, signal)) !== undefined) return requeueAfter(50);
      if (isLeaving) {
        await client.patch(machine, { metadata: { finalizers: [] } }, {}, signal);
        return done();
      }
      const isFit = matches(machine);
      const host = firstByName(claims.free(NAMESPACE), (each) => !claims.isBeingClaimed(each) && isFit(each));
      if (host === undefined) {
        claims.waits(machine, isFit);
        return done();
      }
      const taken = await claims.claim(host, machine, undefined, (each) => each, signal);
      return taken === undefined ? requeueAfter(50) : done();
    });
}

/** What the host reconciler of a provider does: takes a host back from a machine that does not exist. */
function keeper(claims: HostClaims<LabHost, LabMachine>): Controller {
  return controller("keeper")
    .for(Host)
    .watches(Machine, (machine) => claims.heldBy(machine).map(({ metadata }) => key(metadata.name)), {
      predicate: { create: () => false, update: () => false },
    })
    .reconcile(async (request, { cache, client, signal }): Promise<Result> => {
      const host = cache.get(Host, request);
      const claim = host === undefined ? undefined : claimOn(host, FIELD);
      if (host === undefined || claim === undefined) return done();
      const machine = await client.get(Machine, claim, signal);
      if (machine !== undefined && claims.heldBy(machine).some(({ metadata }) => metadata.uid === host.metadata.uid))
        return done();
      return (await claims.update(unclaimed(host, FIELD), signal)) === undefined ? requeueAfter(50) : done();
    });
}

const key = (name = ""): { namespace: string; name: string } => ({ namespace: NAMESPACE, name });

function object(kind: Kind<KubeObject>, name: string, metadata: object): KubeObject {
  return { apiVersion: `${GROUP}/v1`, kind: kind.kind, metadata: { namespace: NAMESPACE, name, ...metadata } };
}

function crd({ kind, plural }: { kind: string; plural: string }) {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
