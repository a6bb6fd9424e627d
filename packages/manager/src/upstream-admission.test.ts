import { readFileSync } from "node:fs";
import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdmissionAnswer, ask } from "../testdata/admission.ask.mjs";
import { CASES } from "../testdata/admission.cases.mjs";
import { FOREIGN_CRDS } from "../testdata/admission.topology-cases.mjs";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";

type Answer = Omit<AdmissionAnswer, "message">;

/** Written by tools/cluster-api/record-admission.mjs from upstream's managers. */
const recorded: { answers: Record<string, Answer> } = JSON.parse(
  readFileSync(new URL("../testdata/admission.recorded.json", import.meta.url), "utf8"),
);

const operator = "matchExpressions[0].operator";

const sizeOf = (which: string): Partial<Answer> => ({
  code: 422,
  reason: "Invalid",
  fields: [`metadata.annotations.cluster.x-k8s.io/cluster-api-autoscaler-node-group-${which}-size`],
});
const SMALLEST = sizeOf("min");
const LARGEST = sizeOf("max");

const refusedAt = (...fields: string[]): Partial<Answer> => ({ code: 422, reason: "Invalid", fields });
const CLASS_WORKERS = "spec.workers.machineDeployments";
const DNS_TAG = "clusterConfiguration.dns.imageTag";
const TOKEN = "initConfiguration.bootstrapTokens[0].token";

/** Where our answer is another one on purpose: it names the field that is wrong. */
const OURS: Record<string, Partial<Answer>> = {
  // Upstream's path of an older version.
  "Cluster gets a topology later": { fields: ["spec.topology.classRef"] },
  "ClusterClass with versions out of order": { fields: ["spec.kubernetesVersions[1]"] },
  "ClusterClass that skips a minor version": { fields: ["spec.kubernetesVersions[1]"] },
  "KubeadmControlPlane with a bad DNS tag": {
    fields: ["spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag"],
  },
  "KubeadmControlPlane with a DNS tag that is no version": {
    fields: ["spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag"],
  },
  "Topology moves to a class that is not there": { fields: ["spec.topology.classRef"] },
  "Topology moves from a class that is not there": { fields: ["spec.topology.classRef"] },
  "Health checks of a control plane without a description": {
    fields: ["spec.topology.controlPlane.healthCheck.enabled"],
  },
  "Health checks of workers without a description": {
    fields: ["spec.topology.workers.machineDeployments[a].healthCheck.enabled"],
  },
  "ClusterClass of a kind that is no template": { fields: ["spec.infrastructure.templateRef.kind"] },
  // It is the whole reference that comes or goes.
  "ClusterClass gets machines for its control plane later": {
    fields: ["spec.controlPlane.machineInfrastructure.templateRef"],
  },
  // Nothing was made of the version yet: it may still be corrected.
  "Version rises without a control plane": { code: 200, reason: "", fields: [] },
  // Both the schema and the scale subresource refuse it.
  "MachineSet with negative replicas": { fields: [".spec.replicas", "spec.replicas"] },
  "MachineDeployment with a negative smallest size": { fields: [".spec.replicas", "spec.replicas"] },
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
  "IPAddress of another pool than its claim's": { code: 422, reason: "Invalid", fields: ["spec.poolRef"] },
  "MachineDeployment with a smallest size that is none": SMALLEST,
  "MachineDeployment with a largest size that is none": LARGEST,
  "MachineDeployment with an empty smallest size": SMALLEST,
  "MachineDeployment with a blank before its smallest size": SMALLEST,
  "MachineDeployment with a largest size beyond all numbers": LARGEST,
  "MachineDeployment handed over to sizes that are none": SMALLEST,
  "MachineSet with a smallest size that is none": SMALLEST,
  "MachineSet with a largest size that is none": LARGEST,
  "MachinePool with a smallest size that is none": SMALLEST,
  "MachinePool with a largest size that is none": LARGEST,
};

/** The same for the rules of classes, kubeadm and scale. */
const ALSO_OURS: Record<string, Partial<Answer>> = {
  // Upstream's paths lead nowhere: of an older version, or of another object.
  "MachinePool with a taint that is ours": refusedAt("spec.template.spec.taints"),
  "MachinePool with a control plane's taint": refusedAt("spec.template.spec.taints"),
  "ClusterClass with bad labels": refusedAt(`${CLASS_WORKERS}[w].metadata.labels`),
  "ClusterClass with bad labels of pools": refusedAt("spec.workers.machinePools[p].metadata.labels"),
  "ClusterClass of workers that are no template": refusedAt(`${CLASS_WORKERS}[0].infrastructure.templateRef.kind`),
  "Versions of a class with one that is none": refusedAt("spec.kubernetesVersions[0]"),
  "Versions of a class with a pre-release after": refusedAt("spec.kubernetesVersions[1]"),
  "Versions of a class of a vendor's builds the wrong way": refusedAt("spec.kubernetesVersions[1]"),
  "Versions of a class with one twice": refusedAt("spec.kubernetesVersions[1]"),
  "KubeadmControlPlaneTemplate with a DNS tag that is no version": refusedAt(
    `spec.template.spec.kubeadmConfigSpec.${DNS_TAG}`,
  ),
  // The cause is one level deeper.
  "Variable of a class with a map and properties": refusedAt(
    "spec.variables[v].schema.openAPIV3Schema.additionalProperties",
  ),
  "Variable of a class with a rule that costs too much": refusedAt(
    "spec.variables[v].schema.openAPIV3Schema",
    "spec.variables[v].schema.openAPIV3Schema.x-kubernetes-validations[0].rule",
  ),
  // No cluster could have it: versions of clusters get the prefix.
  "Versions of a class without the prefix": refusedAt("spec.kubernetesVersions[0]"),
  // The MachineDeployment that is made of it would be refused.
  "ClusterClass with a control plane's taint on workers": refusedAt(`${CLASS_WORKERS}[w].taints[0].key`),
  "Topology with a control plane's taint on workers": refusedAt(
    "spec.topology.workers.machineDeployments[a].taints[0].key",
  ),
  // Labels of templates can be patched too.
  "Patch of metadata": { code: 201, reason: "", fields: [] },
  // Upstream takes a part for 0.
  "KubeadmControlPlane that surges by a part": refusedAt("spec.rollout.strategy.rollingUpdate.maxSurge"),
  // Upstream cannot read the object, and says no more.
  "KubeadmConfig with a token that is none": refusedAt(`spec.${TOKEN}`),
  "KubeadmConfigTemplate with a token that is none": refusedAt(`spec.template.spec.${TOKEN}`),
  "KubeadmControlPlane with a token that is none": refusedAt(`spec.kubeadmConfigSpec.${TOKEN}`),
  "KubeadmControlPlaneTemplate with a token that is none": refusedAt(`spec.template.spec.kubeadmConfigSpec.${TOKEN}`),
  // Upstream's webhook of the subresource only says no.
  "Scale of a control plane to nothing": refusedAt("spec.replicas"),
  "Scale of a control plane to an even number": refusedAt("spec.replicas"),
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
  await server.registerCrds([...KINDS.map((kind) => kind.crd()), ...(FOREIGN_CRDS as Unstructured[])]);
  client = new Client(server.admin(), { fieldManager: "user", clock });
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }).catch(() => undefined);
});

afterAll(() => server.close());

test.each(Object.entries(CASES).map(([name, question], index) => ({ name, question, index })))(
  "upstream answers alike: $name",
  async ({ name, question, index }) => {
    const { message: _, ...answer } = await ask(client, question, { namespace: `case-${index}` });
    const { message: __, ...expected } = { message: "", ...recorded.answers[name], ...OURS[name], ...ALSO_OURS[name] };
    expect({ ...answer, fields: answer.fields.toSorted() }).toEqual(expected);
  },
);
