import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFailed, test } from "vitest";
import { changesOf, eventually, type HostState, stateOfHost, timed } from "./harness/index.ts";
import { HostedWorld } from "./hosted-world.ts";
import { PodsWorld } from "./pods-world.ts";

/** Pods as the machines of a cluster: real kubelets in pods of a real cluster with two nodes. The manager is killed in every step. */
let world: PodsWorld;
let alone: HostedWorld;
let before: HostState[];
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** What belongs to machines on an outer node; its first pod brings the bridge. */
const OF_MACHINES = /^((left|lost): (mount|interface|netns|cgroup)|left: container) (?!cni0$)/;
const KINDS =
  "pods,services,secrets,configmaps,persistentvolumeclaims,poddisruptionbudgets,deployments,statefulsets,networkpolicies";

beforeAll(async () => {
  world = await PodsWorld.start(["o1", "o2"]);
  alone = new HostedWorld(world.capstan, world.lab, "alone");
  before = await timed("state of the outer nodes", () => withoutDns(stateOfOuterNodes));
});
afterAll(async () => {
  await world?.close();
  alone?.close();
});

/** Does something while the outer cluster has no pods that move between its nodes. */
async function withoutDns<T>(action: () => Promise<T>): Promise<T> {
  const { outer } = world;
  const dns = ["-n", "kube-system", "scale", "deployment/coredns"];
  await outer.kubectl(...dns, "--replicas=0");
  const pods = (): Promise<string> => outer.kubectl("get", "pods", "-A", "-l", "k8s-app=kube-dns", "-o", "name");
  await eventually("no pods of CoreDNS", async () => (await pods()) === "");
  const result = await action();
  await outer.kubectl(...dns, "--replicas=2");
  return result;
}

const stateOfOuterNodes = (): Promise<HostState[]> => Promise.all(world.nodes.map(stateOfHost));

/** What the machines of clusters left on the outer nodes. kubelet removes the containers of a pod some time after the pod. */
async function leftOnOuterNodes(): Promise<string[]> {
  const after = await stateOfOuterNodes();
  const changes = after.flatMap((state, index) => changesOf(before[index] ?? {}, state));
  return changes.filter((change) => OF_MACHINES.test(change));
}

/** Prints what explains a failure before everything is taken down. */
const explain = (): void => onTestFailed(async () => console.log(await world.report()));

test("two machines join by kubeadm, each a pod on another outer node; a killed manager makes no others", async () => {
  explain();
  const { capstan, inner, outer } = world;
  await capstan.kubectl("apply", "-f", file("pods-as-nodes.yaml"));
  await timed("inner control plane Available", () => inner.available(120_000));
  await inner.connect();
  await world.network(inner, "10.245.0.0/16");
  await eventually("pods", async () => (await world.pods()).length === 2);
  await timed("manager killed and started", () => world.restartManager());
  await timed("inner nodes Ready", () =>
    eventually("Ready nodes", async () => (await inner.readyNodes()) === 2, { timeout: 120_000 }),
  );
  const machines = await world.machines();
  expect((await world.pods()).toSorted()).toEqual(machines.toSorted());
  const places = await outer.kubectl("get", "pods", ...machines, "-o", "jsonpath={.items[*].spec.nodeName}");
  expect(places.split(" ").toSorted()).toEqual(["o1", "o2"]);
  await timed("MachineDeployment Available", () =>
    capstan.kubectl("wait", "--for=condition=Available", "md/inner", "--timeout=60s"),
  );
  // Takes its time next to what follows.
  await capstan.kubectl("apply", "-f", file("pods-as-nodes-kcp.yaml"));
});

test("a Service over both is reached through VXLAN; DNS, logs and exec answer", async () => {
  explain();
  const { inner, outer } = world;
  await inner.kubectl("apply", "-f", file("web.yaml"));
  await timed("web", () => inner.rolledOut("default", "deployment/web"));
  await timed("coredns", () => inner.rolledOut("kube-system", "deployment/coredns"));
  await timed("konnectivity-agent", () => inner.rolledOut("kube-system", "daemonset/konnectivity-agent"));
  const pods = (await inner.kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
  const [pod = ""] = pods;
  await timed("logs", () => eventually("logs", async () => (await inner.kubectl("logs", pod)).includes("serving as")));
  const ask = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do timeout 3 wget -qO- http://web.default.svc.cluster.local; done";
  const answers = await timed("exec", () => inner.kubectl("exec", pod, "--", "sh", "-c", ask));
  const names = pods.map((name) => name.replace("pod/", ""));
  expect([...new Set(answers.trim().split("\n"))].toSorted()).toEqual(names.toSorted());
  const [machine = ""] = await world.machines();
  expect(await outer.kubectl("exec", machine, "--", "ip", "-d", "link", "show", "e2e-vxlan")).toContain("dstport 4789");
});

test("a Node offers what its pod may use; a container above its limit is killed and the node stays", async () => {
  explain();
  const { inner } = world;
  const offered = await inner.kubectl("get", "nodes", "-o", "jsonpath={.items[*].status.allocatable}");
  expect(offered.match(/"cpu":"1"/g)).toHaveLength(2);
  expect(offered.match(/"memory":"1Gi"/g)).toHaveLength(2);
  const uids = await world.nodeUids();
  await inner.kubectl("apply", "-f", file("pods-as-nodes-hog.yaml"));
  const reason = "jsonpath={.status.containerStatuses[0].state.terminated.reason}";
  await timed("OOMKilled", () =>
    eventually("its end", async () => (await inner.kubectl("get", "pod", "hog", "-o", reason)) === "OOMKilled"),
  );
  expect(await world.nodeUids()).toEqual(uids);
  expect(await inner.readyNodes()).toBe(2);
});

test("a machine whose pod is deleted is replaced", async () => {
  explain();
  const { inner, outer } = world;
  const [lost = ""] = await world.machines();
  await timed("pod ends", () => outer.kubectl("delete", "pod", lost, "--timeout=45s"));
  await timed("replacement Ready", () =>
    eventually(
      "another Node",
      async () => (await inner.readyNodes()) === 2 && !(await world.machines()).includes(lost),
      { timeout: 120_000 },
    ),
  );
});

test("a machine with claims returns with the same Node when its pod is deleted, the manager killed", async () => {
  explain();
  const { capstan, inner, outer } = world;
  await outer.kubectl("apply", "-f", file("pods-as-nodes-volumes.yaml"));
  await capstan.kubectl("apply", "-f", file("pods-as-nodes-kept.yaml"));
  await timed("kept machine Ready", () =>
    capstan.kubectl("wait", "--for=condition=Available", "md/kept", "--timeout=120s"),
  );
  const [kept = ""] = await world.machines("pool=kept");
  const uid = (): Promise<string> => inner.kubectl("get", "node", kept, "-o", "jsonpath={.metadata.uid}");
  const podUid = (): Promise<string> =>
    outer.kubectl("get", "pod", kept, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}");
  const [node, pod] = [await uid(), await podUid()];
  await outer.kubectl("delete", "pod", kept, "--wait=false");
  await world.restartManager();
  await timed("another pod", () =>
    eventually("another pod", async () => !["", pod].includes(await podUid()), { timeout: 90_000 }),
  );
  await timed("machine Ready again", () =>
    capstan.kubectl("wait", "--for=condition=Ready", `kubernetesmachine/${kept}`, "--timeout=120s"),
  );
  const address = await outer.kubectl("get", "pod", kept, "-o", "jsonpath={.status.podIP}");
  await timed("Node Ready at its new address", () =>
    eventually(
      "the Node",
      async () => {
        const text = await inner.kubectl("get", "node", kept, "-o", "wide", "--no-headers");
        return / Ready /.test(text) && text.includes(` ${address} `);
      },
      { timeout: 90_000 },
    ),
  );
  expect(await uid()).toBe(node);
  expect(await world.machines("pool=kept")).toEqual([kept]);
});

test("a bootstrap that fails is explained with the command and its output", async () => {
  explain();
  const { capstan } = world;
  await capstan.kubectl("apply", "-f", file("pods-as-nodes-failing.yaml"));
  await timed("explained", () =>
    eventually("why", async () => (await capstan.cli("why", "md/failing")).includes("no such disk"), {
      timeout: 90_000,
    }),
  );
  expect(await capstan.cli("why", "md/failing")).toContain('"echo no such disk >&2; exit 7" exited with code 7');
  await capstan.kubectl("delete", "-f", file("pods-as-nodes-failing.yaml"), "--timeout=60s");
});

test("an outer node is drained: its machine's replacement is Ready before its own node is drained", async () => {
  explain();
  const { capstan, inner, outer } = world;
  const machines = await world.machines();
  const places = await outer.kubectl("get", "pods", "--field-selector=spec.nodeName=o2", "-o", "name");
  const leaving = machines.find((name) => places.includes(name)) ?? "";
  expect(leaving).not.toBe("");
  const drain = ["drain", "o2", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=240s"];
  const drained = outer.kubectl(...drain);
  drained.catch(() => undefined);
  const replaced = async (): Promise<boolean> => (await world.machines()).some((name) => !machines.includes(name));
  await timed("replacement made", () => eventually("another Machine", replaced, { timeout: 150_000 }));
  await world.restartManager();
  const lives = "jsonpath={.metadata.uid} {.metadata.deletionTimestamp}";
  const isLeaving = async (): Promise<boolean> =>
    !/^\S+ $/.test(await outer.kubectl("get", "pod", leaving, "--ignore-not-found", "-o", lives));
  await timed("pod deleted", () => eventually("its deletion", isLeaving, { timeout: 150_000, interval: 50 }));
  const nodes = await inner.kubectl("get", "nodes", "--no-headers");
  expect(nodes.split("\n").find((line) => line.startsWith(leaving)) ?? "SchedulingDisabled").toContain(
    "SchedulingDisabled",
  );
  const others = (await world.machines()).filter((name) => name !== leaving);
  expect(others.filter((name) => new RegExp(`^${name} +Ready `, "m").test(nodes))).toHaveLength(2);
  expect(await inner.kubectl("get", "pods", "-l", "app=web", "-o", "wide")).not.toContain(leaving);
  await timed("drain ends", () => drained);
  await outer.kubectl("uncordon", "o2");
  await timed("MachineDeployment Available", () =>
    capstan.kubectl("wait", "--for=condition=Available", "md/inner", "--timeout=90s"),
  );
});

test("a control plane made by kubeadm runs in a pod", async () => {
  explain();
  const { capstan } = world;
  await timed("control plane Initialized", () =>
    capstan.kubectl(
      "wait",
      "--for=jsonpath={.status.initialization.controlPlaneInitialized}=true",
      "kcp/alone",
      "--timeout=180s",
    ),
  );
  await alone.connect();
  await world.network(alone, "10.246.0.0/16");
  await timed("its Node Ready", () => eventually("a Ready node", async () => (await alone.readyNodes()) === 1));
  await timed("KubeadmControlPlane Available", () =>
    capstan.kubectl("wait", "--for=condition=Available", "kcp/alone", "--timeout=120s"),
  );
});

test("nothing is left in the outer cluster and on its nodes, the manager killed in between", async () => {
  explain();
  const { capstan, outer } = world;
  await capstan.kubectl("delete", "cluster", "inner", "alone", "--wait=false");
  await eventually("a pod less", async () => (await world.pods()).length < 4);
  await world.restartManager();
  await timed("clusters deleted", () =>
    capstan.kubectl("wait", "--for=delete", "cluster/inner", "cluster/alone", "--timeout=180s"),
  );
  const left = (): Promise<string> => outer.kubectl("get", KINDS, "-A", "-l", "capstan.dev/hosted", "-o", "name");
  await timed("nothing labelled ours", () => eventually("none", async () => (await left()) === ""));
  await timed("nothing on the nodes", () =>
    withoutDns(() =>
      eventually(
        "as before",
        async () => {
          const ours = await leftOnOuterNodes();
          if (ours.length > 0) throw new Error(ours.join("\n"));
          return true;
        },
        { timeout: 90_000, interval: 1000 },
      ),
    ),
  );
});
