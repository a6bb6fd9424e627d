import { isReason, type Unstructured } from "@capstan/apimachinery";
import { Machine } from "@capstan/capi";
import { HostSecret, PersistentVolumeClaim, Pod, type PodStatus } from "@capstan/workloads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { running } from "../testing/outer.ts";
import { World, type WorldOptions } from "../testing/world.ts";

let world: World;
const start = async (options: WorldOptions = {}): Promise<void> => {
  world = await World.start(options);
};
beforeEach(() => start());
afterEach(() => world.close());

const restart = async (options: WorldOptions): Promise<void> => {
  await world.close();
  await start(options);
};
const key = { namespace: "default", name: "m1" };
const NODE = { apiVersion: "v1", kind: "Node" };
const NAMESPACE = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;

/** Status of a pod whose container has started and whose script still runs. */
const bootstrapping: PodStatus = {
  phase: "Running",
  containerStatuses: [{ name: "node", ready: false, started: false, state: { running: {} } }],
};
const exited = (message: string): PodStatus => ({
  phase: "Failed",
  containerStatuses: [{ name: "node", state: { terminated: { reason: "Error", exitCode: 1, message } } }],
});
const fate = (status: PodStatus | undefined): void => {
  world.outer.runner.fate = status === undefined ? running : () => status;
};
const secrets = async (): Promise<string[]> =>
  (await world.client.list(HostSecret, { labelSelector: "capstan.dev/hosted" })).items
    .map(({ metadata }) => metadata.name ?? "")
    .sort();

describe("a machine", () => {
  test("is ready once its bootstrap script has succeeded, with the pod's addresses", async () => {
    fate(bootstrapping);
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ status: "False", reason: "Bootstrapping" });
    expect(await world.condition("BootstrapSucceeded")).toMatchObject({ status: "Unknown" });
    fate(undefined);
    await world.pass(5);
    const { spec, status } = await world.get();
    expect(spec?.providerID).toBe("kubernetes://default/m1");
    expect(status?.initialization?.provisioned).toBe(true);
    expect(status?.podRef?.name).toBe("m1");
    expect(status?.restarts).toBe(0);
    expect(status?.addresses).toEqual([
      { type: "InternalIP", address: expect.stringMatching(/^10\./) as string },
      { type: "Hostname", address: "m1" },
    ]);
    expect(await world.condition("BootstrapSucceeded")).toMatchObject({ status: "True" });
  });

  test("loses its bootstrap Secret after success, and keeps the scripts", async () => {
    fate(bootstrapping);
    await world.machine("m1");
    expect(await secrets()).toEqual(["m1-node-bootstrap", "m1-node-scripts"]);
    fate(undefined);
    await world.pass(5);
    expect(await secrets()).toEqual(["m1-node-scripts"]);
  });

  test("gets a script that is compiled from its bootstrap data", async () => {
    fate(bootstrapping);
    await world.machine("m1");
    const secret = await world.client.get(HostSecret, { namespace: "default", name: "m1-node-bootstrap" });
    const script = Buffer.from(secret?.data?.["bootstrap"] ?? "", "base64").toString("utf8");
    expect(script).toContain("kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml");
  });

  test("reports what of its bootstrap data a pod cannot do, and creates nothing", async () => {
    await restart({ userData: "#cloud-config\ndisk_setup:\n  /dev/sdb: {table_type: gpt}\n" });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({
      reason: "BootstrapDataNotSupported",
      message: expect.stringContaining("disk_setup") as string,
    });
    expect(await world.pod()).toBeUndefined();
  });

  test("whose bootstrap script fails reports the command and its output, without tokens, and is not tried again", async () => {
    fate(exited('"kubeadm join" exited with code 1\ntoken abcdef.0123456789abcdef is expired'));
    await world.machine("m1");
    const condition = await world.condition("BootstrapSucceeded");
    expect(condition).toMatchObject({ status: "False", reason: "BootstrapFailed" });
    expect(condition?.message).toContain('"kubeadm join" exited with code 1');
    expect(condition?.message).not.toContain("0123456789abcdef");
    expect(await world.condition()).toMatchObject({ status: "False", reason: "BootstrapFailed" });
    const uid = (await world.pod())?.metadata.uid;
    await world.pass(1200);
    expect((await world.pod())?.metadata.uid).toBe(uid);
  });

  test("is deleted with its pod, Secrets and claims", async () => {
    await world.machine("m1", { volumeClaimTemplates: [claim("var-lib-kubelet")] });
    await world.client.delete(await world.get());
    await world.pass(10);
    expect(await world.pod()).toBeUndefined();
    expect(await secrets()).toEqual([]);
    expect((await world.client.list(PersistentVolumeClaim)).items).toEqual([]);
    await expect(world.get()).rejects.toThrow("does not exist");
  });

  test("leaves its claims if its retention policy says so", async () => {
    await world.machine("m1", {
      volumeClaimTemplates: [claim("var-lib-kubelet")],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain" },
    });
    await world.client.delete(await world.get());
    await world.pass(10);
    const claims = (await world.client.list(PersistentVolumeClaim)).items.map(({ metadata }) => metadata.name);
    expect(claims).toEqual(["var-lib-kubelet-m1"]);
    await expect(world.get()).rejects.toThrow("does not exist");
  });
});

const claim = (name: string): object => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

describe("a lost pod", () => {
  const lose = async (): Promise<void> => {
    await world.client.delete((await world.pod()) as Pod, { gracePeriodSeconds: 0 });
    await world.pass(5);
  };

  test("of a machine with policy Never makes the machine fail, and is not created again", async () => {
    await world.machine("m1");
    await lose();
    expect(await world.condition()).toMatchObject({ status: "False", reason: "PodLost" });
    await world.pass(1200);
    expect(await world.pod()).toBeUndefined();
    expect((await world.get()).status?.initialization?.provisioned).toBe(true);
  });

  test("of a machine with policy Never asks health checks to replace the Machine, and one that starts does not", async () => {
    fate(bootstrapping);
    await world.machine("m1");
    const remediation = async (): Promise<unknown> =>
      (await world.client.get(Machine, key))?.metadata.annotations?.["cluster.x-k8s.io/remediate-machine"];
    expect(await remediation()).toBeUndefined();
    fate(undefined);
    await world.pass(5);
    await lose();
    expect(await remediation()).toBe("");
  });

  test.each([{ recreationPolicy: "Always" }, { allowRecreation: true }])(
    "is created again with %j, with the same claims and provider ID",
    async (policy) => {
      await world.machine("m1", { ...policy, volumeClaimTemplates: [claim("var-lib-kubelet")] });
      const before = await world.client.get(PersistentVolumeClaim, {
        namespace: "default",
        name: "var-lib-kubelet-m1",
      });
      await lose();
      expect(await world.condition()).toMatchObject({ status: "True" });
      expect((await world.get()).status?.restarts).toBe(1);
      expect((await world.get()).spec?.providerID).toBe("kubernetes://default/m1");
      const after = await world.client.get(PersistentVolumeClaim, { namespace: "default", name: "var-lib-kubelet-m1" });
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
    },
  );

  test("that is lost again and again is created at growing intervals", async () => {
    await world.machine("m1", { recreationPolicy: "Always" });
    await lose();
    await lose();
    expect(await world.pod()).toBeUndefined();
    expect(await world.condition()).toMatchObject({ reason: "Recreating" });
    await world.pass(10);
    expect(await world.pod()).toBeDefined();
  });

  test("that does not return in time makes a person act", async () => {
    await world.machine("m1", { recreationPolicy: "Always", recreationTimeout: "5m" });
    fate(bootstrapping);
    await lose();
    await world.pass(240);
    expect(await world.condition()).toMatchObject({ reason: "Bootstrapping" });
    await world.pass(150);
    expect(await world.condition()).toMatchObject({ reason: "RecreationTimeout" });
  });

  test("that does not return in time asks health checks to replace the Machine", async () => {
    const remediation = async (): Promise<unknown> =>
      (await world.client.get(Machine, key))?.metadata.annotations?.["cluster.x-k8s.io/remediate-machine"];
    await world.machine("m1", { recreationPolicy: "Always", recreationTimeout: "5m" });
    fate(bootstrapping);
    await lose();
    await world.pass(240);
    expect(await remediation()).toBeUndefined();
    await world.pass(150);
    expect(await remediation()).toBe("");
  });

  test("that finds no room in time asks health checks to replace the Machine", async () => {
    await world.machine("m1", { recreationPolicy: "Always", recreationTimeout: "5m" });
    fate({
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }],
    });
    await lose();
    expect(await world.condition()).toMatchObject({ reason: "InsufficientCapacity" });
    await world.pass(400);
    expect(await world.condition()).toMatchObject({ reason: "RecreationTimeout" });
  });

  test("that has ended is deleted first", async () => {
    await world.machine("m1", { recreationPolicy: "Always" });
    const uid = (await world.pod())?.metadata.uid;
    const evicted: PodStatus = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." };
    world.outer.runner.fate = (pod) => (pod.metadata.uid === uid ? evicted : running(pod));
    await world.pass(5);
    expect((await world.pod())?.metadata.uid).not.toBe(uid);
    expect(await world.condition()).toMatchObject({ status: "True" });
  });
});

describe("a pod that does not start", () => {
  const reports: [string, PodStatus, string, string][] = [
    [
      "for which no outer node has room",
      {
        phase: "Pending",
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "0/2 nodes are available: 2 Insufficient memory.",
          },
        ],
      },
      "InsufficientCapacity",
      "2 Insufficient memory",
    ],
    [
      "whose image cannot be pulled",
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "True" }],
        containerStatuses: [
          {
            name: "node",
            state: {
              waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "kindest/node:v1.34.4"' },
            },
          },
        ],
      },
      "ImagePullFailed",
      "correct spec.image",
    ],
    [
      "whose image has another architecture",
      {
        phase: "Failed",
        containerStatuses: [
          {
            name: "node",
            state: {
              terminated: { reason: "StartError", exitCode: 128, message: "exec /bin/bash: exec format error" },
            },
          },
        ],
      },
      "BootstrapFailed",
      "another processor architecture",
    ],
    [
      "whose image has no systemd",
      exited("the image has no /sbin/init: use a node image, which has systemd, containerd, kubelet and kubeadm"),
      "BootstrapFailed",
      "no /sbin/init",
    ],
    [
      "that is evicted",
      { phase: "Failed", reason: "Evicted", message: "The node was low on resource: ephemeral-storage." },
      "PodEvicted",
      "ephemeral-storage",
    ],
    [
      "that is preempted",
      {
        phase: "Failed",
        conditions: [
          {
            type: "DisruptionTarget",
            status: "True",
            reason: "PreemptionByScheduler",
            message: "default-scheduler: preempting to accommodate a higher priority pod",
          },
        ],
      },
      "PodDisrupted",
      "higher priority pod",
    ],
    [
      "that is killed for its memory",
      {
        phase: "Failed",
        containerStatuses: [{ name: "node", state: { terminated: { reason: "OOMKilled", exitCode: 137 } } }],
      },
      "PodOOMKilled",
      "resources.limits.memory",
    ],
    [
      "that the outer node refuses",
      { phase: "Failed", reason: "UnexpectedAdmissionError", message: "Allocate failed due to not enough devices" },
      "UnexpectedAdmissionError",
      "not enough devices",
    ],
    [
      "whose container cannot be created",
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "True" }],
        containerStatuses: [
          {
            name: "node",
            state: {
              waiting: {
                reason: "CreateContainerError",
                message: "failed to mount rootfs component: overlay on overlay",
              },
            },
          },
        ],
      },
      "ContainerCannotStart",
      "overlay on overlay; give the container runtime of the outer node a folder",
    ],
  ];

  test.each(reports)("%s is reported in the outer cluster's words", async (_, status, reason, words) => {
    fate(status);
    await world.machine("m1");
    const condition = await world.condition();
    expect(condition).toMatchObject({ status: "False", reason });
    expect(condition?.message).toContain(words);
    const revision = (await world.get()).metadata.resourceVersion;
    await world.pass(600);
    expect((await world.get()).metadata.resourceVersion, "an unchanged problem is written once").toBe(revision);
  });

  test("because its claim is pending is reported with the claim", async () => {
    fate({
      phase: "Pending",
      conditions: [
        {
          type: "PodScheduled",
          status: "False",
          reason: "Unschedulable",
          message: "pod has unbound immediate PersistentVolumeClaims",
        },
      ],
    });
    await world.machine("m1", { volumeClaimTemplates: [claim("var-lib-etcd")] });
    const made = await world.client.get(PersistentVolumeClaim, { namespace: "default", name: "var-lib-etcd-m1" });
    await world.client.patchStatus(made as PersistentVolumeClaim, { status: { phase: "Pending" } });
    await world.pass(2);
    expect(await world.condition()).toMatchObject({
      reason: "ClaimPending",
      message: expect.stringContaining("no default StorageClass") as string,
    });
  });
});

describe("before a pod is created", () => {
  test("a namespace of the management cluster has to allow privileged pods explicitly", async () => {
    const label = (level: string | null): Promise<unknown> =>
      world.client.patch(
        { kind: NAMESPACE, name: "default" },
        { metadata: { labels: { "pod-security.kubernetes.io/enforce": level } } },
      );
    await label(null);
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({
      reason: "PodSecurityForbids",
      message: expect.stringContaining(
        "kubectl label namespace default pod-security.kubernetes.io/enforce=privileged",
      ) as string,
    });
    expect(await world.pod()).toBeUndefined();
    await label("baseline");
    await world.machine("m2");
    expect((await world.condition("Ready", "m2"))?.message).toContain("enforces Pod Security baseline");
  });

  test("a pod in a user namespace needs no such label", async () => {
    await world.client.patch(
      { kind: NAMESPACE, name: "default" },
      { metadata: { labels: { "pod-security.kubernetes.io/enforce": null } } },
    );
    await world.machine("m1", { runtimeClassName: "sysbox-runc" });
    expect(await world.condition()).toMatchObject({ status: "True" });
  });

  test("a pod of that name that belongs to someone else is left alone", async () => {
    const foreign = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: "default", name: "m1" },
      spec: { containers: [{ name: "a", image: "b" }] },
    };
    const made = await world.client.create<Unstructured>(foreign);
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ reason: "NameTaken" });
    await world.client.delete(await world.get());
    await world.pass(5);
    expect((await world.pod())?.metadata.uid).toBe(made.metadata.uid);
  });

  test("networks that the outer cluster has too are refused", async () => {
    await world.client.create({
      ...NODE,
      metadata: { name: "outer-1" },
      spec: { podCIDR: "10.244.1.0/24" },
    } as Unstructured);
    await world.pass(31);
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({
      reason: "NetworksOverlap",
      message: expect.stringContaining(
        "spec.clusterNetwork.pods 10.244.0.0/16 of the Cluster overlaps 10.244.1.0/24",
      ) as string,
    });
    expect(await world.pod()).toBeUndefined();
  });

  test("a machine without image and version is refused", async () => {
    await world.machine("m1", {}, { core: { version: undefined } });
    expect(await world.condition()).toMatchObject({ reason: "ImageUnknown" });
  });

  test("a template that would give the machine a service account is refused", async () => {
    await world.machine("m1", { podTemplate: { spec: { serviceAccountName: "admin" } } });
    expect(await world.condition()).toMatchObject({ reason: "PodTemplateInvalid" });
    expect(await world.pod()).toBeUndefined();
  });

  test("what the outer API server refuses is reported in its words", async () => {
    await world.machine("m1", { podTemplate: { spec: { dnsPolicy: "Sometimes" } } });
    expect(await world.condition()).toMatchObject({
      reason: "HostClusterRefuses",
      message: expect.stringContaining("dnsPolicy") as string,
    });
  });
});

describe("a deleted machine", () => {
  beforeEach(async () => {
    await world.machine("m1");
    world.outer.runner.keep.add("m1");
  });

  /** The embedded API deletes pods without grace; a kubelet that holds one is a finalizer here. */
  const hold = async (on: boolean): Promise<void> => {
    const pod = (await world.pod()) as Pod;
    await world.client.patch(pod, { metadata: { finalizers: on ? ["example.org/kubelet"] : null } });
  };

  test("whose outer node is lost says what to do, and is deleted by force once the node is out of service", async () => {
    const node = await world.client.create<Unstructured>({ ...NODE, metadata: { name: "outer-1" } } as Unstructured);
    await world.client.createSubresource({ kind: Pod, ...key }, "binding", {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace: "default", name: "m1" },
      target: { kind: "Node", name: "outer-1" },
    });
    await hold(true);
    await world.client.delete(await world.get());
    await world.pass(20);
    expect(await world.condition("Deleting")).toMatchObject({ status: "True", reason: "DeletingPod" });
    await world.pass(100);
    const deleting = await world.condition("Deleting");
    expect(deleting).toMatchObject({ status: "True", reason: "PodNotTerminating" });
    expect(deleting?.message).toContain("kubectl taint node outer-1 node.kubernetes.io/out-of-service");
    await world.client.patch(node, {
      spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] },
    });
    await world.pass(30);
    expect((await world.condition("Deleting"))?.message).toContain("by force: outer node outer-1 is lost");
    await hold(false);
    await world.pass(30);
    expect(await world.pod()).toBeUndefined();
    await expect(world.get()).rejects.toThrow("does not exist");
  });
});

describe("without a cluster that runs pods", () => {
  test("a machine says which field names one, and can be deleted", async () => {
    await restart({ runsPods: false });
    expect(await world.clusterCondition()).toMatchObject({ reason: "NothingRunsPods" });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({
      reason: "NothingRunsPods",
      message: expect.stringContaining("spec.hostCluster.secretName") as string,
    });
    await world.client.delete(await world.get());
    await world.pass(3);
    await expect(world.get()).rejects.toThrow("does not exist");
  });
});

test("the spec of a machine never changes", async () => {
  await world.machine("m1");
  const change = world.client.patch(await world.get(), { spec: { image: "example.org/node:2" } });
  await expect(change).rejects.toSatisfy((error) => isReason(error, "Invalid"));
});
