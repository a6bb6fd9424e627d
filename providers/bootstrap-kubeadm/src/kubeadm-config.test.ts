import { seededRandom } from "@capstan/apimachinery";
import {
  assess,
  Cluster,
  ConfigMap,
  conditionsOf,
  DROP_REMOVED_FLAGS_ANNOTATION,
  KubeadmConfig,
  Machine,
  MachinePool,
  Secret,
  secretText,
} from "@capstan/capi";
import { createCertificateAuthority, publicKeyPin } from "@capstan/pki";
import { parseCloudConfig } from "@capstan/userdata";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Plane } from "../../core/src/testing/plane.ts";
import { bootstrapKubeadm } from "./provider.ts";
import {
  CLUSTER,
  conditionText,
  createCluster,
  createMachine,
  initialize,
  namespace,
  read,
  secretWith,
  startPlane,
  tokens,
} from "./testing/world.ts";

const MINUTE_MS = 60_000;
const UP = { infrastructureProvisioned: true, controlPlaneInitialized: true };
let caPem = "";
let caKeyPem = "";

beforeAll(async () => {
  const ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: Date.UTC(2026, 0, 1),
    validMs: 86400_000,
    random: seededRandom(1),
  });
  caPem = ca.certPem;
  caKeyPem = ca.keyPem;
});

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function plane(): Promise<Plane> {
  const started = await startPlane();
  planes.push(started);
  return started;
}

async function createCa(on: Plane): Promise<void> {
  await on.user.create(secretWith(`${CLUSTER}-ca`, { "tls.crt": caPem, "tls.key": "key" }));
}

/** A cluster that workers can join, and its workload API. */
async function running() {
  const on = await plane();
  await createCluster(on, UP, { controlPlaneRef: { apiGroup: "x.io", kind: "Plane", name: CLUSTER } });
  await createCa(on);
  const workload = await on.addWorkload(namespace, CLUSTER);
  return { on, workload };
}

function joinConfiguration(secret: Secret | undefined): { discovery: { bootstrapToken: { token: string } } } {
  const { writeFiles } = parseCloudConfig(secretText(secret, "value") ?? "");
  const file = writeFiles.find(({ path }) => path === "/run/kubeadm/kubeadm-join-config.yaml");
  return parse(file?.content.toString() ?? "");
}

describe("worker join", () => {
  test("gives data with a token that exists in the workload cluster", async () => {
    const { on, workload } = await running();
    await createMachine(on, { name: "w" });

    const { config, secret } = await read(on, "w");
    expect(config.status).toMatchObject({ initialization: { dataSecretCreated: true }, dataSecretName: "w" });
    expect(conditionText(config, "Ready")).toBe("True Ready");
    expect(secret).toMatchObject({
      type: "cluster.x-k8s.io/secret",
      metadata: {
        labels: { "cluster.x-k8s.io/cluster-name": CLUSTER },
        ownerReferences: [{ kind: "KubeadmConfig", name: "w", controller: true }],
      },
    });
    expect(secretText(secret, "format")).toBe("cloud-config");
    const [token, ...others] = await tokens(workload);
    expect(others).toEqual([]);
    expect(joinConfiguration(secret)).toEqual({
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
    expect(on.failures).toEqual([]);
  });

  test("waits for infrastructure, control plane, CA and connection, names each, and continues at once", async () => {
    const on = await plane();
    await createCluster(on, {});
    await createMachine(on, { name: "w" });
    const waiting = async (): Promise<string> => conditionText((await read(on, "w")).config, "DataSecretAvailable");
    expect(await waiting()).toBe(
      "False NotAvailable Waiting for Cluster status.initialization.infrastructureProvisioned to be true",
    );
    await initialize(on, { infrastructureProvisioned: true });
    expect(await waiting()).toContain("Waiting for Cluster status.initialization.controlPlaneInitialized to be true");
    await initialize(on, UP);
    expect(await waiting()).toContain("There is no Secret c-ca");
    expect(conditionText((await read(on, "w")).config, "CertificatesAvailable")).toContain("False NotAvailable");
    await createCa(on);
    await on.settle();
    expect(await waiting()).toContain(
      "Waiting for the connection to the workload cluster: there is no Secret c-kubeconfig yet",
    );
    await on.addWorkload(namespace, CLUSTER);
    await on.settle();
    expect(await waiting()).toBe("True Available");
    expect(conditionText((await read(on, "w")).config, "CertificatesAvailable")).toBe("True Available");
    expect(on.failures).toEqual([]);
  });

  test("is silent when there is nothing to do", async () => {
    const { on } = await running();
    await createMachine(on, { name: "w" });
    const { writes } = on;
    await on.user.patch({ kind: Machine, namespace, name: "w" }, { metadata: { annotations: { a: "b" } } });
    await on.clock.advance(4 * MINUTE_MS);
    expect(on.writes).toBe(writes);
  });

  test("only says that it is paused, and continues afterwards", async () => {
    const { on, workload } = await running();
    await on.user.patch({ kind: Cluster, namespace, name: CLUSTER }, { spec: { paused: true } });
    await createMachine(on, { name: "w" });
    expect(conditionText((await read(on, "w")).config, "Paused")).toBe(
      "True Paused Cluster spec.paused is set to true",
    );
    expect(await tokens(workload)).toEqual([]);
    await on.user.patch({ kind: Cluster, namespace, name: CLUSTER }, { spec: { paused: false } });
    await on.settle();
    expect((await read(on, "w")).config.status?.dataSecretName).toBe("w");
  });

  test("takes over the Secret that the Machine names after a move", async () => {
    const { on, workload } = await running();
    await on.stopControllers();
    await createMachine(on, { name: "w" });
    const bootstrap = { dataSecretName: "moved" };
    await on.user.patch({ kind: Machine, namespace, name: "w" }, { spec: { bootstrap } });
    await on.startControllers();
    const { config, secret } = await read(on, "w");
    expect(config.status).toMatchObject({ dataSecretName: "moved", initialization: { dataSecretCreated: true } });
    expect(secret).toBeUndefined();
    expect(await tokens(workload)).toEqual([]);
  });
});

describe("tokens", () => {
  test("of a Machine that has not joined are extended, and made again as they were when they vanish", async () => {
    const { on, workload } = await running();
    await createMachine(on, { name: "w" });
    const { secret } = await read(on, "w");
    const [first] = await tokens(workload);
    await on.clock.advance(40 * MINUTE_MS);
    const [extended] = await tokens(workload);
    expect(Date.parse(secretText(extended, "expiration") ?? "") - on.clock.now()).toBeGreaterThan(9 * MINUTE_MS);
    expect(secretText(extended, "token-secret")).toBe(secretText(first, "token-secret"));

    await workload.delete({ kind: Secret, namespace: "kube-system", name: first?.metadata.name ?? "" });
    await on.clock.advance(6 * MINUTE_MS);
    const [again] = await tokens(workload);
    expect(again?.metadata.name).toBe(first?.metadata.name);
    expect(secretText(again, "token-secret")).toBe(secretText(first, "token-secret"));
    expect((await read(on, "w")).secret?.data).toEqual(secret?.data);
  });

  test("of a Machine that joined are left to expire", async () => {
    const { on, workload } = await running();
    await createMachine(on, { name: "w" });
    await on.user.patchStatus({ kind: Machine, namespace, name: "w" }, { status: { nodeRef: { name: "w" } } });
    const { writes } = on;
    await on.clock.advance(60 * MINUTE_MS);
    expect(on.writes).toBe(writes);
    // The workload cluster's own token cleaner took it.
    expect(await tokens(workload)).toEqual([]);
  });

  test("of a pool that has Nodes are replaced in time, in the data too", async () => {
    const { on, workload } = await running();
    await createMachine(on, { name: "p", pool: true });
    const first = joinConfiguration((await read(on, "p")).secret).discovery.bootstrapToken.token;
    await on.user.patchStatus({ kind: MachinePool, namespace, name: "p" }, { status: { nodeRefs: [{ name: "n" }] } });
    await on.clock.advance(11 * MINUTE_MS);
    const second = joinConfiguration((await read(on, "p")).secret).discovery.bootstrapToken.token;
    expect(second).not.toBe(first);
    const valid = async (token: string): Promise<boolean> =>
      (await tokens(workload)).some(
        (secret) =>
          `${secretText(secret, "token-id")}.${secretText(secret, "token-secret")}` === token &&
          Date.parse(secretText(secret, "expiration") ?? "") > on.clock.now() + 3 * MINUTE_MS,
      );
    expect(await valid(second)).toBe(true);
    for (let i = 0; i < 10; i++) {
      await on.clock.advance(7 * MINUTE_MS);
      expect(await valid(joinConfiguration((await read(on, "p")).secret).discovery.bootstrapToken.token)).toBe(true);
    }
  });

  test("given by the user are used and never touched", async () => {
    const { on, workload } = await running();
    const token = "given1.0123456789abcdef";
    await createMachine(on, { name: "w", spec: { joinConfiguration: { discovery: { bootstrapToken: { token } } } } });
    await on.clock.advance(30 * MINUTE_MS);
    expect(joinConfiguration((await read(on, "w")).secret).discovery.bootstrapToken.token).toBe(token);
    expect(await tokens(workload)).toEqual([]);
  });

  test("a workload cluster that stops answering is named and tried again", async () => {
    const { on } = await running();
    on.setReachable(namespace, CLUSTER, false);
    await createMachine(on, { name: "w" });
    expect(conditionText((await read(on, "w")).config, "DataSecretAvailable")).toContain("connection refused");
    on.setReachable(namespace, CLUSTER, true);
    await on.clock.advance(11_000);
    expect((await read(on, "w")).config.status?.dataSecretName).toBe("w");
  });
});

describe("what users get wrong becomes a condition", () => {
  test.each<{ what: string; spec?: object; version?: string; message: string }>([
    { what: "no such version", version: "latest", message: 'spec.version "latest" is not a version' },
    { what: "a version too old", version: "v1.20.0", message: "Kubernetes v1.20.0 is too old" },
    {
      what: "a worker with a control plane section",
      spec: { joinConfiguration: { controlPlane: {} } },
      message: "spec.joinConfiguration.controlPlane must not be set: Machine w is a worker",
    },
    {
      what: "a Secret that is not there",
      spec: { files: [{ path: "/a", contentFrom: { secret: { name: "nope", key: "k" } } }] },
      message: "spec.files[0].contentFrom: there is no Secret nope in this namespace",
    },
    {
      what: "a key that is not there",
      spec: { users: [{ name: "u", passwdFrom: { secret: { name: "c-ca", key: "k" } } }] },
      message: "spec.users[0].passwdFrom: Secret c-ca has no key k",
    },
    {
      what: "a template that cannot be filled",
      spec: { files: [{ path: "/a", content: "{{ .nope }}", contentFormat: "Template" }] },
      message: "spec.files[0]: {{ .nope }} is not known",
    },
    {
      what: "Ignition with an unknown section",
      spec: { format: "ignition", ignition: { containerLinuxConfig: { additionalConfig: "etcd: {}" } } },
      message: "additionalConfig: the section etcd is not supported",
    },
  ])("$what", async ({ spec, version, message }) => {
    const { on } = await running();
    await createMachine(on, {
      name: "w",
      spec,
      version,
    });
    const { config, secret } = await read(on, "w");
    expect(conditionText(config, "DataSecretAvailable")).toContain(`False NotAvailable ${message}`);
    expect(conditionText(config, "Ready")).toContain(message);
    expect(secret).toBeUndefined();
    expect(on.failures).toEqual([]);
  });

  test("flags that the version removed are named, and dropped alone once the Cluster's annotation permits it", async () => {
    const { on } = await running();
    const kubeletExtraArgs = [
      { name: "container-runtime", value: "remote" },
      { name: "cgroup-driver", value: "systemd" },
    ];
    const spec = { joinConfiguration: { nodeRegistration: { name: "n", kubeletExtraArgs } } };
    await createMachine(on, { name: "w", spec, version: "v1.37.1" });
    const { config, secret } = await read(on, "w");
    expect(conditionText(config, "DataSecretAvailable")).toBe(
      "False SettingsNotSupported Machine w would not start: spec.joinConfiguration.nodeRegistration.kubeletExtraArgs[container-runtime]: " +
        "kubelet v1.37.1 has no flag --container-runtime: v1.27 removed it. Correct the settings of KubeadmConfig default/w in the " +
        'template that it comes from, or drop exactly these with the annotation capstan.dev/drop-removed-flags: "true" on the Cluster',
    );
    expect(secret).toBeUndefined();
    const node = { kind: "KubeadmConfig", name: "w", conditions: conditionsOf(config), deleting: false, children: [] };
    const { causes } = assess(node, {
      nowMs: on.clock.now(),
      providers: [bootstrapKubeadm],
      namespace,
      cluster: CLUSTER,
    });
    expect(causes[0]?.steps.at(-1)).toBe(
      "or drop what the version rejects: kubectl annotate cluster c capstan.dev/drop-removed-flags=true",
    );

    const annotations = { [DROP_REMOVED_FLAGS_ANNOTATION]: "true" };
    await on.user.patch({ kind: Cluster, namespace, name: CLUSTER }, { metadata: { annotations } });
    await on.settle();
    expect(joinConfiguration((await read(on, "w")).secret)).toMatchObject({
      nodeRegistration: { name: "n", kubeletExtraArgs: [{ name: "cgroup-driver", value: "systemd" }] },
    });
    expect((await read(on, "w")).config.spec).toEqual(spec);
    expect(on.failures).toEqual([]);
  });

  test("a Secret that comes later is found", async () => {
    const { on } = await running();
    const spec = { files: [{ path: "/a", contentFrom: { secret: { name: "later", key: "k" } } }] };
    await createMachine(on, { name: "w", spec });
    await on.user.create(secretWith("later", { k: "content" }, false));
    await on.clock.advance(11_000);
    const { writeFiles } = parseCloudConfig(secretText((await read(on, "w")).secret, "value") ?? "");
    expect(writeFiles[0]).toMatchObject({ path: "/a", content: Buffer.from("content\n") });
  });

  test("a Secret of someone else under the config's name is not overwritten", async () => {
    const { on } = await running();
    const theirs = secretWith("w", { value: "theirs" });
    const owner = { apiVersion: "x.io/v1", kind: "Other", name: "o", uid: "1", controller: true };
    await on.user.create({ ...theirs, metadata: { ...theirs.metadata, ownerReferences: [owner] } });
    await createMachine(on, { name: "w" });
    const { config, secret } = await read(on, "w");
    expect(conditionText(config, "DataSecretAvailable")).toContain("Secret w belongs to Other o");
    expect(secretText(secret, "value")).toBe("theirs");
  });
});

const FAST_KEYS = { clusterConfiguration: { encryptionAlgorithm: "ECDSA-P256" } };

/** Keys are made off the main thread, which takes turns of the loop but no virtual time. */
async function untilData(on: Plane, name: string): Promise<void> {
  for (let i = 0; i < 300 && (await read(on, name)).config.status?.dataSecretName === undefined; i++) await on.settle();
}

describe("init", () => {
  const lock = (on: Plane) => on.user.get(ConfigMap, { namespace, name: `${CLUSTER}-lock` });

  test("exactly one Machine initializes; the others join afterwards and the lock goes", async () => {
    const on = await plane();
    await createCluster(on, { infrastructureProvisioned: true });
    await createMachine(on, { name: "cp-0", controlPlane: true, spec: FAST_KEYS });
    await untilData(on, "cp-0");
    await createMachine(on, { name: "cp-1", controlPlane: true });
    expect((await lock(on))?.data).toEqual({ "lock-information": '{"machineName":"cp-0"}' });
    expect((await read(on, "cp-0")).config.status?.dataSecretName).toBe("cp-0");
    expect(conditionText((await read(on, "cp-1")).config, "DataSecretAvailable")).toContain(
      "Waiting for Machine cp-0 to initialize the control plane",
    );
    const paths = parseCloudConfig(secretText((await read(on, "cp-0")).secret, "value") ?? "").writeFiles;
    expect(paths.map(({ path }) => path)).toContain("/run/kubeadm/kubeadm.yaml");

    // The kubeconfig made here leads to no server of this test.
    await on.user.delete({ kind: Secret, namespace, name: `${CLUSTER}-kubeconfig` });
    await on.addWorkload(namespace, CLUSTER);
    await initialize(on, UP);
    expect(await lock(on)).toBeUndefined();
    const { config, secret } = await read(on, "cp-1");
    expect(config.status?.dataSecretName).toBe("cp-1");
    expect(joinConfiguration(secret)).toMatchObject({ controlPlane: { localAPIEndpoint: {} } });
    expect(on.failures).toEqual([]);
  });

  test("creates missing certificates and uses existing ones", async () => {
    const on = await plane();
    await createCluster(on, { infrastructureProvisioned: true });
    await on.user.create(secretWith(`${CLUSTER}-ca`, { "tls.crt": caPem, "tls.key": caKeyPem }));
    await createMachine(on, { name: "cp-0", controlPlane: true, spec: FAST_KEYS });
    await untilData(on, "cp-0");
    const { writeFiles } = parseCloudConfig(secretText((await read(on, "cp-0")).secret, "value") ?? "");
    const content = (path: string): string => writeFiles.find((file) => file.path === path)?.content.toString() ?? "";
    expect(content("/etc/kubernetes/pki/ca.crt").trim()).toBe(caPem.trim());
    expect(content("/etc/kubernetes/pki/sa.pub")).toContain("PUBLIC KEY");
    expect(content("/etc/kubernetes/pki/front-proxy-ca.crt")).toContain("BEGIN CERTIFICATE");
    const etcd = await on.user.get(Secret, { namespace, name: `${CLUSTER}-etcd` });
    expect(secretText(etcd, "tls.crt")).toBe(content("/etc/kubernetes/pki/etcd/ca.crt"));
    const kubeconfig = await on.user.get(Secret, { namespace, name: `${CLUSTER}-kubeconfig` });
    expect(parse(secretText(kubeconfig, "value") ?? "")).toMatchObject({
      clusters: [{ name: CLUSTER, cluster: { server: "https://10.0.0.1:6443" } }],
      users: [{ name: "c-admin" }],
      "current-context": "c-admin@c",
    });
    expect(kubeconfig?.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: CLUSTER }]);
    expect(etcd?.metadata.ownerReferences).toMatchObject([{ kind: "KubeadmConfig", name: "cp-0", controller: true }]);
  });

  test("a control plane provider's certificates are waited for, never made", async () => {
    const on = await plane();
    await createCluster(
      on,
      { infrastructureProvisioned: true },
      { controlPlaneRef: { apiGroup: "x.io", kind: "Plane", name: CLUSTER } },
    );
    await createMachine(on, { name: "cp-0", controlPlane: true });
    expect(conditionText((await read(on, "cp-0")).config, "CertificatesAvailable")).toContain("There is no Secret c-");
    expect(await on.user.get(Secret, { namespace, name: `${CLUSTER}-ca` })).toBeUndefined();
    for (const purpose of ["ca", "etcd", "proxy", "sa"])
      await on.user.create(secretWith(`${CLUSTER}-${purpose}`, { "tls.crt": caPem, "tls.key": "key" }));
    await on.settle();
    expect((await read(on, "cp-0")).config.status?.dataSecretName).toBe("cp-0");
  });

  test("a Machine whose config is wrong does not keep another from initializing", async () => {
    const on = await plane();
    await createCluster(on, { infrastructureProvisioned: true });
    for (const purpose of ["ca", "etcd", "proxy", "sa"])
      await on.user.create(secretWith(`${CLUSTER}-${purpose}`, { "tls.crt": caPem, "tls.key": "key" }));
    const wrong = { files: [{ path: "/a", contentFrom: { secret: { name: "nope", key: "k" } } }] };
    await createMachine(on, { name: "wrong", controlPlane: true, spec: wrong });
    await createMachine(on, { name: "right", controlPlane: true });
    expect(conditionText((await read(on, "wrong")).config, "DataSecretAvailable")).toContain("there is no Secret nope");
    expect((await read(on, "right")).secret).toBeDefined();
  });

  test("the lock of a Machine that is gone passes to the next", async () => {
    const on = await plane();
    await createCluster(on, { infrastructureProvisioned: true });
    for (const purpose of ["ca", "etcd", "proxy", "sa"])
      await on.user.create(secretWith(`${CLUSTER}-${purpose}`, { "tls.crt": caPem, "tls.key": "key" }));
    await createMachine(on, { name: "cp-0", controlPlane: true });
    await createMachine(on, { name: "cp-1", controlPlane: true });
    await on.user.delete({ kind: Machine, namespace, name: "cp-0" });
    await on.settle();
    expect((await lock(on))?.data).toEqual({ "lock-information": '{"machineName":"cp-1"}' });
    expect((await read(on, "cp-1")).config.status?.dataSecretName).toBe("cp-1");
  });
});

test("lost owner references come back", async () => {
  const { on } = await running();
  await createMachine(on, { name: "w" });
  await on.user.patch({ kind: Secret, namespace, name: "w" }, { metadata: { ownerReferences: null } });
  await on.user.patch({ kind: KubeadmConfig, namespace, name: "w" }, { metadata: { annotations: { touched: "yes" } } });
  await on.settle();
  expect((await read(on, "w")).secret?.metadata.ownerReferences).toMatchObject([{ kind: "KubeadmConfig", name: "w" }]);
});
