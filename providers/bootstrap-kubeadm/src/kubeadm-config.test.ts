import type { Unstructured } from "@capstan/apimachinery";
import { seededRandom } from "@capstan/apimachinery";
import { Cluster, KubeadmConfig, Machine, MachinePool, Secret, secretText } from "@capstan/capi";
import { createCertificateAuthority, publicKeyPin } from "@capstan/pki";
import type { Cache, Client } from "@capstan/runtime";
import { parseCloudConfig } from "@capstan/userdata";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Plane } from "../../core/src/testing/plane.ts";
import { addBootstrapKubeadmIndexes, bootstrapKubeadmControllers } from "./index.ts";

const namespace = "default";
let caPem = "";

beforeAll(async () => {
  const ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: Date.UTC(2026, 0, 1),
    validMs: 86400_000,
    random: seededRandom(1),
  });
  caPem = ca.certPem;
});

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function startPlane(): Promise<Plane> {
  let cache: Cache | undefined;
  const plane = await Plane.start({
    crds: [Cluster, Machine, MachinePool, KubeadmConfig].map((kind) => kind.crd()),
    indexes: (made) => {
      cache = made;
      addBootstrapKubeadmIndexes(made);
    },
    controllers: ({ workload }) => bootstrapKubeadmControllers({ workload, cache: cache as Cache }),
  });
  planes.push(plane);
  return plane;
}

async function createCluster(plane: Plane, initialized: boolean): Promise<void> {
  const { user } = plane;
  await user.create({
    apiVersion: Cluster.apiVersion,
    kind: "Cluster",
    metadata: { namespace, name: "c" },
    spec: {
      controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 },
      controlPlaneRef: { apiGroup: "x.io", kind: "Plane", name: "c" },
    },
  } as Cluster);
  await initialize(plane, {
    infrastructureProvisioned: true,
    ...(initialized ? { controlPlaneInitialized: true } : {}),
  });
  await user.create(clusterSecret("c-ca", { "tls.crt": caPem, "tls.key": "key" }));
}

async function initialize(plane: Plane, initialization: object): Promise<void> {
  await plane.user.patchStatus({ kind: Cluster, namespace, name: "c" }, { status: { initialization } });
}

function clusterSecret(name: string, data: Record<string, string>): Unstructured {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels: { "cluster.x-k8s.io/cluster-name": "c" } },
    type: "cluster.x-k8s.io/secret",
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  };
}

/** A Machine and its KubeadmConfig, owned as the Machine controller does it. */
async function createMachine(
  plane: Plane,
  name: string,
  spec: KubeadmConfig["spec"] = {},
  labels: Record<string, string> = {},
): Promise<void> {
  const machine = await plane.user.create({
    apiVersion: Machine.apiVersion,
    kind: "Machine",
    metadata: { namespace, name, labels: { "cluster.x-k8s.io/cluster-name": "c", ...labels } },
    spec: {
      clusterName: "c",
      version: "v1.34.4",
      bootstrap: { configRef: { apiGroup: KubeadmConfig.group, kind: KubeadmConfig.kind, name } },
      infrastructureRef: { apiGroup: "x.io", kind: "Thing", name },
    },
  } as Machine);
  await plane.user.create({
    apiVersion: KubeadmConfig.apiVersion,
    kind: KubeadmConfig.kind,
    metadata: {
      namespace,
      name,
      ownerReferences: [
        { apiVersion: Machine.apiVersion, kind: "Machine", name, uid: machine.metadata.uid ?? "", controller: true },
      ],
    },
    spec,
  } as KubeadmConfig);
  await plane.settle();
}

async function read(plane: Plane, name: string): Promise<{ config: KubeadmConfig; secret: Secret | undefined }> {
  const config = await plane.user.get(KubeadmConfig, { namespace, name });
  if (config === undefined) throw new Error(`no KubeadmConfig ${name}`);
  return { config, secret: await plane.user.get(Secret, { namespace, name }) };
}

async function tokens(client: Client): Promise<Secret[]> {
  const { items } = await client.list(Secret, { namespace: "kube-system" });
  return items.filter(({ metadata }) => metadata.name?.startsWith("bootstrap-token-"));
}

function conditionText(config: KubeadmConfig, type: string): string {
  const found = config.status?.conditions?.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason} ${found?.message}`;
}

describe("worker join", () => {
  test("gives data with a token that exists in the workload cluster", async () => {
    const plane = await startPlane();
    await createCluster(plane, true);
    const workload = await plane.addWorkload(namespace, "c");
    await createMachine(plane, "w");

    const { config, secret } = await read(plane, "w");
    expect(config.status).toMatchObject({ initialization: { dataSecretCreated: true }, dataSecretName: "w" });
    expect(conditionText(config, "Ready")).toBe("True Ready ");
    expect(secret).toMatchObject({
      type: "cluster.x-k8s.io/secret",
      metadata: {
        labels: { "cluster.x-k8s.io/cluster-name": "c" },
        ownerReferences: [{ kind: "KubeadmConfig", name: "w", controller: true }],
      },
    });
    expect(secretText(secret, "format")).toBe("cloud-config");
    const { writeFiles, runCommands } = parseCloudConfig(secretText(secret, "value") ?? "");
    expect(writeFiles.map(({ path }) => path)).toEqual([
      "/run/kubeadm/kubeadm-join-config.yaml",
      "/run/cluster-api/placeholder",
    ]);
    const [token, ...others] = await tokens(workload);
    expect(others).toEqual([]);
    expect(parse(writeFiles[0]?.content.toString() ?? "")).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "JoinConfiguration",
      discovery: {
        bootstrapToken: {
          apiServerEndpoint: "10.0.0.1:6443",
          caCertHashes: [publicKeyPin(caPem)],
          token: `${secretText(token, "token-id")}.${secretText(token, "token-secret")}`,
        },
      },
      nodeRegistration: { taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" }] },
    });
    expect(runCommands).toEqual([
      "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
    ]);
    expect(plane.failures).toEqual([]);
  });
});
