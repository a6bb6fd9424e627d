#!/usr/bin/env node
/**
 * Measures what clusters cost upstream's managers with their in-memory provider, next to a real kube-apiserver and etcd: the peer of
 * `npm run bench -- fleet --kubeadm`, whose file it reads. Prints one line of JSON. `--clusters N` at once for each of `--algorithms A,B`.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findCondition, systemClock, systemRandom } from "@capstan/apimachinery";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { parseAllDocuments } from "yaml";
import { startUpstream } from "../start-upstream.mjs";
import { startInMemoryProvider } from "./start.mjs";

const FILE = fileURLToPath(new URL("../../../bench/fleet/kubeadm-cluster.yaml", import.meta.url));
const TICKS_PER_SECOND = 100;
const LOOK_MS = 500;
const PATIENCE_MS = 20 * 60_000;
const CLUSTERS = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters";

/** The same for all clusters. */
let given;

const { values } = parseArgs({
  options: {
    clusters: { type: "string", default: "10" },
    algorithms: { type: "string", default: "ECDSA-P256" },
  },
});
const kubernetes = await startKubeApiserver({ controllerManager: true });
const started = [];
try {
  const upstream = await startUpstream(kubernetes, { managers: ["core", "bootstrap", "control-plane"] });
  started.push(upstream);
  const provider = await startInMemoryProvider(kubernetes);
  started.push(provider);
  const { etcd, apiserver } = kubernetes.components;
  const groups = { api: [etcd.pid, apiserver.pid], managers: [...upstream.pids, provider.pid] };
  const config = await loadKubeconfig({ clock: systemClock, path: kubernetes.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "user", clock: systemClock });
  const runs = [];
  for (const algorithm of values.algorithms.split(",")) {
    const clusters = Number(values.clusters);
    const names = Array.from({ length: clusters }, (_, index) => `fleet-${runs.length}-${index}`);
    if (!algorithm.startsWith("RSA-")) for (const name of names) await giveAuthorities(client, name);
    const before = used(groups);
    const begun = performance.now();
    await Promise.all(names.map((name) => create(client, name, algorithm)));
    await untilAvailable(transport, names);
    const seconds = (performance.now() - begun) / 1000;
    const after = used(groups);
    runs.push({
      algorithm,
      clusters,
      seconds,
      api: after.api - before.api,
      managers: after.managers - before.managers,
    });
    console.error(JSON.stringify(runs.at(-1)));
    await remove(client, transport, names);
  }
  await transport.close();
  console.log(JSON.stringify(runs));
} finally {
  for (const each of started.reverse()) await each.stop();
  await kubernetes.stop();
}

/** CPU seconds so far. */
function used(groups) {
  const seconds = (pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  };
  const sum = (pids) => pids.reduce((total, pid) => total + seconds(pid), 0);
  return { api: sum(groups.api), managers: sum(groups.managers) };
}

/**
 * The provider panics where an authority's key is not RSA ("interface conversion: crypto.Signer is *ecdsa.PrivateKey"). With other
 * algorithms a user brings the authorities, which costs upstream nothing; the key of the kubeconfig is of the algorithm.
 */
async function giveAuthorities(client, cluster) {
  given ??= await makeAuthorities();
  for (const purpose of ["ca", "etcd", "proxy", "sa"]) {
    await client.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: `${cluster}-${purpose}`,
        namespace: "default",
        labels: { "cluster.x-k8s.io/cluster-name": cluster },
      },
      type: "cluster.x-k8s.io/secret",
      stringData: purpose === "sa" ? given.account : given.authority,
    });
  }
}

async function makeAuthorities() {
  const algorithm = "RSA-2048";
  const validity = { notBeforeMs: Date.now() - 3600_000, validMs: 24 * 3600_000, random: systemRandom };
  const authority = await createCertificateAuthority({ commonName: "given", algorithm, ...validity });
  const account = await createServiceAccountKey(algorithm);
  return {
    authority: { "tls.crt": authority.certPem, "tls.key": authority.keyPem },
    account: { "tls.crt": account.publicKeyPem, "tls.key": account.privateKeyPem },
  };
}

async function create(client, name, algorithm) {
  const variables = { NAME: name, MACHINES: "1", ALGORITHM: algorithm };
  let text = readFileSync(FILE, "utf8").replaceAll("Memory", "Dev");
  for (const [variable, value] of Object.entries(variables)) text = text.replaceAll(`\${${variable}}`, value);
  for (const document of parseAllDocuments(text)) await client.create(inMemory(document.toJS()));
}

/** Says which of its backends the provider is to use. */
function inMemory(object) {
  if (object.kind === "DevMachineTemplate") object.spec.template.spec = { backend: { inMemory: {} } };
  if (object.kind !== "DevCluster") return object;
  // Without any annotation the provider writes into a map that is nil.
  object.metadata.annotations = { note: "fleet" };
  object.spec = { backend: { inMemory: {} } };
  return object;
}

async function untilAvailable(transport, names) {
  await until("all clusters are Available", async () => {
    const clusters = await list(transport);
    const available = clusters.filter(
      ({ status }) => findCondition(status?.conditions ?? [], "Available")?.status === "True",
    );
    return available.length >= names.length;
  });
}

async function remove(client, transport, names) {
  for (const name of names) {
    const metadata = { name, namespace: "default" };
    await client.delete({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata });
  }
  await until("all clusters are gone", async () => (await list(transport)).length === 0);
}

async function list(transport) {
  return (await transport.request({ method: "GET", path: CLUSTERS }))?.body.items ?? [];
}

async function until(what, holds) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not in ${PATIENCE_MS / 60_000} minutes: ${what}`);
    await sleep(LOOK_MS);
  }
}
