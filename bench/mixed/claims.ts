/** Many machines of two providers that claim as many hosts at once. */
import { formatTime, systemClock, type Unstructured } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, Cluster, Machine, type WorkloadClusters } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine, byohProvider } from "@capstan/infra-byoh";
import { BareMetalHost, Metal3Machine, metal3Provider } from "@capstan/infra-metal3";
import { objectOf, World } from "./world.ts";

const LABELS = { [CLUSTER_NAME_LABEL]: "c1" };
const IMAGE = { url: "http://images.example/node.iso", diskFormat: "live-iso" };
const NO_CLUSTERS: WorkloadClusters = {
  get: () => ({ state: "connecting", since: 0, error: "not part of this figure" }),
  subscribe: () => () => undefined,
};

export interface ClaimsFigure {
  seconds: number;
  writes: number;
  /** Hosts with two machines, or machines with two hosts. */
  twice: number;
}

/** Has `count` machines of each provider claim `count` hosts of each. */
export async function claimHosts(count: number): Promise<ClaimsFigure> {
  const world = await World.start();
  await cluster(world);
  const names = Array.from({ length: count }, (_, i) => String(i).padStart(5, "0"));
  const metal = names.map((name) => objectOf(BareMetalHost, `metal-${name}`, { online: false }));
  const own = names.map((name) => objectOf(ByoHost, `own-${name}`, {}));
  await world.create([...metal, ...own]);
  await world.report(metal, ({ metadata }) => ({
    operationalStatus: "OK",
    errorMessage: "",
    errorCount: 0,
    poweredOn: false,
    provisioning: { state: "available", ID: metadata.name },
  }));
  const now = formatTime(systemClock.now());
  const ready = { type: "Ready", status: "True", reason: "AgentRunning", message: "", lastTransitionTime: now };
  await world.report(own, ({ metadata }) => ({
    conditions: [ready],
    machineID: metadata.name,
    lastHeartbeatTime: now,
  }));
  await world.create([
    ...(await machines(world, Metal3Machine, names, "metal", { image: IMAGE })),
    ...(await machines(world, ByoMachine, names, "own", {})),
  ]);
  const holders = follow(world);
  const providers = [metal3Provider(), byohProvider()];
  const begun = performance.now();
  world.run({
    addIndexes: (cache) => {
      for (const provider of providers) provider.addIndexes(cache);
    },
    controllers: () => providers.flatMap((provider) => provider.controllers({ workload: NO_CLUSTERS })),
  });
  await world.until(() => holders.size >= 2 * count);
  const seconds = (performance.now() - begun) / 1000;
  await world.untilQuiet();
  const twice = [...holders.values()].length - new Set(holders.values()).size;
  const { writes } = world;
  await world.close();
  return { seconds, writes, twice };
}

async function cluster(world: World): Promise<void> {
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MetaCluster", name: "c1" };
  const spec = { controlPlaneEndpoint: { host: "h", port: 6443 }, infrastructureRef };
  const created = await world.client.create(objectOf(Cluster, "c1", spec));
  const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  await world.client.patchStatus(created, { status: { initialization } });
}

/** Machines with bootstrap data, and the objects of their provider, not created yet. */
async function machines(
  world: World,
  kind: { group: string; apiVersion: string; kind: string },
  names: readonly string[],
  prefix: string,
  spec: object,
): Promise<Unstructured[]> {
  const owners = names.map((name) => {
    const infrastructureRef = { apiGroup: kind.group, kind: kind.kind, name: `${prefix}-${name}` };
    const configRef = { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name: "x" };
    const body = { clusterName: "c1", bootstrap: { configRef, dataSecretName: "x" }, infrastructureRef };
    return objectOf(Machine, `${prefix}-${name}`, body, { labels: LABELS });
  });
  await world.create(owners);
  return owners.map(({ metadata }) => {
    const live = world.server.internal.get(Machine, "default", metadata.name ?? "");
    const owner = {
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      name: metadata.name ?? "",
      uid: live?.metadata.uid ?? "",
    };
    return objectOf(kind, metadata.name ?? "", spec, { labels: LABELS, ownerReferences: [owner] });
  });
}

/** Which machine holds which host, as the API says. */
function follow(world: World): Map<string, string> {
  const holders = new Map<string, string>();
  const note = (host: string, machine: string | undefined): void => {
    if (machine === undefined) holders.delete(host);
    else holders.set(host, machine);
  };
  world.server.internal.watch(BareMetalHost, ({ name, object }) =>
    note(name, (object as BareMetalHost | undefined)?.spec.consumerRef?.name),
  );
  world.server.internal.watch(ByoHost, ({ name, object }) =>
    note(name, (object as ByoHost | undefined)?.spec?.machineRef?.name),
  );
  return holders;
}
