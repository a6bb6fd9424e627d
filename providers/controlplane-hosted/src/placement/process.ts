import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import {
  bindProblem,
  type PortAllocator,
  type ProcessWorkloads,
  type Program,
  type ProgramState,
} from "@capstan/workloads";
import { certificateSpecs } from "../certificates.ts";
import type { ComponentContext } from "../components/context.ts";
import { ETCD_FILES, etcdArguments } from "../components/etcd.ts";
import { KUBE_APISERVER_FILES, kubeApiserverArguments } from "../components/kube-apiserver.ts";
import {
  KUBE_CONTROLLER_MANAGER_FILES,
  kubeControllerManagerArguments,
} from "../components/kube-controller-manager.ts";
import { KUBE_SCHEDULER_FILES, kubeSchedulerArguments } from "../components/kube-scheduler.ts";
import { hostPort } from "../network.ts";
import { componentFiles, pickFiles } from "./component-files.ts";
import { LeafStore } from "./leaf-store.ts";
import type { ControlPlanePlan, Placement, PlacementState, Reservation, ReserveRequest } from "./placement.ts";

/** Finds the programs of a Kubernetes version on this machine. */
export interface Binaries {
  /** The folder that holds kube-apiserver, etcd and the others, or what to do to get them. */
  find(version: string): Promise<{ dir: string } | { missing: string; cure: string }>;
}

export interface ProcessPlacementOptions {
  root: string;
  workloads: ProcessWorkloads;
  ports: PortAllocator;
  binaries: Binaries;
  /** Address the API listens on and nodes use, when the HostedControlPlane does not say. */
  defaultAddress: string;
  clock: Clock;
  random: Random;
}

const PORT_NAMES = ["api", "etcdClient", "etcdPeer", "etcdMetrics", "controllerManager", "scheduler"] as const;
/** Stopping in this order lets each release what it holds in the next. */
const STOP_ORDER = ["kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"];

/** Rank of a program when a control plane stops: lower first. */
export function stopRank(programName: string): number {
  return STOP_ORDER.indexOf(programName);
}

/** A control plane as four supervised processes on this machine. */
export class ProcessPlacement implements Placement {
  private readonly options: ProcessPlacementOptions;
  private readonly leaves = new Map<string, LeafStore>();

  constructor(options: ProcessPlacementOptions) {
    this.options = options;
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    const bind = this.bindAddress(request.spec, request.endpoint?.host);
    const fixed = request.endpoint === undefined ? {} : { api: request.endpoint.port };
    let ports: Record<string, number>;
    try {
      ports = await this.options.ports.allocate(request.owner, [...PORT_NAMES], bind, fixed);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return {
        type: "failed",
        reason: "AddressNotUsable",
        message: `cannot listen on ${bind}: ${why}; set spec.expose.bindAddress to an address of this machine`,
      };
    }
    const endpoint = request.endpoint ?? { host: bind, port: ports["api"] ?? 0 };
    const running = (await this.options.workloads.list(request.owner)).some(
      (state) => state.id.name === "kube-apiserver",
    );
    const problem = running ? undefined : await bindProblem(bind, endpoint.port);
    if (problem !== undefined)
      return {
        type: "failed",
        reason: problem === "EADDRINUSE" ? "PortTaken" : "AddressNotUsable",
        message: `cannot listen on ${hostPort(bind, endpoint.port)}: ${problem}; free it, or choose another port or address in spec`,
      };
    return { type: "reserved", endpoint };
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    const found = await this.options.binaries.find(plan.version);
    if ("missing" in found)
      return {
        components: [],
        apiReady: false,
        problem: { reason: "BinariesMissing", message: `${found.missing}; ${found.cure}` },
      };
    const context = await this.context(plan);
    const files = await this.files(plan, context);
    const states = [
      await this.start(plan, "etcd", found.dir, etcdArguments(context), pickFiles(files, ETCD_FILES), {
        url: `http://127.0.0.1:${context.ports.etcdMetrics}/readyz`,
      }),
      await this.start(
        plan,
        "kube-apiserver",
        found.dir,
        kubeApiserverArguments(context),
        { ...pickFiles(files, KUBE_APISERVER_FILES), ...plan.userFiles.apiServer },
        { url: `https://${hostPort(loopbackOf(context.bindAddress), context.ports.api)}/readyz` },
      ),
    ];
    const apiReady = states[1]?.phase === "Ready";
    // kube-controller-manager gives up after ten seconds without an API: it starts when there is one.
    const known = await this.options.workloads.list(plan.owner);
    const laterStarted = known.some((state) => state.id.name === "kube-controller-manager");
    if (apiReady || laterStarted) {
      states.push(
        await this.start(
          plan,
          "kube-controller-manager",
          found.dir,
          kubeControllerManagerArguments(context),
          { ...pickFiles(files, KUBE_CONTROLLER_MANAGER_FILES), ...plan.userFiles.controllerManager },
          { url: `https://127.0.0.1:${context.ports.controllerManager}/healthz` },
        ),
        await this.start(
          plan,
          "kube-scheduler",
          found.dir,
          kubeSchedulerArguments(context),
          { ...pickFiles(files, KUBE_SCHEDULER_FILES), ...plan.userFiles.scheduler },
          { url: `https://127.0.0.1:${context.ports.scheduler}/healthz` },
        ),
      );
    }
    return { components: states.map(componentState), apiReady, ...(apiReady ? { version: plan.version } : {}) };
  }

  async hibernate(owner: string): Promise<PlacementState> {
    for (const name of STOP_ORDER) await this.options.workloads.stop({ owner, name });
    return { components: (await this.options.workloads.list(owner)).map(componentState), apiReady: false };
  }

  async remove(owner: string): Promise<string[]> {
    for (const name of STOP_ORDER) await this.options.workloads.remove({ owner, name });
    await this.options.workloads.removeOwner(owner);
    this.leaves.delete(owner);
    return [];
  }

  subscribe(listener: (owner: string) => void): () => void {
    return this.options.workloads.subscribe((id) => listener(id.owner));
  }

  private bindAddress(spec: ReserveRequest["spec"], endpointHost: string | undefined): string {
    return spec.expose?.bindAddress ?? endpointHost ?? this.options.defaultAddress;
  }

  private async context(plan: ControlPlanePlan): Promise<ComponentContext> {
    const bindAddress = this.bindAddress(plan.spec, plan.endpoint.host);
    const ports = await this.options.ports.allocate(plan.owner, [...PORT_NAMES], bindAddress, {
      api: plan.endpoint.port,
    });
    return {
      clusterName: plan.clusterName,
      version: plan.version,
      network: plan.network,
      spec: plan.spec,
      endpoint: plan.endpoint,
      bindAddress,
      ports: ports as ComponentContext["ports"],
    };
  }

  private async files(plan: ControlPlanePlan, context: ComponentContext): Promise<Record<string, string>> {
    const specs = certificateSpecs({
      version: plan.version,
      network: plan.network,
      endpointHost: plan.endpoint.host,
      extraSANs: [context.bindAddress, ...(plan.spec.expose?.certSANs ?? [])].filter(
        (name) => name !== "0.0.0.0" && name !== "::",
      ),
      etcdSANs: [],
    });
    let store = this.leaves.get(plan.owner);
    if (store === undefined) {
      store = new LeafStore(join(this.options.root, plan.owner), this.options.clock, this.options.random);
      this.leaves.set(plan.owner, store);
    }
    const leaves = await store.ensure(
      specs,
      plan.authorities,
      plan.spec.certificates?.encryptionAlgorithm ?? "ECDSA-P256",
    );
    const local = `https://${hostPort(loopbackOf(context.bindAddress), context.ports.api)}`;
    return componentFiles(plan.authorities, leaves, local, plan.clusterName);
  }

  private start(
    plan: ControlPlanePlan,
    name: string,
    dir: string,
    args: string[],
    secretFiles: Record<string, string>,
    probe: { url: string },
  ): Promise<ProgramState> {
    const memory = name === "kube-apiserver" ? plan.spec.apiServer?.memoryBytes : undefined;
    const program: Program = {
      id: { owner: plan.owner, name },
      command: join(dir, name),
      args,
      secretFiles,
      dataDir: name === "etcd",
      probe,
      stopTimeoutMs: 5000,
      ...(memory === undefined ? {} : { memoryBytes: memory }),
    };
    return this.options.workloads.ensure(program);
  }
}

function componentState(state: ProgramState): PlacementState["components"][number] {
  return { name: state.id.name, ready: state.phase === "Ready", message: state.message, restarts: state.restarts };
}

/** A server that listens everywhere is reached on loopback; one bound to an address is reached there. */
function loopbackOf(bindAddress: string): string {
  if (bindAddress === "0.0.0.0") return "127.0.0.1";
  return bindAddress === "::" ? "::1" : bindAddress;
}
