#!/usr/bin/env node
/**
 * Records what upstream's managers answer to the cases in packages/manager/testdata/admission.cases.mjs: the status, the reason and
 * the fields that the causes name. Needs `npm run build` and `npm run kubernetes`; run it again after changing or adding cases.
 */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { ask } from "../../packages/manager/testdata/admission.ask.mjs";
import { CASES } from "../../packages/manager/testdata/admission.cases.mjs";
import { FOREIGN_CRDS } from "../../packages/manager/testdata/admission.topology-cases.mjs";
import { startUpstream, upstreamVersion } from "./start-upstream.mjs";

const target = fileURLToPath(new URL("../../packages/manager/testdata/admission.recorded.json", import.meta.url));
const kubernetes = await startKubeApiserver();
let upstream;
try {
  upstream = await startUpstream(kubernetes, {
    managers: ["core", "bootstrap", "control-plane"],
    featureGates:
      "ClusterTopology=true,MachinePool=true,MachineTaintPropagation=true,KubeadmBootstrapFormatIgnition=true",
  });
  const config = await loadKubeconfig({ clock: systemClock, path: kubernetes.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "user", clock: systemClock });
  for (const definition of FOREIGN_CRDS) await client.create(definition);
  const ready = (given) => untilReconciled(client, given);
  const answers = {};
  for (const [index, [name, question]] of Object.entries(CASES).entries()) {
    const answer = await ask(client, question, { namespace: `case-${index}`, ready });
    answers[name] = answer;
    console.log(`${name}: ${answer.code} ${answer.fields.join(" ")}${answer.unexpected ?? ""}`);
  }
  writeFileSync(target, `${JSON.stringify({ version: upstreamVersion(), answers }, null, 2)}\n`);
  await transport.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await upstream?.stop();
  await kubernetes.stop();
}

/** Upstream's webhooks read classes that its controller has finished, and the rest from a cache that follows. */
async function untilReconciled(client, given) {
  for (const object of given.filter(({ kind }) => kind === "ClusterClass")) {
    for (let attempt = 0; ; attempt++) {
      const { metadata, status } = await client.get(await client.kindOf(object), object.metadata);
      const ready = status?.conditions?.find(({ type }) => type === "VariablesReady");
      if (status?.observedGeneration === metadata.generation && ready?.status === "True") break;
      if (attempt > 100) throw new Error(`ClusterClass ${object.metadata.name}: ${JSON.stringify(status)}`);
      await sleep(100);
    }
  }
  await sleep(500);
}
