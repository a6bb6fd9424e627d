import { systemClock, type Unstructured } from "@capstan/apimachinery";
import { parseAddressRange } from "@capstan/apimachinery/foreign";
import { Secret, secretText } from "@capstan/capi";
import { Client, httpTransport, kubeconfigFromText } from "@capstan/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { CANARY_WORDS, Canary } from "./canary.ts";
import { TenantPlane, until } from "./tenant-plane.ts";

/**
 * A tenant writes an address of the management host into an object, and the manager goes there: to a service that listens on loopback
 * because no other client should reach it. Its answer would then appear in a condition.
 */
const CONTROL_PLANE = "controlplane.cluster.x-k8s.io";
const meta = (name: string, labels: Record<string, string> = {}) => ({ name, namespace: "default", labels });
const secret = (name: string, stringData: Record<string, string>, labels: Record<string, string> = {}): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: meta(name, labels),
  stringData,
});
const kubeconfig = (server: string): string =>
  JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user: { token: "t" } }],
  });
const cluster = (name: string, kind = "HostedControlPlane"): object => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: meta(name),
  spec: {
    controlPlaneRef: { apiGroup: CONTROL_PLANE, kind, name },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryCluster", name },
  },
});
const memoryCluster = (name: string): object => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "MemoryCluster",
  metadata: meta(name),
  spec: {},
});
const controlPlane = (name: string, spec: object): object => ({
  apiVersion: `${CONTROL_PLANE}/v1beta2`,
  kind: "HostedControlPlane",
  metadata: meta(name),
  spec: { version: "v1.34.4", ...spec },
});

let plane: TenantPlane;
let canary: Canary;

beforeAll(async () => {
  plane = await TenantPlane.start();
});
afterAll(() => plane.close());
beforeEach(async () => {
  canary = await Canary.start();
});
afterEach(() => canary.close());

/** Either it happens, or the object says that it does not. */
async function refused(status: () => Promise<string>): Promise<void> {
  await until("an answer", async () => canary.connections > 0 || (await status()).includes("--allow-address"));
  expect(canary.connections).toBe(0);
  const text = await status();
  expect(text).toContain("--allow-address");
  expect(text).not.toContain(CANARY_WORDS);
}

const hosted = (name: string) => (): Promise<string> =>
  plane.text(`${CONTROL_PLANE}/v1beta2`, "HostedControlPlane", "hostedcontrolplanes", name);

test("an object store on loopback", async () => {
  await plane.create(
    secret("keys", { accessKeyId: "id", secretAccessKey: "key" }),
    cluster("store"),
    memoryCluster("store"),
    controlPlane("store", {
      placement: { type: "Process" },
      etcd: {
        backup: { s3: { endpoint: `http://localhost:${canary.port}`, bucket: "b", secretName: "keys" } },
        restoreFrom: { backup: "20261116T030000Z" },
      },
    }),
  );
  await refused(hosted("store"));
});

test("a host cluster on loopback, written as an IPv4 address in IPv6", async () => {
  await plane.create(
    secret("host", { value: kubeconfig(`http://[::ffff:127.0.0.1]:${canary.port}`) }),
    cluster("pods"),
    memoryCluster("pods"),
    controlPlane("pods", { placement: { type: "Pods" }, hostCluster: { secretName: "host" } }),
  );
  await refused(hosted("pods"));
});

test("a workload cluster on loopback, by a kubeconfig Secret", async () => {
  const labels = { "cluster.x-k8s.io/cluster-name": "foreign" };
  await plane.create(secret("foreign-kubeconfig", { value: kubeconfig(`http://0x7f.1:${canary.port}`) }, labels), {
    ...cluster("foreign"),
    spec: {
      controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryCluster", name: "foreign" },
    },
  });
  await plane.tenant.patch(
    { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "foreign", namespace: "default" } },
    { status: { initialization: { controlPlaneInitialized: true } } },
    { subresource: "status" },
  );
  await refused(() => plane.text("cluster.x-k8s.io/v1beta2", "Cluster", "clusters", "foreign"));
});

test("a proxy on loopback, by a kubeconfig Secret", async () => {
  const config = JSON.parse(kubeconfig("http://192.0.2.1:80")) as { clusters: { cluster: Record<string, string> }[] };
  const [first] = config.clusters;
  if (first !== undefined) first.cluster["proxy-url"] = `http://127.0.0.1:${canary.port}`;
  await plane.create(
    secret("proxied", { value: JSON.stringify(config) }),
    cluster("proxied"),
    memoryCluster("proxied"),
    controlPlane("proxied", { placement: { type: "Pods" }, hostCluster: { secretName: "proxied" } }),
  );
  await refused(hosted("proxied"));
});

test("a management controller on loopback", async () => {
  await plane.create(secret("bmc", { username: "u", password: "p" }), {
    apiVersion: "metal3.io/v1alpha1",
    kind: "BareMetalHost",
    metadata: meta("metal"),
    spec: {
      online: true,
      bootMACAddress: "52:54:00:00:00:01",
      bmc: {
        address: `redfish-virtualmedia+http://127.0.0.1:${canary.port}/redfish/v1/Systems/1`,
        credentialsName: "bmc",
      },
    },
  });
  await refused(() => plane.text("metal3.io/v1alpha1", "BareMetalHost", "baremetalhosts", "metal"));
});

test("a webhook on loopback, by the administrator of a control plane in the manager's process", async () => {
  await plane.create(
    cluster("inside"),
    memoryCluster("inside"),
    controlPlane("inside", { placement: { type: "Embedded" } }),
  );
  let config = "";
  await until("the kubeconfig", async () => {
    const found = await plane.tenant.get(Secret, { namespace: "default", name: "inside-kubeconfig" });
    config = secretText(found, "value") ?? "";
    return config !== "";
  });
  const transport = httpTransport(await kubeconfigFromText(config, { clock: systemClock }), { clock: systemClock });
  const admin = new Client(transport, { fieldManager: "admin", clock: systemClock });
  try {
    await admin.create({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "probe" },
      webhooks: [
        {
          name: "probe.example.com",
          clientConfig: { url: `https://127.0.0.1:${canary.port}/` },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          failurePolicy: "Fail",
        },
      ],
    } as unknown as Unstructured);
    const asked = await admin
      .create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "default" } })
      .catch((error: unknown) => error);
    expect(canary.connections).toBe(0);
    expect(String(asked)).toContain("--allow-address");
  } finally {
    await transport.close();
  }
});

test("--allow-address opens one port; what is said there is still not repeated", async () => {
  const range = parseAddressRange(`127.0.0.1/32:${canary.port}`);
  const open = await TenantPlane.start({ allowAddresses: range === undefined ? [] : [range] });
  try {
    await open.create(
      secret("host", { value: kubeconfig(`http://127.0.0.1:${canary.port}`) }),
      cluster("pods"),
      memoryCluster("pods"),
      controlPlane("pods", { placement: { type: "Pods" }, hostCluster: { secretName: "host" } }),
    );
    const status = (): Promise<string> =>
      open.text(`${CONTROL_PLANE}/v1beta2`, "HostedControlPlane", "hostedcontrolplanes", "pods");
    await until("a condition", async () => (await status()).includes("403"));
    expect(canary.connections).toBeGreaterThan(0);
    expect(await status()).not.toContain(CANARY_WORDS);
  } finally {
    await open.close();
  }
});
