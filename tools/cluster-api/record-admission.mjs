#!/usr/bin/env node
/**
 * Records what upstream's managers answer to the cases in packages/manager/testdata/admission.cases.mjs: the status, the reason and
 * the fields that the causes name. Needs `npm run build` and `npm run kubernetes`; run it again after changing or adding cases.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { CASES } from "../../packages/manager/testdata/admission.cases.mjs";
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
  const answers = {};
  for (const [name, { create, change }] of Object.entries(CASES)) {
    answers[name] = await answerOf(client, create, change);
    console.log(`${name}: ${answers[name].code} ${answers[name].fields.join(" ")}`);
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

/** Tries without leaving anything that controllers would act upon: creations are dry runs unless a change follows. */
async function answerOf(client, create, change) {
  try {
    await client.create(create, { dryRun: change === undefined });
  } catch (error) {
    return { ...answer(error), ...(change === undefined ? {} : { unexpected: "refused on creation" }) };
  }
  if (change === undefined) return { code: 201, reason: "", fields: [], message: "" };
  try {
    await client.patch(create, change, { dryRun: true });
    return { code: 200, reason: "", fields: [], message: "" };
  } catch (error) {
    return answer(error);
  } finally {
    await client.patch(create, { metadata: { finalizers: null } }).catch(() => undefined);
    await client.delete(create).catch(() => undefined);
    await client.patch(create, { metadata: { finalizers: null } }).catch(() => undefined);
  }
}

function answer(error) {
  if (error.status?.code === undefined) throw error;
  const { code, reason, message, details } = error.status;
  const fields = new Set((details?.causes ?? []).map(({ field }) => field));
  return { code, reason, fields: [...fields].sort((a, b) => (a < b ? -1 : 1)), message };
}
