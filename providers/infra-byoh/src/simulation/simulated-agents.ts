import { createHash } from "node:crypto";
import { type Clock, formatTime, type Random } from "@capstan/apimachinery";
import { ownerMachine, resolveReference, Secret, secretText, type WorkloadClusters } from "@capstan/capi";
import { ByoHost, INSTALL_KEYS, type InstallPlan } from "@capstan/host-agent";
import {
  type Cache,
  type Controller,
  controller,
  done,
  type Logger,
  objectsWhere,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
} from "@capstan/runtime";
import { type Connect, Guest, type JoinPlan, joinCluster, joinPlan, nodeOf, resumedKubelet } from "@capstan/workloads";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { DEAD_AGENT, SIMULATED_AGENT_ANNOTATION, SIMULATED_KUBELET_ANNOTATION } from "./annotations.ts";

const HEARTBEAT_MS = 60_000;

interface Options {
  clock: Clock;
  random: Random;
  log: Logger;
  /** How hosts reach the API they join. */
  connect: Connect;
  /** The clusters whose nodes come back after a restart. */
  workload: WorkloadClusters;
}

type Status = NonNullable<ByoHost["status"]>;

/** What runs on a host. */
interface Running {
  machineUID: string;
  /** The kubelet on the host while it runs the machine. */
  kubelet: string;
  guest: Guest | undefined;
  joined: boolean;
  problem: string | undefined;
}

/** Simulates the agents of ByoHosts that request it: they send heartbeats, join the cluster of their bootstrap data, and clean up. */
export function simulatedAgents(options: Options): Controller {
  const running = new Map<string, Running>();
  /** Which hosts are broken, by uid, as this process last saw them. */
  const broken = new Map<string, boolean>();
  let wake: (request: Request) => void = () => undefined;
  const end = (key: string): void => {
    running.get(key)?.guest?.stop();
    running.delete(key);
  };
  return controller("simulated-agent")
    .for(ByoHost, { predicate: objectsWhere(isSimulated) })
    .watchesRaw({
      start: (enqueue, signal) => {
        wake = enqueue;
        signal.addEventListener("abort", () => {
          for (const key of running.keys()) end(key);
        });
      },
    })
    .concurrency(20)
    .reconcile(async (request, context) => {
      const key = `${request.namespace}/${request.name}`;
      const host = context.cache.get(ByoHost, request);
      if (host === undefined || !isSimulated(host)) {
        end(key);
        return done();
      }
      const { machineRef, release } = host.spec ?? {};
      if (release !== undefined || machineRef === undefined || machineRef.uid !== running.get(key)?.machineUID)
        end(key);
      // With an installer the data follows the claim: the agent begins when it has both.
      const given = machineRef !== undefined && host.spec?.bootstrapSecret !== undefined;
      if (release === undefined && given && !running.has(key))
        running.set(key, await boot(host, machineRef.uid, options, context, () => wake(request)));
      const dead = host.metadata.annotations?.[SIMULATED_AGENT_ANNOTATION] === DEAD_AGENT;
      const guest = running.get(key)?.guest;
      if (guest !== undefined) guest.reachable = !dead;
      reportFault(host, dead, broken, context);
      return dead ? done() : await report(host, running.get(key), context);
    });
}

/** Leaves an Event when a host is broken on request and when it is repaired; not for what was so before this process started. */
function reportFault(host: ByoHost, dead: boolean, broken: Map<string, boolean>, { recorder }: ReconcileContext): void {
  const { uid = "", name = "" } = host.metadata;
  const before = broken.get(uid);
  broken.set(uid, dead);
  if (before === undefined || before === dead) return;
  if (dead) {
    const note = `Simulated host ${name} was broken on request: its agent and its node stop reporting`;
    recorder.event(host, "Warning", "HostBroken", "Simulate", note);
  } else
    recorder.event(
      host,
      "Normal",
      "HostRepaired",
      "Simulate",
      `Simulated host ${name} was repaired and is reporting again`,
    );
}

function isSimulated(host: ByoHost): boolean {
  return host.metadata.annotations?.[SIMULATED_AGENT_ANNOTATION] !== undefined;
}

/** Runs the bootstrap data of a machine. */
async function boot(
  host: ByoHost,
  machineUID: string,
  options: Options,
  context: ReconcileContext,
  changed: () => void,
): Promise<Running> {
  const { client, cache, signal } = context;
  const installed = await kubeletOn(host, context);
  const running: Running = { machineUID, kubelet: installed, guest: undefined, joined: false, problem: undefined };
  const { namespace } = host.metadata;
  const secret = await client.get(Secret, { namespace, name: host.spec?.bootstrapSecret?.name ?? "" }, signal);
  const bytes = Buffer.from(secret?.data?.["value"] ?? "", "base64");
  const format = Buffer.from(secret?.data?.["format"] ?? "", "base64").toString("utf8");
  let plan: JoinPlan;
  try {
    const data = { format: format === "ignition" ? "ignition" : "cloud-config", bytes } as const;
    plan = await joinPlan(data, host.metadata.name ?? "", options.clock);
  } catch (error) {
    running.problem = `the bootstrap data cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return running;
  }
  const before = host.status?.bootstrap;
  running.joined = before?.machineUID === machineUID && before.phase === "Succeeded";
  const resumed = running.joined;
  const guest = new Guest(
    {
      // Its token was for the first time only.
      join: async (stopped) =>
        resumed ? resumedKubelet(machineOf(host, cache), options.workload) : await joinCluster(plan, options, stopped),
      register: async (kubelet) => {
        const node = nodeFor(host, plan, running.kubelet, options.clock);
        if (resumed) return await kubelet.resume(node);
        await kubelet.register(node);
        running.joined = true;
        changed();
      },
      post: (kubelet, alive) => kubelet.post(plan.nodeName, alive),
    },
    { clock: options.clock, log: options.log, changed },
  );
  running.guest = guest;
  guest.reachable = true;
  return running;
}

/** What the installer puts on the host, or what is on it already. */
async function kubeletOn(host: ByoHost, { client, cache, signal }: ReconcileContext): Promise<string> {
  const { namespace } = host.metadata;
  const installer = host.spec?.installationSecret?.name;
  const secret = installer === undefined ? undefined : await client.get(Secret, { namespace, name: installer }, signal);
  const plan = secret === undefined ? undefined : secretText(secret, INSTALL_KEYS.plan);
  if (plan !== undefined) return (JSON.parse(plan) as InstallPlan).version;
  return host.metadata.annotations?.[SIMULATED_KUBELET_ANNOTATION] ?? machineVersion(host, cache) ?? "";
}

/** The machine that a host works for: of its own namespace only, whatever it says. */
function machineOf(host: ByoHost, cache: Cache): ByoMachine | undefined {
  const target = resolveReference(host, host.spec?.machineRef ?? {}, "spec.machineRef");
  return "problem" in target ? undefined : cache.get(ByoMachine, target);
}

/** The Kubernetes version of the Machine that a host works for. */
function machineVersion(host: ByoHost, cache: Cache): string | undefined {
  const machine = machineOf(host, cache);
  return machine === undefined ? undefined : ownerMachine(cache, machine)?.spec.version;
}

function nodeFor(host: ByoHost, plan: JoinPlan, kubelet: string, clock: Clock): ReturnType<typeof nodeOf> {
  return nodeOf({
    name: plan.nodeName,
    providerID: plan.kubeletArgs["provider-id"] ?? "",
    labels: {},
    version: kubelet,
    addresses: [
      { type: "InternalIP", address: addressOf(host) },
      { type: "Hostname", address: plan.nodeName },
    ],
    capacity: { cpu: "8", memory: "32Gi", pods: "110" },
    failureDomain: undefined,
    taints: plan.taints,
    since: formatTime(clock.now()),
  });
}

/** The agent's report on itself and its host, at least once a minute. */
async function report(host: ByoHost, running: Running | undefined, context: ReconcileContext): Promise<Result> {
  const now = context.clock.now();
  const before = host.status;
  const lastMs = Date.parse(before?.lastHeartbeatTime ?? "");
  const due = Number.isNaN(lastMs) || now - lastMs >= HEARTBEAT_MS;
  const ready = { type: "Ready", status: "True" as const, reason: "AgentRunning", message: "simulated" };
  const since = before?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime ?? formatTime(now);
  const { namespace, name = "", annotations } = host.metadata;
  const kubelet = running?.kubelet ?? annotations?.[SIMULATED_KUBELET_ANNOTATION];
  const status: Status = {
    conditions: [{ ...ready, lastTransitionTime: since }],
    hostinfo: {
      hostname: name,
      osname: "linux",
      osimage: "simulated",
      architecture: "amd64",
      cpus: 8,
      memoryMiB: 32_768,
      ...(kubelet === undefined || kubelet === "" ? {} : { kubeletVersion: kubelet }),
    },
    network: [{ networkInterfaceName: "eth0", isDefault: true, connected: true, ipAddrs: [`${addressOf(host)}/8`] }],
    machineID: createHash("sha256").update(`${namespace}/${name}`).digest("hex").slice(0, 32),
    lastHeartbeatTime: due ? formatTime(now) : (before?.lastHeartbeatTime ?? formatTime(now)),
    ...bootstrapOf(host, running),
    ...releaseOf(host),
  };
  const { apiVersion, kind } = ByoHost;
  const desired = { apiVersion, kind, metadata: { namespace, name }, status } as unknown as ByoHost;
  await context.client.ensure(desired, host, { subresource: "status" }, context.signal);
  return requeueAfter(due ? HEARTBEAT_MS : lastMs + HEARTBEAT_MS - now);
}

function bootstrapOf(host: ByoHost, running: Running | undefined): Pick<Status, "bootstrap"> {
  if (running === undefined) return host.status?.bootstrap === undefined ? {} : { bootstrap: host.status.bootstrap };
  const { machineUID, joined, problem, guest } = running;
  const trouble = problem ?? guest?.problem;
  if (joined) return { bootstrap: { machineUID, phase: "Succeeded" } };
  return trouble === undefined
    ? { bootstrap: { machineUID, phase: "Running" } }
    : { bootstrap: { machineUID, phase: "Failed", message: trouble } };
}

function releaseOf(host: ByoHost): Pick<Status, "release"> {
  const release = host.spec?.release;
  return release === undefined ? {} : { release: { machineUID: release.machineUID, phase: "Released" } };
}

function addressOf({ metadata }: ByoHost): string {
  const bytes = createHash("sha256").update(`${metadata.namespace}/${metadata.name}`).digest();
  return `10.${bytes[0]}.${bytes[1]}.${bytes[2]}`;
}
