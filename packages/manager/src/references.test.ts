import { type ApiError, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { webhookConfigurations } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";

/** References to other namespaces are refused by the API for every kind that can hold one. */
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
});
afterAll(() => server.close());

const INFRA = "infrastructure.cluster.x-k8s.io";
const machineRef = { apiVersion: `${INFRA}/v1beta2`, kind: "ByoMachine", name: "m", uid: "u" };
const installerRef = { apiVersion: `${INFRA}/v1beta2`, kind: "K8sInstallerConfigTemplate", name: "t" };
const image = { url: "http://images/a.iso", diskFormat: "live-iso" };
const old = (kind: string, name = "m") => ({ apiVersion: `${INFRA}/v1beta1`, kind, name });

type Case = [kind: string, apiVersion: string, field: string, specWith: (namespace: string) => object];
const CASES: Case[] = [
  [
    "BareMetalHost",
    "metal3.io/v1alpha1",
    "spec.consumerRef",
    (namespace) => ({ online: true, consumerRef: { name: "m", namespace } }),
  ],
  [
    "BareMetalHost",
    "metal3.io/v1alpha1",
    "spec.userData",
    (namespace) => ({ online: true, userData: { name: "s", namespace } }),
  ],
  ["ByoHost", `${INFRA}/v1beta2`, "spec.machineRef", (namespace) => ({ machineRef: { ...machineRef, namespace } })],
  [
    "ByoHost",
    `${INFRA}/v1beta1`,
    "spec.bootstrapSecret",
    (namespace) => ({ bootstrapSecret: { name: "s", namespace } }),
  ],
  [
    "ByoMachine",
    `${INFRA}/v1beta2`,
    "spec.installerRef",
    (namespace) => ({ installerRef: { ...installerRef, namespace } }),
  ],
  [
    "ByoMachineTemplate",
    `${INFRA}/v1beta2`,
    "spec.template.spec.installerRef",
    (namespace) => ({ template: { spec: { installerRef: { ...installerRef, namespace } } } }),
  ],
  [
    "Metal3Machine",
    `${INFRA}/v1beta2`,
    "spec.dataTemplate",
    (namespace) => ({ image, dataTemplate: { name: "d", namespace } }),
  ],
  [
    "Metal3MachineTemplate",
    `${INFRA}/v1beta1`,
    "spec.template.spec.dataTemplate",
    (namespace) => ({
      template: {
        spec: { image: { url: "http://i/a.iso", format: "live-iso" }, dataTemplate: { name: "d", namespace } },
      },
    }),
  ],
  ["Metal3DataClaim", `${INFRA}/v1beta2`, "spec.template", (namespace) => ({ template: { name: "d", namespace } })],
  [
    "Metal3Data",
    `${INFRA}/v1beta2`,
    "spec.claim",
    (namespace) => ({ index: 0, template: { name: "d" }, claim: { name: "c", namespace } }),
  ],
  ["IPClaim", "ipam.metal3.io/v1alpha1", "spec.pool", (namespace) => ({ pool: { name: "p", namespace } })],
  [
    "Cluster",
    "cluster.x-k8s.io/v1beta1",
    "spec.infrastructureRef",
    (namespace) => ({ infrastructureRef: { ...old("ByoCluster"), namespace } }),
  ],
  [
    "Machine",
    "cluster.x-k8s.io/v1beta1",
    "spec.infrastructureRef",
    (namespace) => ({
      clusterName: "c",
      bootstrap: { dataSecretName: "s" },
      infrastructureRef: { ...old("ByoMachine"), namespace },
    }),
  ],
  [
    "MachineHealthCheck",
    "cluster.x-k8s.io/v1beta1",
    "spec.remediationTemplate",
    (namespace) => ({
      clusterName: "c",
      selector: { matchLabels: { a: "b" } },
      unhealthyConditions: [{ type: "Ready", status: "False", timeout: "5m" }],
      remediationTemplate: { ...old("FooTemplate"), namespace },
    }),
  ],
];

let count = 0;
const create = async (kind: string, apiVersion: string, spec: object): Promise<string[]> => {
  const metadata = { namespace: "default", name: `x${count++}` };
  try {
    await client.create<Unstructured>({ apiVersion, kind, metadata, spec: spec as Record<string, unknown> });
    return [];
  } catch (error) {
    return (error as ApiError).status.details?.causes?.map(({ field = "" }) => field) ?? [String(error)];
  }
};

describe.each(CASES)("%s %s %s", (kind, apiVersion, field, specWith) => {
  test("is refused with another namespace", async () => {
    expect(await create(kind, apiVersion, specWith("other"))).toEqual([`${field}.namespace`]);
  });

  test("is accepted with its own namespace", async () => {
    expect(await create(kind, apiVersion, specWith("default"))).toEqual([]);
  });
});

test("is refused too when only the path of the request says the object's own namespace", async () => {
  const body = {
    apiVersion: "metal3.io/v1alpha1",
    kind: "BareMetalHost",
    metadata: { name: "bare" },
    spec: { online: true, consumerRef: { name: "m", namespace: "other" } },
  };
  const path = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts";
  const { status } = await server.admin().request({ method: "POST", path, body });
  expect(status).toBe(422);
});

test("the webhooks of a management cluster are called for kinds that only have references", () => {
  const [, validating] = webhookConfigurations(KINDS, "capstan", { type: "url", base: "https://127.0.0.1" });
  const webhooks = (validating?.["webhooks"] ?? []) as { name: string }[];
  const names = webhooks.map(({ name }) => name);
  for (const kind of ["byohost", "metal3data", "metal3dataclaim"])
    expect(names).toContain(`validation.${kind}.${INFRA}`);
});
