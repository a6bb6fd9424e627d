import { createKeyPair } from "@capstan/pki";
import { type Figure, figure, report } from "../lib/result.ts";
import { cpuSeconds } from "../lib/usage.ts";
import { type Built, Fleet, namesOf } from "./fleet.ts";
import { inventory, manifests } from "./load.ts";
import { machines } from "./machines.ts";
import { type Plane, startPlane } from "./plane.ts";
import { type Peer, upstream } from "./upstream.ts";

const ECDSA = "ECDSA-P256";
/** kubeadm's default. */
const RSA = "RSA-2048";
const PEER_CLUSTERS = 10;
const SAMPLE_KEYS = 20;
const SECRETS = { group: "", plural: "secrets" };

/** Clusters with control planes on machines, in the long form next to upstream's managers. */
export async function measure(short: boolean): Promise<void> {
  const sizes = short ? [1, 20] : [1, 10, 50, 100];
  const [some, many] = short ? [10, 40] : [100, 1000];
  const idleSeconds = short ? 10 : 60;
  const peers = short ? [] : upstream(PEER_CLUSTERS, [ECDSA, RSA]);

  const plane = await startPlane();
  const of = (machines: number, algorithm: string): Fleet =>
    new Fleet(plane, manifests("kubeadm-cluster.yaml", { MACHINES: String(machines), ALGORITHM: algorithm }), machines);
  await once(of(1, ECDSA), ["warm"]);
  const empty = inventory(plane.server);
  const figures: Figure[] = [];
  const add = (...more: readonly Figure[]): void => {
    figures.push(...more);
    for (const { name, value, unit } of more) console.log(`${name}: ${value.toFixed(2)} ${unit}`);
  };
  for (const algorithm of [ECDSA, RSA])
    for (const size of sizes) add(availableIn(size, algorithm, await once(of(1, algorithm), namesOf("one-", size))));
  for (const peer of peers) add(...(await nextToPeer(plane, of(1, peer.algorithm), peer)));

  const fewer = await once(of(3, ECDSA), namesOf("some-", some));
  const fleet = of(3, ECDSA);
  const names = namesOf("many-", many);
  const more = await fleet.build(names);
  await fleet.untilQuiet();
  const idle = await fleet.idle(idleSeconds);
  const deleteSeconds = await fleet.destroy(names);
  const left = await fleet.leftovers(empty);
  await plane.close();

  const ratio = more.cpu / many / (fewer.cpu / some);
  add(
    figure(`${many} of 3 machines Available`, more.seconds, "s", "printed", true),
    figure(`CPU per cluster of 3 machines, ${some}`, (1000 * fewer.cpu) / some, "ms", "printed", true),
    figure(`cost per cluster, ${many} over ${some}`, ratio, "x", "<= 1.3", ratio <= 1.3),
    figure(`idle writes in ${idleSeconds} s`, idle.writes, "", "0", idle.writes === 0),
    figure("idle CPU", idle.cores, "cores", "< 0.05", idle.cores < 0.05),
    figure(`resident with ${many}`, idle.mib, "MiB", "printed", true),
    figure(`deleting ${many}`, deleteSeconds, "s", "printed", true),
    figure("left over", left.length, "kinds", "0", left.length === 0),
  );
  if (!short) add(...machines());
  report("fleet --kubeadm", figures);
}

/** Goals are set for one cluster and for a hundred. */
function availableIn(size: number, algorithm: string, { seconds }: Built): Figure {
  const limit = size === 1 ? 1 : size === 100 ? 8 : Infinity;
  const goal = Number.isFinite(limit) ? `< ${limit} s` : "printed";
  return figure(`${size} with ${algorithm} Available`, seconds, "s", goal, seconds < limit);
}

/** Builds clusters and deletes them again. */
async function once(fleet: Fleet, names: readonly string[]): Promise<Built> {
  const built = await fleet.build(names);
  await fleet.destroy(names);
  await fleet.untilQuiet();
  return built;
}

/** As many clusters as the peer made, and what share of that was making keys. */
async function nextToPeer(
  plane: Plane,
  fleet: Fleet,
  { algorithm, cpuPerCluster, seconds: peerSeconds }: Peer,
): Promise<Figure[]> {
  const names = namesOf("peer-", PEER_CLUSTERS);
  const { cpu, seconds } = await fleet.build(names);
  const keys = keysOf(plane, names[0] ?? "");
  await fleet.destroy(names);
  await fleet.untilQuiet();
  const ours = cpu / PEER_CLUSTERS;
  const times = algorithm === RSA ? 10 : 50;
  const share = (100 * keys * (await cpuPerKey(algorithm))) / ours;
  const available = figure(`${PEER_CLUSTERS} with ${algorithm} Available`, seconds, "s", "printed", true);
  const goal = `<= 1/${times} of the peer`;
  const cost = figure(`CPU per cluster, ${algorithm}`, 1000 * ours, "ms", goal, ours * times <= cpuPerCluster);
  return [
    { ...available, peer: peerSeconds },
    { ...cost, peer: 1000 * cpuPerCluster },
    figure(`of it for ${keys} keys, ${algorithm}`, share, "%", "printed", true),
  ];
}

/** How many private keys the Secrets of a cluster hold. */
function keysOf(plane: Plane, cluster: string): number {
  const values = plane.server.internal
    .list(SECRETS)
    .filter(({ metadata }) => metadata.name?.startsWith(`${cluster}-`))
    .flatMap((secret) => Object.entries((secret["data"] ?? {}) as Record<string, string>));
  return values.filter(([name, value]) => {
    const text = Buffer.from(value, "base64").toString();
    return name === "tls.key" || (name === "value" && text.includes("client-key-data"));
  }).length;
}

async function cpuPerKey(algorithm: string): Promise<number> {
  const before = cpuSeconds(process.pid);
  for (let i = 0; i < SAMPLE_KEYS; i++) await createKeyPair(algorithm === RSA ? RSA : ECDSA);
  return (cpuSeconds(process.pid) - before) / SAMPLE_KEYS;
}
