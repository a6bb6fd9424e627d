import { readFileSync } from "node:fs";
import { ApiError, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CASES } from "../testdata/admission.cases.mjs";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";

interface Answer {
  code: number;
  reason: string;
  fields: string[];
}

/** Written by tools/cluster-api/record-admission.mjs from upstream's managers. */
const recorded: { answers: Record<string, Answer> } = JSON.parse(
  readFileSync(new URL("../testdata/admission.recorded.json", import.meta.url), "utf8"),
);

const operator = "matchExpressions[0].operator";

/** Where our answer is another one on purpose: it names the field that is wrong. */
const OURS: Record<string, Partial<Answer>> = {
  // Upstream's path of an older version.
  "Cluster gets a topology later": { fields: ["spec.topology.classRef"] },
  "ClusterClass with versions out of order": { fields: ["spec.kubernetesVersions[1]"] },
  "ClusterClass that skips a minor version": { fields: ["spec.kubernetesVersions[1]"] },
  "KubeadmControlPlane with a bad DNS tag": {
    fields: ["spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag"],
  },
  // Both the schema and the scale subresource refuse it.
  "MachineSet with negative replicas": { fields: [".spec.replicas", "spec.replicas"] },
  // The schema already knows the operators, upstream's webhook only the selector.
  "MachineSet with a bad selector": { fields: [`spec.selector.${operator}`] },
  "MachineHealthCheck with a bad selector": { fields: ["<nil>", `spec.selector.${operator}`] },
  "ClusterResourceSet with a bad selector": { fields: [`spec.clusterSelector.${operator}`] },
  "MachineDrainRule with a bad selector": { fields: ["<nil>", `spec.machines[0].selector.${operator}`] },
  // Upstream's webhook answers with a bare text, which the API server takes for a prohibition.
  "IPAddressClaim changes its pool": { code: 422, reason: "Invalid", fields: ["spec"] },
  "IPAddress that is none": { code: 422, reason: "Invalid", fields: ["spec.address"] },
  "IPAddress with a prefix too long": { code: 422, reason: "Invalid", fields: ["spec.prefix"] },
  "IPAddress with a gateway that is none": { code: 422, reason: "Invalid", fields: ["spec.gateway"] },
  "IPAddress changes": { code: 422, reason: "Invalid", fields: ["spec"] },
};

let server: ApiServer;
let client: Client;

beforeAll(async () => {
  const clock = new VirtualClock();
  let running: ApiServer | undefined;
  const rules = kindRules(KINDS, () => running);
  server = await createApiServer({
    store: memoryStore(),
    clock,
    random: seededRandom(1),
    controllers: false,
    ...rules,
  });
  running = server;
  await server.registerCrds(KINDS.map((kind) => kind.crd()));
  client = new Client(server.admin(), { fieldManager: "user", clock });
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }).catch(() => undefined);
});

afterAll(() => server.close());

async function answerOf(create: Unstructured, change: object | undefined): Promise<Answer> {
  try {
    await client.create(create, { dryRun: change === undefined });
    if (change === undefined) return { code: 201, reason: "", fields: [] };
    try {
      await client.patch(create, change, { dryRun: true });
      return { code: 200, reason: "", fields: [] };
    } finally {
      await client.delete(create);
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code = 0, reason = "", details } = error.status;
    return { code, reason, fields: [...new Set((details?.causes ?? []).map(({ field }) => field ?? ""))].sort() };
  }
}

test.each(Object.entries(CASES))("upstream answers alike: %s", async (name, { create, change }) => {
  const { code, reason, fields } = { ...recorded.answers[name], ...OURS[name] };
  expect(await answerOf(create as Unstructured, change)).toEqual({ code, reason, fields });
});
