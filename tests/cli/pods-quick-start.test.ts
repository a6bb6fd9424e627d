import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { field } from "@capstan/capi";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandPlane } from "./plane.ts";

let plane: CommandPlane;
let folder: string;

/** The variables of the quick start of cluster-api-provider-kubernetes. */
const VARIABLES = {
  KUBERNETES_CONTROL_PLANE_SERVICE_TYPE: "LoadBalancer",
  KUBERNETES_CONTROLLER_MACHINE_CPU_REQUEST: "1",
  KUBERNETES_CONTROLLER_MACHINE_MEMORY_REQUEST: "2Gi",
  KUBERNETES_WORKER_MACHINE_CPU_REQUEST: "1",
  KUBERNETES_WORKER_MACHINE_MEMORY_REQUEST: "1Gi",
};
const STORAGE = { ETCD_STORAGE_CLASS_NAME: "fast", ETCD_STORAGE_SIZE: "1Gi" };

beforeAll(async () => {
  plane = await CommandPlane.start();
  folder = await mkdtemp(join(tmpdir(), "capstan-quick-start-"));
});
afterAll(async () => {
  await plane.stop();
  await rm(folder, { recursive: true, force: true });
});

async function generate(flavor: string, variables: object): Promise<Unstructured[]> {
  const config = join(folder, "clusterctl.json");
  await writeFile(config, JSON.stringify(variables));
  const counts = "--control-plane-machine-count 1 --worker-machine-count 1";
  const made = await plane.run(
    `generate cluster example -i kubernetes ${flavor} --kubernetes-version v1.34.4 ${counts} --config ${config}`,
  );
  expect(made).toMatchObject({ code: 0, err: "" });
  return parseYamlDocuments(made.out) as Unstructured[];
}
const spec = (objects: Unstructured[], kind: string, suffix = ""): unknown =>
  field(
    objects.find((each) => each.kind === kind && each.metadata.name === `example${suffix}`),
    "spec",
  );

test.each([
  ["without a flavor", "", {}],
  ["default", "--flavor default", VARIABLES],
  ["persistent-control-plane", "--flavor persistent-control-plane", { ...VARIABLES, ...STORAGE }],
  ["hosted", "--flavor hosted", {}],
])("the API accepts every object of the template: %s", async (_, flavor, variables) => {
  for (const object of await generate(flavor, variables)) await plane.client.create(object, { dryRun: true });
});

test("certificates of the control plane are valid for its Service and for a forwarded port", async () => {
  const objects = await generate("", VARIABLES);
  const path = ["kubeadmConfigSpec", "clusterConfiguration", "apiServer", "certSANs"];
  const plane = objects.find(({ kind }) => kind === "KubeadmControlPlane") as Unstructured;
  expect(field(plane, "spec", ...path)).toEqual([
    "localhost",
    "127.0.0.1",
    "example-api-server",
    "example-api-server.default",
    "example-api-server.default.svc",
  ]);
});

test("the variables are where the quick start wants them", async () => {
  const networks = { POD_CIDR: '["10.4.0.0/16"]', SERVICE_CIDR: '["10.5.0.0/16"]', SERVICE_DOMAIN: "inner.local" };
  const objects = await generate("", { ...VARIABLES, ...networks });
  expect(spec(objects, "KubernetesCluster")).toEqual({ controlPlaneService: { type: "LoadBalancer" } });
  expect(spec(objects, "Cluster")).toMatchObject({
    clusterNetwork: {
      pods: { cidrBlocks: ["10.4.0.0/16"] },
      services: { cidrBlocks: ["10.5.0.0/16"] },
      serviceDomain: "inner.local",
    },
  });
  const requests = (suffix: string): unknown =>
    field(spec(objects, "KubernetesMachineTemplate", suffix), "template", "spec", "resources", "requests");
  expect(requests("-controller")).toEqual({ cpu: 1, memory: "2Gi" });
  expect(requests("-worker")).toEqual({ cpu: 1, memory: "1Gi" });
  expect(spec(objects, "KubeadmControlPlane")).toMatchObject({ replicas: 1, version: "v1.34.4" });
});

test("ClusterIP is the type of the Service unless a variable says otherwise", async () => {
  expect(spec(await generate("", {}), "KubernetesCluster")).toEqual({ controlPlaneService: { type: "ClusterIP" } });
});

test("the persistent control plane keeps etcd's data on a claim of the class and size", async () => {
  const objects = await generate("--flavor persistent-control-plane", STORAGE);
  expect(field(spec(objects, "KubernetesMachineTemplate", "-controller"), "template", "spec")).toMatchObject({
    recreationPolicy: "Always",
    volumeClaimTemplates: [
      {
        metadata: { name: "var-lib-etcd" },
        spec: { storageClassName: "fast", resources: { requests: { storage: "1Gi" } } },
      },
    ],
  });
});

test("a flavor that does not exist is refused with those that do", async () => {
  const made = await plane.run("generate cluster example -i kubernetes --flavor nope");
  expect(made.code).toBe(2);
  expect(made.err).toContain("flavors are: default, persistent-control-plane, hosted");
});
