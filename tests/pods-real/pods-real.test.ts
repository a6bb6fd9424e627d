import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Unstructured } from "@capstan/apimachinery";
import { makePlan, placementCases } from "@capstan/controlplane-hosted/contract-suite";
import { podObjects } from "@capstan/workloads/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RealHost } from "./world.ts";

let host: RealHost;

beforeAll(async () => {
  host = await RealHost.start();
  await host.client.create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    status: {
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "InternalIP", address: "192.0.2.7" }],
    },
  } as Unstructured);
});

afterAll(() => host?.stop());

describe("the contract of placements", () => {
  const open = () => Promise.resolve(host.world({ expose: { type: "LoadBalancer" } }));
  for (const { name, run } of placementCases(open)) it(name, run);
});

describe("exposure", () => {
  const reserve = async (type: "NodePort" | "ClusterIP", endpoint?: { host: string; port: number }) => {
    const world = host.world({ expose: { type } });
    const spec = { version: "v1.37.1", ...world.spec };
    const [first, second] = [
      await world.placement.reserve({ owner: "default/c1", spec, endpoint }),
      await world.placement.reserve({ owner: "default/c1", spec, endpoint }),
    ];
    expect(second).toEqual(first);
    await world.close();
    return first;
  };
  it("NodePort: a node's address with a port of the range", async () => {
    expect(await reserve("NodePort")).toEqual({
      type: "reserved",
      endpoint: { host: "192.0.2.7", port: expect.toSatisfy((port: number) => port >= 30000 && port <= 32767) },
    });
  });
  it("NodePort: uses a requested port, and rejects one outside the range with Kubernetes' message", async () => {
    const endpoint = { host: "api.example.org", port: 30777 };
    expect(await reserve("NodePort", endpoint)).toEqual({ type: "reserved", endpoint });
    expect(await reserve("NodePort", { ...endpoint, port: 6443 })).toMatchObject({
      type: "failed",
      reason: "HostClusterRefuses",
      message: expect.stringContaining("The range of valid ports is 30000-32767"),
    });
  });
  it("ClusterIP: the Service's address", async () => {
    expect(await reserve("ClusterIP")).toMatchObject({
      endpoint: { host: expect.stringMatching(/^10\.96\./), port: 6443 },
    });
  });
});

describe("the objects", () => {
  const owner = "restricted/c1";
  const objects = new Map<string, Unstructured>();
  const of = (key: string): Unstructured => objects.get(key) ?? expect.fail(`no ${key}: ${[...objects.keys()].join()}`);

  beforeAll(async () => {
    // Pods that ask for more than Kubernetes' strictest profile allows are not made here.
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await host.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "restricted", labels } });
    const world = host.world({
      expose: { type: "NodePort", certSANs: ["api.example.org"] },
      replicas: 2,
      etcd: { replicas: 3, storage: { size: "4Gi", storageClassName: "fast" } },
      apiServer: {
        extraArgs: [{ name: "event-ttl", value: "2h" }],
        resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } },
      },
      scheduler: { image: "example.org/scheduler:v1" },
      pods: {
        nodeSelector: { pool: "infra" },
        tolerations: [{ key: "infra", operator: "Exists" }],
        imagePullSecrets: ["registry"],
      },
    });
    const plan = await makePlan(world, owner);
    for (let turn = 0; turn < 200; turn++) {
      const state = await world.placement.ensure(plan);
      expect(state.problem).toBeUndefined();
      if (state.components.filter(({ ready }) => ready).length === 6) break;
      await world.progress();
    }
    for (const object of await podObjects(host.client, owner))
      objects.set(`${object.kind}/${object.metadata.name}`, object);
    await world.close();
  });

  it("are all there, pods of the strictest security profile among them", () => {
    const names = [...objects.keys()].filter((key) => !key.startsWith("Pod/")).toSorted();
    expect(names).toEqual([
      "Deployment/c1-kube-apiserver",
      "Deployment/c1-kube-controller-manager",
      "Deployment/c1-kube-scheduler",
      "NetworkPolicy/c1-etcd",
      "PersistentVolumeClaim/data-c1-etcd-0-0",
      "PersistentVolumeClaim/data-c1-etcd-1-0",
      "PersistentVolumeClaim/data-c1-etcd-2-0",
      "PodDisruptionBudget/c1-etcd",
      "PodDisruptionBudget/c1-kube-apiserver",
      "PodDisruptionBudget/c1-kube-controller-manager",
      "PodDisruptionBudget/c1-kube-scheduler",
      "Secret/c1-hcp-certificates",
      "Secret/c1-hcp-etcd",
      "Secret/c1-hcp-kube-apiserver",
      "Secret/c1-hcp-kube-controller-manager",
      "Secret/c1-hcp-kube-scheduler",
      "Service/c1-etcd",
      "Service/c1-kube-apiserver",
      "StatefulSet/c1-etcd-0",
      "StatefulSet/c1-etcd-1",
      "StatefulSet/c1-etcd-2",
    ]);
    expect([...objects.keys()].filter((key) => /^Pod\/c1-(etcd|kube)/.test(key))).toHaveLength(3 + 2 + 2 + 2);
  });

  it("etcd: three members that know each other by name, each with a volume", () => {
    const etcd = of("StatefulSet/c1-etcd-1");
    expect(etcd["spec"]).toMatchObject({
      replicas: 1,
      serviceName: "c1-etcd",
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: "fast",
            resources: { requests: { storage: "4Gi" } },
          },
        },
      ],
    });
    const [container] = containers(etcd);
    expect(container).toMatchObject({
      image: "registry.k8s.io/etcd:3.6.5-0",
      env: [
        {
          name: "ETCD_INITIAL_CLUSTER",
          valueFrom: { secretKeyRef: { name: "c1-hcp-etcd", key: "initial-cluster-1" } },
        },
        {
          name: "ETCD_INITIAL_CLUSTER_STATE",
          valueFrom: { secretKeyRef: { name: "c1-hcp-etcd", key: "initial-cluster-state-1" } },
        },
      ],
      resources: { requests: { cpu: "100m", memory: "100Mi" } },
      startupProbe: { httpGet: { path: "/livez", port: 2381, scheme: "HTTP" } },
      readinessProbe: { httpGet: { path: "/readyz", port: 2381 } },
    });
    const data = of("Secret/c1-hcp-etcd")["data"] as Record<string, string>;
    const value = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
    // It has run: with an empty volume it must not start empty.
    expect(value("initial-cluster-1")).toBe("c1-etcd-1=https://c1-etcd-1-0.c1-etcd.restricted.svc:2380");
    expect(value("initial-cluster-state-1")).toBe("existing");
    expect(container?.command).toEqual(
      expect.arrayContaining([
        "etcd",
        "--name=c1-etcd-1",
        "--data-dir=/var/lib/etcd/data",
        "--listen-client-urls=https://0.0.0.0:2379",
        "--advertise-client-urls=https://c1-etcd-1-0.c1-etcd.restricted.svc:2379",
        "--initial-advertise-peer-urls=https://c1-etcd-1-0.c1-etcd.restricted.svc:2380",
        "--client-cert-auth=true",
        "--peer-client-cert-auth=true",
        "--peer-cert-file=/etc/kubernetes/pki/etcd/peer.crt",
      ]),
    );
    expect(of("Service/c1-etcd")["spec"]).toMatchObject({
      clusterIP: "None",
      publishNotReadyAddresses: true,
      ports: [{ port: 2379 }, { port: 2380 }],
    });
    expect(of("NetworkPolicy/c1-etcd")["spec"]).toEqual({
      podSelector: selects("etcd"),
      policyTypes: ["Ingress"],
      ingress: [
        { from: [{ podSelector: selects("kube-apiserver") }], ports: [{ protocol: "TCP", port: 2379 }] },
        { from: [{ podSelector: selects("etcd") }], ports: [{ protocol: "TCP", port: 2379 }] },
        { from: [{ podSelector: selects("etcd") }], ports: [{ protocol: "TCP", port: 2380 }] },
      ],
    });
  });

  it("kube-apiserver: replaced without a gap, reached by one Service, with konnectivity next to it", () => {
    const apiserver = of("Deployment/c1-kube-apiserver");
    expect(apiserver["spec"]).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
    const [container, tunnel] = containers(apiserver);
    expect(container).toMatchObject({
      image: "registry.k8s.io/kube-apiserver:v1.34.4",
      resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } },
      livenessProbe: { httpGet: { path: "/livez", port: 6443, scheme: "HTTPS" } },
      readinessProbe: { httpGet: { path: "/readyz", port: 6443, scheme: "HTTPS" } },
      terminationMessagePolicy: "FallbackToLogsOnError",
    });
    const member = (index: number): string => `https://c1-etcd-${index}-0.c1-etcd.restricted.svc:2379`;
    expect(container?.command).toEqual(
      expect.arrayContaining([
        `--etcd-servers=${[0, 1, 2].map(member).join(",")}`,
        "--secure-port=6443",
        "--advertise-address=192.0.2.7",
        "--endpoint-reconciler-type=none",
        "--egress-selector-config-file=/etc/kubernetes/pki/egress-selector.yaml",
        "--shutdown-delay-duration=5s",
        "--event-ttl=2h",
      ]),
    );
    expect(tunnel).toMatchObject({
      name: "konnectivity-server",
      image: "registry.k8s.io/kas-network-proxy/proxy-server:v0.34.0",
    });
    expect(tunnel?.command).toEqual(expect.arrayContaining(["--server-count=2", "--server-id=$(POD_NAME)"]));
    expect(of("Service/c1-kube-apiserver")["spec"]).toMatchObject({
      type: "NodePort",
      selector: selects("kube-apiserver").matchLabels,
      ports: [
        { name: "https", port: 6443, targetPort: 6443 },
        { name: "konnectivity", port: 8132, targetPort: 8132 },
      ],
    });
  });

  it("kube-controller-manager and kube-scheduler: two of each agree on one that works, and reach the API by its Service", () => {
    for (const name of ["kube-controller-manager", "kube-scheduler"]) {
      const deployment = of(`Deployment/c1-${name}`);
      expect(deployment["spec"]).toMatchObject({ replicas: 2 });
      expect(containers(deployment)[0]?.command).toEqual(
        expect.arrayContaining(["--leader-elect=true", "--bind-address=0.0.0.0"]),
      );
      const key = `${name.replace("kube-", "")}.conf`;
      const data = of(`Secret/c1-hcp-${name}`)["data"] as Record<string, string>;
      expect(Buffer.from(data[key] ?? "", "base64").toString()).toContain(
        "server: https://c1-kube-apiserver.restricted.svc:6443",
      );
    }
    expect(containers(of("Deployment/c1-kube-scheduler"))[0]?.image).toBe("example.org/scheduler:v1");
  });

  it.each([
    "StatefulSet/c1-etcd-0",
    "Deployment/c1-kube-apiserver",
    "Deployment/c1-kube-controller-manager",
    "Deployment/c1-kube-scheduler",
  ])("%s may do nothing in the host cluster and spreads over it", (key) => {
    const component = key.slice(key.indexOf("/c1-") + 4).replace(/-0$/, "");
    const spec = podSpec(of(key));
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      nodeSelector: { pool: "infra" },
      imagePullSecrets: [{ name: "registry" }],
      tolerations: expect.arrayContaining([{ key: "infra", operator: "Exists" }]),
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 100,
              podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: selects(component) },
            },
          ],
        },
      },
      topologySpreadConstraints: [{ topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" }],
    });
    for (const container of containers(of(key)))
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    expect(of(`PodDisruptionBudget/c1-${component}`)["spec"]).toEqual({
      maxUnavailable: 1,
      selector: selects(component),
    });
    const text = JSON.stringify(of(key));
    expect(text).not.toContain("PRIVATE KEY");
  });

  it("each component has the files it names, and no other's keys", () => {
    const keys = (component: string): string[] =>
      Object.keys(of(`Secret/c1-hcp-${component}`)["data"] as object).toSorted();
    expect(keys("etcd")).toEqual([
      "etcd__ca.crt",
      "etcd__peer.crt",
      "etcd__peer.key",
      "etcd__server.crt",
      "etcd__server.key",
      ...[0, 1, 2].map((index) => `initial-cluster-${index}`),
      ...[0, 1, 2].map((index) => `initial-cluster-state-${index}`),
    ]);
    expect(keys("kube-scheduler")).toEqual(["scheduler.conf", "scheduler.crt", "scheduler.key"]);
    expect(keys("kube-apiserver")).not.toContain("ca-signing.key");
    expect(keys("kube-controller-manager")).toContain("ca-signing.key");
  });
});

describe("restoring", () => {
  it("fills volumes by pods of the strictest profile, which go when they are done", async () => {
    const dir = await mkdtemp(join(tmpdir(), "capstan-pods-real-"));
    const file = join(dir, "snapshot.db");
    await writeFile(file, "data");
    const world = host.world({ expose: { type: "ClusterIP" }, etcd: { replicas: 3, storage: { size: "1Gi" } } });
    const owner = "restricted/c2";
    const restore = { name: "restricted/c2/20261116T030000Z", snapshotFile: () => Promise.resolve(file) };
    const plan = { ...(await makePlan(world, owner)), restore };
    const seen = new Set<string>();
    let ready = 0;
    for (let turn = 0; turn < 400 && ready < 6; turn++) {
      const state = await world.placement.ensure(plan);
      ready = state.components.filter((component) => component.ready).length;
      for (const { kind, metadata } of await podObjects(host.client, owner))
        if (kind === "Pod" && metadata.name?.endsWith("-restore") === true) seen.add(metadata.name);
      await world.progress();
    }
    expect(ready).toBe(6);
    expect([...seen].toSorted()).toEqual(["c2-etcd-0-restore", "c2-etcd-1-restore", "c2-etcd-2-restore"]);
    const left = (await podObjects(host.client, owner)).map(({ metadata }) => metadata.name ?? "");
    expect(left.filter((name) => name.endsWith("-restore"))).toEqual([]);
    const placed = { spec: plan.spec };
    while ((await world.placement.remove(owner, placed)).length > 0) await world.progress();
    expect(await podObjects(host.client, owner)).toEqual([]);
    await world.close();
    await rm(dir, { recursive: true, force: true });
  });
});

describe("another etcd", () => {
  it("is tried in a pod of the strictest profile; one that fails with the data goes back, and its StatefulSet is freed of it", async () => {
    const world = host.world({ expose: { type: "ClusterIP" }, etcd: { storage: { size: "1Gi" } } });
    const owner = "restricted/c3";
    const image = "example.org/etcd:3.6.9-0";
    world.runner.fate = ({ metadata, spec }) =>
      metadata.name === "c3-etcd-0-0" && JSON.stringify(spec).includes(image) ? CRASHING : undefined;
    const plan = await makePlan(world, owner);
    const until = async (change: typeof plan, done: (reason: string | undefined) => boolean): Promise<string[]> => {
      const seen = new Set<string>();
      for (let turn = 0; turn < 400; turn++) {
        const { components, upgrade } = await world.placement.ensure(change);
        for (const { kind, metadata } of await podObjects(host.client, owner))
          if (kind === "Pod") seen.add(metadata.name ?? "");
        if (components.filter(({ ready }) => ready).length === 4 && done(upgrade?.reason)) return [...seen];
        await world.progress();
      }
      return expect.fail("not after 400 steps");
    };
    await until(plan, (reason) => reason === undefined);
    const other = { ...plan, spec: { ...plan.spec, etcd: { ...plan.spec.etcd, image } } };
    expect(await until(other, (reason) => reason === "ConfigurationRefused")).toContain("c3-etcd-next");
    const left = await podObjects(host.client, owner);
    expect(left.filter((object) => JSON.stringify(object["spec"] ?? {}).includes(image))).toEqual([]);
    expect(left.map(({ metadata }) => metadata.name)).not.toContain("c3-etcd-next");
    while ((await world.placement.remove(owner, { spec: plan.spec })).length > 0) await world.progress();
    await world.close();
  });
});

const CRASHING = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "False" }],
  containerStatuses: [
    {
      name: "etcd",
      ready: false,
      restartCount: 3,
      image: "",
      imageID: "",
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1, message: "panic" } },
    },
  ],
};

interface Container {
  name: string;
  image: string;
  command: string[];
  securityContext: object;
}

function podSpec(object: Unstructured): { containers: Container[] } {
  return (object["spec"] as { template: { spec: { containers: Container[] } } }).template.spec;
}

function containers(object: Unstructured): Container[] {
  return podSpec(object).containers;
}

function selects(component: string): { matchLabels: Record<string, string> } {
  return { matchLabels: { "capstan.dev/hosted": "c1", "app.kubernetes.io/component": component } };
}
