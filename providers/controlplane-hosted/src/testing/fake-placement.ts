import type {
  ControlPlanePlan,
  Placement,
  PlacementState,
  Reservation,
  ReserveRequest,
} from "../placement/placement.ts";

/** A placement that runs nothing and returns what a test sets, to test the controller. */
export class FakePlacement implements Placement {
  reservation: Reservation | undefined;
  state: PlacementState = { components: [], apiReady: false };
  plans: ControlPlanePlan[] = [];
  reserved: ReserveRequest[] = [];
  hibernated: string[] = [];
  removed: string[] = [];
  snapshots: string[] = [];
  /** What removal still waits for. */
  left: string[] = [];
  failure: Error | undefined;
  readonly #listeners = new Set<(owner: string) => void>();

  reserve(request: ReserveRequest): Promise<Reservation> {
    this.reserved.push(request);
    const endpoint = request.endpoint ?? { host: "10.0.0.1", port: 6443 };
    return Promise.resolve(this.reservation ?? { type: "reserved", endpoint });
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    this.plans.push(plan);
    if (this.failure !== undefined) throw this.failure;
    await plan.restore?.snapshotFile();
    const upgrade = plan.version === this.state.version ? undefined : plan.upgradeRefusal?.();
    return upgrade === undefined ? this.state : { ...this.state, upgrade };
  }

  observe(): Promise<PlacementState> {
    return Promise.resolve(this.state);
  }

  hibernate(owner: string): Promise<PlacementState> {
    this.hibernated.push(owner);
    return Promise.resolve({ components: [], apiReady: false });
  }

  remove(owner: string): Promise<string[]> {
    this.removed.push(owner);
    return Promise.resolve(this.left);
  }

  async snapshot(_plan: ControlPlanePlan, file: string): Promise<void> {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(file, "snapshot");
    this.snapshots.push(file);
  }

  subscribe(listener: (owner: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes the state and notifies the listener. */
  report(state: PlacementState, owner = "default/c1"): void {
    this.state = state;
    for (const listener of this.#listeners) listener(owner);
  }

  /** Everything runs. */
  static ready(version = "v1.34.4"): PlacementState {
    const names = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
    const components = names.map((name) => ({ name, ready: true, message: "", restarts: 0 }));
    return { components, apiReady: true, readyReplicas: 1, version };
  }
}
