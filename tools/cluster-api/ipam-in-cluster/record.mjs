#!/usr/bin/env node
/**
 * Records what upstream's in-cluster IPAM provider makes of the stories in providers/core/testdata/ipam.stories.mjs. Needs
 * `npm run build` and `npm run kubernetes`; run it again after changing or adding stories. Names of stories as arguments record
 * only those again.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { STORIES } from "../../../providers/core/testdata/ipam.stories.mjs";
import { tell } from "../../../providers/core/testdata/ipam.tell.mjs";
import { startUpstream } from "../start-upstream.mjs";
import { ipamVersion, startIpamProvider } from "./start.mjs";

/** Upstream is asked every so often whether anything still happens. */
const LOOK_MS = 150;
const QUIET_LOOKS = 6;

const target = fileURLToPath(new URL("../../../providers/core/testdata/ipam.recorded.json", import.meta.url));
const only = process.argv.slice(2);
const before = only.length === 0 ? {} : JSON.parse(readFileSync(target, "utf8")).seen;
const kubernetes = await startKubeApiserver({ controllerManager: true });
const started = [];
try {
  started.push(await startUpstream(kubernetes, { managers: ["core"] }));
  started.push(await startIpamProvider(kubernetes));
  const config = await loadKubeconfig({ clock: systemClock, path: kubernetes.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "user", clock: systemClock });
  const seen = {};
  for (const [index, [name, story]] of Object.entries(STORIES).entries()) {
    if (only.length > 0 && !only.includes(name)) {
      seen[name] = before[name];
      continue;
    }
    seen[name] = await tell(client, story, { namespace: `story-${index}`, settle: () => untilQuiet(client) });
    console.log(`${name}: ${seen[name].map(({ code }) => code).join(" ")}`);
  }
  writeFileSync(target, `${JSON.stringify({ version: ipamVersion(), seen }, null, 1)}\n`);
  await transport.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const each of started.reverse()) await each.stop();
  await kubernetes.stop();
}

/** Nothing was written for about a second. */
async function untilQuiet(client) {
  let quiet = 0;
  let last = "";
  while (quiet < QUIET_LOOKS) {
    await sleep(LOOK_MS);
    const revisions = [];
    for (const [kind, version] of [
      ["IPAddressClaim", "v1beta2"],
      ["IPAddress", "v1beta2"],
      ["InClusterIPPool", "v1alpha2"],
      ["GlobalInClusterIPPool", "v1alpha2"],
      ["InClusterPrefixPool", "v1alpha2"],
      ["GlobalInClusterPrefixPool", "v1alpha2"],
    ]) {
      const { items } = await client.list(
        await client.kindOf({ apiVersion: `ipam.cluster.x-k8s.io/${version}`, kind }),
        {},
      );
      revisions.push(...items.map(({ metadata }) => `${metadata.uid}/${metadata.resourceVersion}`));
    }
    const now = revisions.join(" ");
    quiet = now === last ? quiet + 1 : 0;
    last = now;
  }
}
