import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, type Node, type WorkloadConnection } from "@capstan/capi";
import { openDialGate } from "@capstan/runtime";
import { expect } from "vitest";
import { Plane } from "../../../core/src/testing/plane.ts";
import { hostedControlPlaneController } from "../controller.ts";
import { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import { FakePlacement } from "./fake-placement.ts";

const namespace = "default";
const key = { namespace, name: "c1" };

/** A management plane in virtual time with the hosted control plane's controller, a fake placement and an API for it to fill. */
export class HostedPlane {
  readonly plane: Plane;
  readonly placement: FakePlacement;
  readonly workload: ApiServer;
  readonly backupDir: string;
  /** Nodes of the cluster with their kubelets' versions; undefined when the cluster is not reached. */
  readonly nodes: { kubelets: Record<string, string> | undefined };

  private constructor(
    plane: Plane,
    placement: FakePlacement,
    workload: ApiServer,
    backupDir: string,
    nodes: HostedPlane["nodes"],
  ) {
    this.nodes = nodes;
    this.plane = plane;
    this.placement = placement;
    this.workload = workload;
    this.backupDir = backupDir;
  }

  static async start(clock = new VirtualClock()): Promise<HostedPlane> {
    const backupDir = await mkdtemp(join(tmpdir(), "capstan-backups-"));
    const placement = new FakePlacement();
    const nodes: HostedPlane["nodes"] = { kubelets: {} };
    const workload = await createApiServer({ store: memoryStore(), clock, random: seededRandom(3) });
    const plane = await Plane.start({
      crds: [Cluster, HostedControlPlane].map((kind) => kind.crd()),
      clock,
      controllers: () => [
        hostedControlPlaneController({
          placements: { Process: placement },
          defaultPlacement: "Process",
          prepared: new Map(),
          workload: { get: () => connectionOf(nodes.kubelets), subscribe: () => () => undefined },
          backupDir,
          gate: openDialGate(),
          dial: () => workload.admin(),
        }),
      ],
    });
    return new HostedPlane(plane, placement, workload, backupDir, nodes);
  }

  async close(): Promise<void> {
    await this.plane.close();
    await rm(this.backupDir, { recursive: true, force: true });
  }

  /**
   * Repeats a check until it holds. Keys and files are made in real time, which turns of the event loop give and the virtual clock
   * does not; the number of turns bounds it, not a time.
   */
  async eventually(check: () => Promise<void>): Promise<void> {
    for (let turn = 0; ; turn++) {
      try {
        await check();
        return;
      } catch (error) {
        if (turn > 2000) throw error;
      }
      await stat(this.backupDir);
      await this.plane.settle(3);
    }
  }

  /** Waits for a condition with this status, reason and message. */
  told(type: string, text: string | RegExp): Promise<void> {
    return this.eventually(async () => {
      if (typeof text === "string") expect(await this.condition(type)).toBe(text);
      else expect(await this.condition(type)).toMatch(text);
    });
  }

  /** A Cluster and its HostedControlPlane, both named c1. */
  async create(spec: object = {}, cluster: object = {}, metadata: object = {}): Promise<void> {
    const { user } = this.plane;
    const owner = (await user.create({
      apiVersion: Cluster.apiVersion,
      kind: "Cluster",
      metadata: { ...key },
      spec: {
        controlPlaneRef: { apiGroup: HostedControlPlane.group, kind: HostedControlPlane.kind, name: "c1" },
        ...cluster,
      },
    } as Unstructured)) as Cluster;
    await user.create({
      apiVersion: HostedControlPlane.apiVersion,
      kind: HostedControlPlane.kind,
      metadata: {
        ...key,
        ...metadata,
        ownerReferences: [{ apiVersion: Cluster.apiVersion, kind: "Cluster", name: "c1", uid: owner.metadata.uid }],
      },
      spec: { version: "v1.34.4", ...spec },
    } as Unstructured);
  }

  async get(): Promise<HostedControlPlane> {
    const found = await this.plane.user.get(HostedControlPlane, key);
    if (found === undefined) throw new Error("gone");
    return found;
  }

  /** `STATUS REASON: MESSAGE` of a condition. */
  async condition(type: string): Promise<string> {
    const found = findCondition(conditionsOf(await this.get()), type);
    return found === undefined ? "none" : `${found.status} ${found.reason}: ${found.message}`;
  }

  /** Lets the placement report that everything runs, and waits until that is reported. */
  async ready(version = "v1.34.4"): Promise<void> {
    await this.eventually(async () => expect(this.placement.plans).not.toEqual([]));
    this.placement.report(FakePlacement.ready(version));
    await this.eventually(async () => expect((await this.get()).status).toMatchObject({ version, readyReplicas: 1 }));
  }
}

function connectionOf(kubelets: Record<string, string> | undefined): WorkloadConnection {
  if (kubelets === undefined) return { state: "down", since: 0, error: "connect ECONNREFUSED" };
  const all = Object.entries(kubelets).map(
    ([name, kubeletVersion]) =>
      ({ apiVersion: "v1", kind: "Node", metadata: { name }, status: { nodeInfo: { kubeletVersion } } }) as Node,
  );
  const nodes = { list: () => all, get: () => undefined, byProviderID: () => undefined };
  return { state: "connected", since: 0, client: undefined as never, nodes };
}
