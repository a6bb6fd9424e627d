import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine, Secret } from "@capstan/capi";
import { KubernetesCluster, KubernetesMachine } from "@capstan/infra-kubernetes";
import { Pod } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Plane } from "../simulation/plane.ts";
import { TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/**
 * Attack: a tenant whose namespace does not allow privileged pods writes a machine whose pod template asks for the nodes, the identity or
 * the rank of the management cluster, and has the manager create the pod.
 */
let plane: Plane;
let mallory: Awaited<ReturnType<typeof tenantOf>>;
beforeEach(async () => {
  plane = await Plane.start({ own: 0, metal: 0, pods: true });
  mallory = await tenantOf(plane);
});
afterEach(() => plane.close());

const node = (fields: object): object => ({ hostUsers: false, containers: [{ name: "node", ...fields }] });
const security = (securityContext: object): object => node({ securityContext });
const plain = node({});

/** Creates a machine and returns the names of the pods that come of it. */
async function podsOf(podTemplate: object, more: object = {}): Promise<string[]> {
  const labels = { "cluster.x-k8s.io/cluster-name": "m", "cluster.x-k8s.io/control-plane": "" };
  const create = async (kind: { apiVersion: string; kind: string }, spec: object): Promise<Unstructured> =>
    await mallory.create<Unstructured>({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { namespace: TENANT, name: "m", labels },
      spec,
    });
  const ref = (kind: { group: string; kind: string }) => ({ apiGroup: kind.group, kind: kind.kind, name: "m" });
  await create(Cluster, {
    infrastructureRef: ref(KubernetesCluster),
    controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 },
  });
  await create(KubernetesCluster, {
    controlPlaneService: { type: "None" },
    controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 },
  });
  await mallory.create<Unstructured>({
    apiVersion: "v1",
    kind: Secret.kind,
    metadata: { namespace: TENANT, name: "boot" },
    data: { value: Buffer.from("#cloud-config\n").toString("base64") },
  });
  const machine = await create(Machine, {
    clusterName: "m",
    version: "v1.34.4",
    bootstrap: { dataSecretName: "boot" },
    infrastructureRef: ref(KubernetesMachine),
  });
  const owner = { apiVersion: machine.apiVersion, kind: machine.kind, name: "m", uid: machine.metadata.uid ?? "" };
  await mallory.create<Unstructured>({
    apiVersion: KubernetesMachine.apiVersion,
    kind: KubernetesMachine.kind,
    metadata: { namespace: TENANT, name: "m", labels, ownerReferences: [owner] },
    spec: { podTemplate, ...more },
  });
  await plane.pass(30_000);
  return (await plane.client.list(Pod, { namespace: TENANT })).items.map(({ metadata }) => metadata.name ?? "");
}

test("a pod that asks for nothing is created: the attacks below fail for no other reason", async () => {
  expect(await podsOf({ spec: plain })).toEqual(["m"]);
});

test.each<[string, object]>([
  ["privileges", { spec: security({ privileged: true }) }],
  ["privileges, by default", {}],
  ["a folder of the node", { spec: { ...plain, volumes: [{ name: "h", hostPath: { path: "/" } }] } }],
  ["the network of the node", { spec: { ...plain, hostNetwork: true } }],
  ["an SELinux domain that is not confined", { spec: security({ seLinuxOptions: { type: "spc_t" } }) }],
  [
    "no AppArmor, by the older annotation",
    { spec: plain, metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/node": "unconfined" } } },
  ],
  [
    "a setting of the kernel",
    { spec: { ...plain, securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } } },
  ],
  [
    "requests of the kubelet to the metadata service",
    { spec: node({ livenessProbe: { httpGet: { host: "169.254.169.254", port: 80 } } }) },
  ],
  ["a process of a Windows node", { spec: security({ windowsOptions: { hostProcess: true } }) }],
  ["the rank of the cluster's own components", { spec: { ...plain, priorityClassName: "system-node-critical" } }],
  [
    "a certificate of a service account",
    {
      spec: {
        ...plain,
        volumes: [
          { name: "c", projected: { sources: [{ podCertificate: { signerName: "a/b", keyType: "ED25519" } }] } },
        ],
      },
    },
  ],
  ["a service account", { spec: { ...plain, serviceAccountName: "deployer" } }],
])("a machine does not get %s", async (_, podTemplate) => {
  expect(await podsOf(podTemplate)).toEqual([]);
});
