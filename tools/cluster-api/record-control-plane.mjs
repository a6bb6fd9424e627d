#!/usr/bin/env node
/**
 * Records what upstream's managers make of the stories in providers/controlplane-kubeadm/testdata/control-plane.stories.mjs, on the
 * in-memory provider of upstream's test module: one file per story. Needs `npm run build` and `npm run kubernetes`; run it again
 * after changing or adding stories. Names of stories as arguments record only those; `--at-once N` is how many are played together.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { DEFAULTS, STORIES } from "../../providers/controlplane-kubeadm/testdata/control-plane.stories.mjs";
import { tell } from "../../providers/controlplane-kubeadm/testdata/control-plane.tell.mjs";
import { startInMemoryProvider } from "./in-memory/start.mjs";
import { InMemoryWorld } from "./in-memory/world.mjs";
import { startUpstream, upstreamVersion } from "./start-upstream.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "at-once": { type: "string", default: "8" }, logs: { type: "string" }, out: { type: "string" } },
});
const target =
  values.out ??
  fileURLToPath(new URL("../../providers/controlplane-kubeadm/testdata/upstream/stories", import.meta.url));
const names = Object.keys(STORIES).filter((name) => positionals.length === 0 || positionals.includes(name));
if (names.length === 0) throw new Error(`no such story: ${positionals.join(", ")}`);

mkdirSync(target, { recursive: true });
const kubernetes = await startKubeApiserver({ controllerManager: true });
const started = [];
try {
  const managers = ["core", "bootstrap", "control-plane"];
  started.push(await startUpstream(kubernetes, { managers, featureGates: "ClusterTopology=true" }));
  started.push(await startInMemoryProvider(kubernetes));
  const config = await loadKubeconfig({ clock: systemClock, path: kubernetes.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "user", clock: systemClock });
  const waiting = [...names.entries()];
  await Promise.all(
    Array.from({ length: Number(values["at-once"]) }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await record(client, ...next);
    }),
  );
  await transport.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  if (values.logs !== undefined) cpSync(join(kubernetes.dir, "log"), values.logs, { recursive: true });
  for (const each of started.reverse()) await each.stop();
  await kubernetes.stop();
}

async function record(client, index, name) {
  const story = STORIES[name];
  const world = new InMemoryWorld({
    client,
    namespace: `story-${index}`,
    version: story.version ?? DEFAULTS.version,
  });
  const begin = Date.now();
  try {
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: world.namespace } });
    const seen = await tell(world, story);
    const file = join(target, `${name.replaceAll(" ", "-")}.golden.json`);
    const text = `${JSON.stringify({ upstream: upstreamVersion(), story: name, ...seen }, null, 1)}\n`;
    const before = tryRead(file);
    writeFileSync(file, text);
    const result = before === undefined ? "new" : before === text ? "same" : "DIFFERENT";
    console.log(`${name}: ${result}, ${Math.round((Date.now() - begin) / 1000)} s`);
    const cluster = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster" };
    // It costs the stories that follow their time otherwise.
    await client.delete({ ...cluster, metadata: { name: "c", namespace: world.namespace } }).catch(() => undefined);
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await world.close();
  }
}

function tryRead(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
