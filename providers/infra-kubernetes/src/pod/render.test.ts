import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";
import { describe, expect, test } from "vitest";
import { type PodInput, renderPod } from "./render.ts";
import type { Container, PodSpec } from "./shape.ts";

const input = (settings: PodInput["settings"] = {}, more: Partial<PodInput> = {}): PodInput => ({
  key: { namespace: "team-a", name: "m1" },
  cluster: "c1",
  controlPlane: false,
  version: "v1.34.4",
  apiPort: 6443,
  settings,
  failureDomain: undefined,
  bootstrapTimeoutSeconds: 600,
  ...more,
});
const specOf = (...args: Parameters<typeof input>): PodSpec => renderPod(input(...args)).spec as PodSpec;
const nodeOf = (...args: Parameters<typeof input>): Container => specOf(...args).containers?.[0] as Container;
const mountAt = (node: Container, path: string): unknown =>
  node.volumeMounts?.find(({ mountPath }) => mountPath === path);
const volumeOf = (spec: PodSpec, name: string): unknown => spec.volumes?.filter((volume) => volume.name === name);

test("a worker's pod without any settings", () => {
  expect(renderPod(input())).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "kind": "Pod",
      "metadata": {
        "annotations": {
          "capstan.dev/hosted-by": "team-a/kubernetesmachine/m1",
        },
        "labels": {
          "app.kubernetes.io/component": "machine",
          "app.kubernetes.io/managed-by": "capstan",
          "capstan.dev/hosted": "m1",
          "cluster.x-k8s.io/cluster-name": "c1",
        },
        "name": "m1",
        "namespace": "team-a",
      },
      "spec": {
        "automountServiceAccountToken": false,
        "containers": [
          {
            "command": [
              "/bin/bash",
              "/capstan/entrypoint",
            ],
            "env": [
              {
                "name": "CAPSTAN_STAGE",
                "value": "outside",
              },
              {
                "name": "CAPSTAN_PROVIDER_ID",
                "value": "kubernetes://team-a/m1",
              },
              {
                "name": "CAPSTAN_MACHINE_ID",
                "value": "fbcfc104e8ac9a29a0401ee5182373df",
              },
              {
                "name": "CAPSTAN_CPU_MILLIS",
                "value": "",
              },
              {
                "name": "CAPSTAN_MEMORY_KI",
                "value": "",
              },
            ],
            "image": "kindest/node:v1.34.4",
            "imagePullPolicy": "IfNotPresent",
            "name": "node",
            "resources": {
              "requests": {
                "cpu": "1m",
              },
            },
            "securityContext": {
              "appArmorProfile": {
                "type": "Unconfined",
              },
              "privileged": true,
              "seccompProfile": {
                "type": "Unconfined",
              },
            },
            "startupProbe": {
              "exec": {
                "command": [
                  "/bin/bash",
                  "/capstan/probe",
                ],
              },
              "failureThreshold": 450,
              "periodSeconds": 2,
              "timeoutSeconds": 5,
            },
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "tty": true,
            "volumeMounts": [
              {
                "mountPath": "/run",
                "name": "run",
              },
              {
                "mountPath": "/tmp",
                "name": "tmp",
              },
              {
                "mountPath": "/var/lib/containerd",
                "name": "var-lib-containerd",
              },
              {
                "mountPath": "/var/lib/kubelet",
                "name": "var-lib-kubelet",
              },
              {
                "mountPath": "/var/log",
                "name": "var-log",
              },
              {
                "mountPath": "/mnt/outer-lib",
                "name": "outer-lib",
                "readOnly": true,
              },
              {
                "mountPath": "/capstan",
                "name": "capstan",
                "readOnly": true,
              },
            ],
          },
        ],
        "enableServiceLinks": false,
        "hostname": "m1",
        "priorityClassName": undefined,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 60,
        "topologySpreadConstraints": [
          {
            "labelSelector": {
              "matchExpressions": [
                {
                  "key": "cluster.x-k8s.io/control-plane",
                  "operator": "DoesNotExist",
                },
              ],
              "matchLabels": {
                "cluster.x-k8s.io/cluster-name": "c1",
              },
            },
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
          },
        ],
        "volumes": [
          {
            "emptyDir": {
              "medium": "Memory",
            },
            "name": "run",
          },
          {
            "emptyDir": {
              "medium": "Memory",
            },
            "name": "tmp",
          },
          {
            "emptyDir": {},
            "name": "var-lib-containerd",
          },
          {
            "emptyDir": {},
            "name": "var-lib-kubelet",
          },
          {
            "emptyDir": {},
            "name": "var-log",
          },
          {
            "hostPath": {
              "path": "/lib",
              "type": "Directory",
            },
            "name": "outer-lib",
          },
          {
            "name": "capstan",
            "projected": {
              "defaultMode": 256,
              "sources": [
                {
                  "secret": {
                    "name": "m1-node-scripts",
                  },
                },
                {
                  "secret": {
                    "name": "m1-node-bootstrap",
                    "optional": true,
                  },
                },
              ],
            },
          },
        ],
      },
    }
  `);
});

test("a control plane's pod has the port and probe of its API server, and a folder for etcd", () => {
  const node = nodeOf({}, { controlPlane: true, apiPort: 8443 });
  expect(node.ports).toEqual([{ name: "kube-apiserver", containerPort: 8443, protocol: "TCP" }]);
  expect(node["readinessProbe"]).toEqual({ tcpSocket: { port: 8443 }, periodSeconds: 2, failureThreshold: 2 });
  expect(mountAt(node, "/var/lib/etcd")).toEqual({ name: "var-lib-etcd", mountPath: "/var/lib/etcd" });
  const { metadata } = renderPod(input({}, { controlPlane: true }));
  expect(metadata.labels).toMatchObject({
    "cluster.x-k8s.io/control-plane": "",
    "cluster.x-k8s.io/cluster-name": "c1",
  });
});

describe("the image", () => {
  test.each([
    [{}, "kindest/node:v1.34.4"],
    [{ image: "capstan.dev/node@sha256:abc" }, "capstan.dev/node@sha256:abc"],
    [{ podTemplate: { spec: { containers: [{ name: "kind", image: "example.org/kind:1" }] } } }, "example.org/kind:1"],
    [{ containers: [{ name: "node", image: "example.org/node:1" }] }, "example.org/node:1"],
  ])("of %j is %s", (settings, image) => {
    expect(nodeOf(settings)["image"]).toBe(image);
  });
});

describe("the pod template", () => {
  test("keeps what it says about scheduling, and adds the failure domain to it", () => {
    const own = { key: "disk", operator: "In", values: ["ssd"] };
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [own] }] },
      },
    };
    const spec = specOf(
      { podTemplate: { spec: { affinity, nodeSelector: { pool: "a" }, topologySpreadConstraints: [] } } },
      { failureDomain: { label: "topology.kubernetes.io/zone", value: "z1" } },
    );
    expect(spec["nodeSelector"]).toEqual({ pool: "a" });
    expect(spec["topologySpreadConstraints"]).toEqual([]);
    expect(spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      { matchExpressions: [own, { key: "topology.kubernetes.io/zone", operator: "In", values: ["z1"] }] },
    ]);
  });

  test("replaces a volume of the node by name, and a mount by its folder", () => {
    const spec = specOf({
      podTemplate: {
        spec: {
          volumes: [
            { name: "var-log", emptyDir: { sizeLimit: "1Gi" } },
            { name: "mine", emptyDir: {} },
          ],
          containers: [{ name: "node", volumeMounts: [{ name: "mine", mountPath: "/var/lib/containerd" }] }],
        },
      },
    });
    expect(volumeOf(spec, "var-log")).toEqual([{ name: "var-log", emptyDir: { sizeLimit: "1Gi" } }]);
    expect(volumeOf(spec, "var-lib-containerd")).toEqual([]);
    const mounts = spec.containers?.[0]?.volumeMounts?.filter(({ mountPath }) => mountPath === "/var/lib/containerd");
    expect(mounts).toEqual([{ name: "mine", mountPath: "/var/lib/containerd" }]);
  });

  test("that mounts kernel modules itself gets none of the outer node", () => {
    const volumeMounts = [{ name: "modules", mountPath: "/lib/modules" }];
    const spec = specOf({
      podTemplate: {
        spec: { volumes: [{ name: "modules", emptyDir: {} }], containers: [{ name: "node", volumeMounts }] },
      },
    });
    expect(volumeOf(spec, "outer-lib")).toEqual([]);
  });

  test("cannot change what identifies the machine", () => {
    const pod = renderPod(
      input({
        podTemplate: {
          metadata: {
            labels: {
              "capstan.dev/hosted": "other",
              "cluster.x-k8s.io/cluster-name": "other",
              "cluster.x-k8s.io/control-plane": "",
              team: "a",
            },
            annotations: { "capstan.dev/hosted-by": "team-a/other", note: "b" },
          },
          spec: { hostname: "other", restartPolicy: "Always", automountServiceAccountToken: true },
        },
      }),
    );
    expect(pod.metadata.labels).toMatchObject({
      "capstan.dev/hosted": "m1",
      "cluster.x-k8s.io/cluster-name": "c1",
      team: "a",
    });
    expect(pod.metadata.labels).not.toHaveProperty("cluster.x-k8s.io/control-plane");
    expect(pod.metadata.annotations).toEqual({ "capstan.dev/hosted-by": "team-a/kubernetesmachine/m1", note: "b" });
    expect(pod.spec).toMatchObject({ hostname: "m1", restartPolicy: "Never", automountServiceAccountToken: false });
  });

  test("keeps further containers, after the node", () => {
    const spec = specOf({ podTemplate: { spec: { containers: [{ name: "proxy", image: "example.org/proxy:1" }] } } });
    expect(spec.containers?.map(({ name }) => name)).toEqual(["node", "proxy"]);
  });

  test("accepts the fields of a PodSpec directly in the spec, as older manifests have them", () => {
    const spec = specOf({ containers: [{ name: "kind", volumeMounts: [] }], tolerations: [{ operator: "Exists" }] });
    expect(spec.containers?.map(({ name }) => name)).toEqual(["kind"]);
    expect(spec["tolerations"]).toEqual([{ operator: "Exists" }]);
  });
});

describe("resources", () => {
  const valueOf = (node: Container, name: string): unknown =>
    (node.env as { name: string; value: string }[]).find((each) => each.name === name)?.value;

  test("limits are handed to the entry point, which reserves the rest of the outer node", () => {
    const node = nodeOf({ resources: { limits: { cpu: "1500m", memory: "2Gi" } } });
    expect(valueOf(node, "CAPSTAN_CPU_MILLIS")).toBe("1500");
    expect(valueOf(node, "CAPSTAN_MEMORY_KI")).toBe("2097152");
    expect(node.resources).toEqual({ limits: { cpu: "1500m", memory: "2Gi" } });
  });

  test("a pod is never BestEffort", () => {
    expect(nodeOf().resources).toEqual({ requests: { cpu: "1m" } });
    expect(nodeOf({ resources: { requests: { memory: "1Gi" } } }).resources).toEqual({ requests: { memory: "1Gi" } });
    expect(nodeOf({ resources: { requests: { cpu: "0", memory: 0 } } }).resources).toEqual({
      requests: { cpu: "1m", memory: 0 },
    });
    const beside = { containers: [{ name: "proxy", image: "a", resources: { requests: { cpu: "10m" } } }] };
    expect(nodeOf({ podTemplate: { spec: beside } }).resources).toEqual({});
  });
});

describe("claims", () => {
  const claims = (...names: string[]) => names.map((name) => ({ metadata: { name }, spec: {} }));

  test("of known names take the place of the node's own volumes", () => {
    const spec = specOf({ volumeClaimTemplates: claims("var-lib-etcd", "etc-kubernetes") }, { controlPlane: true });
    expect(volumeOf(spec, "var-lib-etcd")).toEqual([
      { name: "var-lib-etcd", persistentVolumeClaim: { claimName: "var-lib-etcd-m1" } },
    ]);
    const node = spec.containers?.[0] as Container;
    expect(mountAt(node, "/etc/kubernetes")).toEqual({ name: "etc-kubernetes", mountPath: "/etc/kubernetes" });
    expect(node.volumeMounts?.filter(({ mountPath }) => mountPath === "/var/lib/etcd")).toHaveLength(1);
  });

  test("take the place of equally named volumes of the template", () => {
    const spec = specOf({
      volumeClaimTemplates: claims("data"),
      podTemplate: { spec: { volumes: [{ name: "data", emptyDir: {} }] } },
    });
    expect(volumeOf(spec, "data")).toEqual([{ name: "data", persistentVolumeClaim: { claimName: "data-m1" } }]);
  });
});

describe("privileges", () => {
  test.each([
    ["a runtime class", { runtimeClassName: "sysbox-runc" }],
    ["a user namespace", { podTemplate: { spec: { hostUsers: false } } }],
  ])("are not needed with %s, nor any folder of the host", (_, settings) => {
    const spec = specOf(settings);
    expect(spec.containers?.[0]?.securityContext).not.toHaveProperty("privileged");
    expect(spec.volumes?.some((volume) => "hostPath" in volume)).toBe(false);
  });

  test("can be set in the template", () => {
    const containers = [{ name: "node", securityContext: { privileged: false, capabilities: { add: ["SYS_ADMIN"] } } }];
    expect(nodeOf({ podTemplate: { spec: { containers } } }).securityContext).toEqual({
      privileged: false,
      capabilities: { add: ["SYS_ADMIN"] },
    });
  });
});

test.each([false, true])("Kubernetes accepts the pod, control plane: %s", async (controlPlane) => {
  const server = await createApiServer({ store: memoryStore(), clock: new VirtualClock(), random: seededRandom(1) });
  const client = new Client(server.admin(), { fieldManager: "test", clock: new VirtualClock() });
  const settings = {
    volumeClaimTemplates: [{ metadata: { name: "var-lib-kubelet" } }],
    resources: { limits: { cpu: "1", memory: "1Gi" } },
  };
  const pod = renderPod(
    input(settings, {
      key: { namespace: "default", name: "m1" },
      controlPlane,
      failureDomain: { label: "zone", value: "z1" },
    }),
  );
  await client.create(pod as unknown as Unstructured);
  await server.close();
});
