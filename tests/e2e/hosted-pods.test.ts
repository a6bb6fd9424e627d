import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Reader } from "../docs/reader.ts";
import { Shell } from "../docs/shell.ts";
import { defaultKubernetesVersion, freePorts } from "../real-kubernetes/index.ts";
import { Capstan, CLI } from "./capstan/instance.ts";
import { CapstanManager } from "./capstan/manager.ts";
import {
  controlPlaneImages,
  eventually,
  type Image,
  type ImageName,
  Lab,
  leftovers,
  type Node,
  otherEtcdImages,
  timed,
  workerImages,
} from "./harness/index.ts";
import { HostedWorld } from "./hosted-world.ts";

/**
 * A hosted cluster hosts another one: its real nodes run the pods of a second control plane, which a real node joins. First its
 * objects are in `capstan up` and name the host cluster, then the hosted cluster is the management cluster itself.
 */
let lab: Lab;
let shell: Shell;
/** Types the commands of the page about control planes as pods. */
let reader: Reader;
let capstan: Capstan;
let host: HostedWorld;
let tenant: HostedWorld;
let manager: CapstanManager | undefined;
let hostNode: Node;
let tenantNode: Node;
let booted: Promise<unknown>;

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const OURS = "capstan.dev/hosted=tenant";
const NEXT = "v1.37.2-capstan.1";
const KINDS = "deployments,statefulsets,pods,services,poddisruptionbudgets,networkpolicies,secrets,pvc";
/** As in hosted-pods.yaml, but for the management cluster's own nodes: no host cluster, three members whose data may go. */
const HERE = {
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "HostedControlPlane",
  metadata: { name: "tenant", namespace: "default" },
  spec: { version: "v1.37.1", expose: { type: "NodePort" }, etcd: { replicas: 3, storage: { type: "EmptyDir" } } },
};
const CLUSTER = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "tenant", namespace: "default" },
  spec: {
    controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "tenant" },
  },
};

beforeAll(async () => {
  lab = await Lab.open();
  hostNode = lab.addNode("h1");
  // A pod that exits at once is restarted after 1, 2 and 4 s, not after 10, 20 and 40.
  hostNode.writeFile(
    "/etc/default/kubelet",
    "KUBELET_EXTRA_ARGS=--feature-gates=ReduceDefaultCrashLoopBackOffDecay=true\n",
  );
  tenantNode = lab.addNode("t1");
  capstan = await timed("capstan up", () => Capstan.start(lab.gateway));
  shell = await Shell.make(CLI, capstan.dataDir);
  reader = new Reader("docs/hosted-control-planes.md", "tests/e2e/hosted-pods.test.ts", shell);
  host = new HostedWorld(capstan, lab);
  tenant = new HostedWorld(capstan, lab, "tenant");
});

afterAll(async () => {
  await booted?.catch(() => undefined);
  await manager?.close();
  await capstan?.close();
  await lab?.close();
  host?.close();
  tenant?.close();
  await shell?.close();
});

const images = (names: readonly ImageName[]): Image[] => names.map((name) => lab.images[name]);

/** Boots the machine that joins the tenant. */
async function bootTenantNode(): Promise<void> {
  await tenantNode.start();
  await tenantNode.importImages(images([...workerImages, "proxy-agent"]));
}

/** Asks for a backup as a user does and gives back its name. */
async function backUp(): Promise<string> {
  const before = await tenant.hcp("{.status.backup.lastTime}");
  // Times have a resolution of seconds: a second event within the same second could not be distinguished from the first.
  await eventually("the next second", async () => before === "" || Date.now() >= Date.parse(before) + 1000);
  await capstan.kubectl("annotate", "hcp", "tenant", "capstan.dev/backup=now", "--overwrite");
  await eventually(
    "a backup",
    async () => {
      const now = await tenant.hcp("{.status.backup.lastTime}");
      if (now === "" || now === before) throw new Error(await tenant.condition("BackedUp"));
      return true;
    },
    { timeout: 60_000 },
  );
  return await tenant.hcp("{.status.backup.lastName}");
}

/** Pods of the tenant's control plane by component. */
async function pods(): Promise<Record<string, string>> {
  const path = "{range .items[*]}{.metadata.labels.app\\.kubernetes\\.io/component} {.metadata.name}{'\\n'}{end}";
  const lines = (await host.kubectl("get", "pods", "-l", OURS, "-o", `jsonpath=${path}`)).trim().split("\n");
  return Object.fromEntries(lines.filter(Boolean).map((line) => line.split(" ") as [string, string]));
}

test("a cluster by processes gets a real node", async () => {
  const hostBooted = timed("host's node booted, images imported", async () => {
    await hostNode.start();
    await hostNode.importImages(images([...workerImages, ...controlPlaneImages, ...otherEtcdImages, "proxy-server"]));
  });
  // The other one has time until it is to join.
  booted = hostBooted.then(bootTenantNode);
  booted.catch(() => undefined);
  await reader.type("Pods", "docs/examples/hosted.yaml");
  await capstan.kubectl("apply", "-f", file("hosted-kind.yaml"));
  await timed("host cluster Available", () => host.available());
  // The page's example starts at the minor version before; the nodes have the images of this one only.
  await host.patch({ spec: { version: defaultKubernetesVersion } });
  await timed("host cluster upgraded", () =>
    capstan.kubectl(
      "wait",
      `--for=jsonpath={.status.version}=${defaultKubernetesVersion}`,
      "hcp/demo",
      "--timeout=180s",
    ),
  );
  await host.connect();
  await host.kubectl("apply", "-f", file("cni.yaml"), "-f", file("hosted-pods-volume.yaml"));
  await hostBooted;
  await hostNode.must(["install", "-d", "-o", "65532", "-g", "65532", "-m", "0700", "/var/lib/by-hand"]);
  await timed("node joins", () => host.join(hostNode));
  await timed("node Ready", () => eventually("a Ready node", async () => (await host.readyNodes()) === 1));
  await timed("coredns", () => host.rolledOut("kube-system", "deployment/coredns"));
});

test("a second control plane runs as pods on that node, its address known before any of them", async () => {
  await reader.type("Pods", "tests/e2e/hosted-pods.yaml");
  await eventually("the endpoint", async () => (await tenant.hcp("{.spec.controlPlaneEndpoint.port}")) !== "");
  expect(await tenant.hcp("{.spec.controlPlaneEndpoint.host}")).toBe(hostNode.address);
  await timed("applied to Available", () => reader.type("Pods", "kubectl wait"));
  await reader.type("Pods", "capstan kubeconfig");
  expect(await reader.type("Pods", "get namespaces")).toContain("kube-system");
  expect(reader.untyped()).toEqual([]);
  await tenant.connect();
  expect(await tenant.kubectl("get", "--raw", "/readyz")).toBe("ok");
  expect(Object.keys(await pods()).toSorted()).toEqual([
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
  ]);
});

test("a real node joins it with plain kubeadm join and becomes Ready", async () => {
  await booted;
  await tenant.kubectl("apply", "-f", file("cni.yaml"));
  const output = await timed("user data", () => tenant.join(tenantNode));
  expect(output).toContain("This node has joined the cluster");
  await timed("node Ready", () => eventually("a Ready node", async () => (await tenant.readyNodes()) === 1));
});

test("calls to the node go through konnectivity: logs and exec answer", async () => {
  await timed("konnectivity-agent", () =>
    tenant.kubectl("-n", "kube-system", "rollout", "status", "daemonset/konnectivity-agent", "--timeout=120s"),
  );
  await tenant.kubectl("apply", "-f", file("web.yaml"));
  await timed("web", () => tenant.kubectl("rollout", "status", "deployment/web", "--timeout=120s"));
  const [pod = ""] = (await tenant.kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
  await timed("logs and exec", () =>
    eventually("logs", async () => (await tenant.kubectl("logs", pod)).includes("serving as")),
  );
  expect(await tenant.kubectl("exec", pod, "--", "hostname")).toContain("web-");
  const agents = await tenant.kubectl("-n", "kube-system", "logs", "daemonset/konnectivity-agent", "--tail=-1");
  expect(agents).toMatch(/[Ss]tart serving|connected to/);
});

test("a pod of kube-apiserver that goes is replaced; what it kept in etcd is there", async () => {
  await tenant.kubectl("create", "configmap", "before");
  const before = await pods();
  // Until it is deleted, it may answer itself.
  await host.kubectl("delete", "pod", before["kube-apiserver"] ?? "", "--timeout=120s");
  await timed("another one answers", () =>
    eventually("another pod", async () => {
      const now = await pods();
      return now["kube-apiserver"] !== before["kube-apiserver"] && (await tenant.kubectl("get", "cm", "before")) !== "";
    }),
  );
});

test("a wrong argument leaves the old kube-apiserver serving and is reported with its own message", async () => {
  await tenant.patch({ spec: { apiServer: { extraArgs: [{ name: "nonsense", value: "1" }] } } });
  await timed("reported", () =>
    eventually("the error", async () => /unknown flag: --nonsense/.test(await tenant.condition("UpToDate")), {
      timeout: 120_000,
    }),
  );
  expect(await tenant.condition("Available")).toMatch(/^True/);
  expect(await tenant.kubectl("get", "--raw", "/readyz")).toBe("ok");
  await tenant.patch({ spec: { apiServer: { extraArgs: [] } } });
  const well = async (): Promise<boolean> => (await tenant.condition("UpToDate")).startsWith("True");
  await timed("well again", () => eventually("UpToDate", well, { timeout: 120_000 }));
});

/** Asks for an etcd as a user does; `null` for the one that belongs to the version. */
async function askForEtcd(image: string | null): Promise<void> {
  await tenant.patch({ spec: { etcd: { image } } });
}

/** The version of the etcd that a member runs. */
async function etcdVersion(): Promise<string> {
  const told = await host.kubectl("exec", "tenant-etcd-0-0", "-c", "etcd", "--", "etcd", "--version");
  return /etcd Version: (\d+\.\d+)/.exec(told)?.[1] ?? told;
}

/** Asks the first member in its own pod. */
function etcdctl(...args: string[]): Promise<string> {
  const key = (name: string): string => `/etc/kubernetes/pki/etcd/${name}`;
  const keys = [`--cacert=${key("ca.crt")}`, `--cert=${key("peer.crt")}`, `--key=${key("peer.key")}`];
  const ask = ["etcdctl", "--endpoints=https://127.0.0.1:2379", ...keys, ...args];
  return host.kubectl("exec", "tenant-etcd-0-0", "-c", "etcd", "--", ...ask);
}

/** Whether a backup of that name was made. */
function named(backup: string): boolean {
  const folder = join(capstan.dataDir, "backups/default/tenant");
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(backup));
}

test("an image that has no etcd is tried and refused; the member's pod is not touched", async () => {
  const before = await host.kubectl("get", "pod", "tenant-etcd-0-0", "-o", "jsonpath={.metadata.uid}");
  await askForEtcd(lab.images.pause.reference);
  await timed("reported", () =>
    eventually(
      "the refusal",
      async () => {
        const told = await tenant.condition("UpToDate");
        if (!/^False ConfigurationRefused etcd does not become ready: .*"etcd": executable file not found/.test(told))
          throw new Error(told);
        return true;
      },
      { timeout: 120_000 },
    ),
  );
  expect(await host.kubectl("get", "pod", "tenant-etcd-0-0", "-o", "jsonpath={.metadata.uid}")).toBe(before);
  await eventually(
    "the trial's end",
    async () => (await host.kubectl("get", "pods", "tenant-etcd-next", "--ignore-not-found", "-o", "name")) === "",
  );
  expect(await tenant.condition("Available")).toMatch(/^True/);
  expect(named("-before-another-etcd")).toBe(false);
});

test("an etcd that fails with the data and spoils it: the old one gets the backup that was made right before", async () => {
  await tenant.kubectl("create", "configmap", "kept");
  await askForEtcd(lab.images["etcd-spoiling"].reference);
  await timed("rolled back", () =>
    eventually(
      "the refusal",
      async () => {
        const told = await tenant.condition("UpToDate");
        if (!/^False ConfigurationRefused .*this etcd is broken/.test(told)) throw new Error(told);
        return true;
      },
      { timeout: 180_000 },
    ),
  );
  await timed("Available", () => tenant.available(120_000));
  expect(await etcdVersion()).toBe("3.6");
  expect(named("-before-another-etcd")).toBe(true);
  expect(await hostNode.must(["ls", "/var/lib/by-hand/data"]), "not what the other one left").not.toContain("spoiled");
  expect(await tenant.kubectl("get", "cm", "kept", "-o", "name")).toContain("kept");
});

test("etcd 3.6 becomes 3.7 with its data", async () => {
  await askForEtcd(null);
  await timed("etcd 3.7", () =>
    eventually(
      "UpToDate",
      async () => {
        const told = await tenant.condition("UpToDate");
        if (!told.startsWith("True") || (await etcdVersion()) !== "3.7") throw new Error(told);
        return true;
      },
      { timeout: 120_000 },
    ),
  );
  const status = JSON.parse(await etcdctl("endpoint", "status", "-w", "json")) as {
    Status: { storageVersion: string };
  }[];
  expect(status[0]?.Status.storageVersion).toBe("3.7.0");
  // The only kube-apiserver starts again when its etcd was away for too long.
  const kept = await timed("the data", () =>
    eventually("an answer", () => tenant.kubectl("get", "cm", "kept", "before", "-o", "name"), { timeout: 120_000 }),
  );
  expect(kept).toMatch(/before[^]*kept|kept[^]*before/);
  await eventually("a Ready node", async () => (await tenant.readyNodes()) === 1);
});

test("an upgrade replaces kube-apiserver, then the others, while the API answers", async () => {
  // The same programs under another version: what counts here is how they are replaced.
  const tag = (node: Node, name: string): Promise<string> =>
    node.must(["ctr", "-n", "k8s.io", "images", "tag", `${name}:v1.37.1`, `${name}:${NEXT}`]);
  for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
    await tag(hostNode, `registry.k8s.io/${name}`);
  await tag(tenantNode, "registry.k8s.io/kube-proxy");
  const etcd = (await pods())["etcd"];
  const stop = tenant.askApi();
  await tenant.patch({ spec: { version: NEXT } });
  const upgraded = async (): Promise<boolean> => {
    const told = await tenant.condition("UpToDate");
    if ((await tenant.hcp("{.status.version}")) !== NEXT || !told.startsWith("True")) throw new Error(told);
    return true;
  };
  await timed(`upgraded to ${NEXT}`, () => eventually("the new version", upgraded, { timeout: 180_000 }));
  const run = await host.kubectl("get", "deployments", "-l", OURS, "-o", "jsonpath={..containers[0].image}");
  expect(run.split(" ").filter((image) => image.endsWith(`:${NEXT}`))).toHaveLength(3);
  expect((await pods())["etcd"]).toBe(etcd);
  expect((await stop()).longestOutageMs).toBeLessThan(3000);
});

test("creates a backup before the upgrade, and one on request", async () => {
  expect(await timed("backup", () => backUp())).toMatch(/^\d{8}T\d{6}Z$/);
  const names = readdirSync(join(capstan.dataDir, "backups/default/tenant"));
  expect(names).toContainEqual(expect.stringMatching(new RegExp(`^\\d{8}T\\d{6}Z-before-${NEXT}$`)));
  expect(await tenant.condition("BackedUp")).toMatch(/^True/);
});

test("etcd without its data does not start from scratch; after a restore the data is there and the node returns without joining", async () => {
  const backup = await backUp();
  await tenant.kubectl("create", "configmap", "after");
  await hostNode.must(["sh", "-c", "rm -rf /var/lib/by-hand/*"]);
  await host.kubectl("delete", "pod", "tenant-etcd-0-0", "--grace-period=0", "--force");
  await timed("reported", () =>
    eventually("DataLost", async () => /DataLost/.test(await tenant.condition("Available")), { timeout: 120_000 }),
  );
  await tenant.patch({ spec: { etcd: { restoreFrom: { backup } } } });
  await timed("restored", () => tenant.available(180_000));
  expect(await tenant.kubectl("get", "cm", "before", "-o", "name")).toContain("before");
  expect(await tenant.kubectl("get", "cm", "after", "--ignore-not-found")).toBe("");
  await timed("node Ready", () => eventually("a Ready node", async () => (await tenant.readyNodes()) === 1));
});

test("scaled to zero there is no pod and the volume stays; scaled back the data is there and the node comes back", async () => {
  await capstan.kubectl("scale", "hcp/tenant", "--replicas=0");
  await timed("hibernated", () =>
    eventually("no pod", async () => Object.keys(await pods()).length === 0, { timeout: 120_000 }),
  );
  expect(await tenant.condition("Available")).toMatch(/^False Hibernated/);
  expect(await host.kubectl("get", "pvc", "-l", OURS, "-o", "jsonpath={.items[*].status.phase}")).toBe("Bound");
  await capstan.kubectl("scale", "hcp/tenant", "--replicas=1");
  await timed("awake", () => tenant.available(120_000));
  await eventually("the data", async () => (await tenant.kubectl("get", "cm", "before")) !== "");
  await timed("node Ready", () => eventually("a Ready node", async () => (await tenant.readyNodes()) === 1));
});

test("deleting the tenant leaves nothing of it in the host cluster", async () => {
  await timed("tenant deleted", () => capstan.kubectl("delete", "cluster", "tenant", "--timeout=120s"));
  expect(await host.kubectl("get", KINDS, "-A", "-l", "capstan.dev/hosted", "-o", "name")).toBe("");
  expect(await host.readyNodes()).toBe(1);
  tenant.close();
});

test("as management cluster: a control plane without a placement runs as pods next to its own objects", async () => {
  booted = timed("the tenant's node recreated", async () => {
    await tenantNode.remove();
    await bootTenantNode();
  });
  booted.catch(() => undefined);
  const [port = 0] = await freePorts(1, lab.gateway);
  manager = await timed("capstan manager", () => CapstanManager.start(host.kubeconfig, `${lab.gateway}:${port}`));
  tenant = new HostedWorld(manager, lab, "tenant");
  await manager.kubectl("apply", "-f", file("hosted-kind.yaml"));
  for (const object of [CLUSTER, HERE]) await manager.kubectlWithInput(JSON.stringify(object), "apply", "-f", "-");
  await timed("applied to Available", () => tenant.available(180_000));
  const names = await host.kubectl("get", "pods", "-l", OURS, "-o", "name");
  expect(names.trim().split("\n")).toHaveLength(6);
});

test("as management cluster: a real node joins and becomes Ready", async () => {
  await booted;
  await tenant.connect();
  await tenant.kubectl("apply", "-f", file("cni.yaml"));
  expect(await timed("user data", () => tenant.join(tenantNode))).toContain("This node has joined the cluster");
  await timed("node Ready", () => eventually("a Ready node", async () => (await tenant.readyNodes()) === 1));
});

/** Ids of etcd's members that have started. */
async function members(): Promise<string[]> {
  const lines = (await etcdctl("member", "list")).trim().split("\n");
  return lines.flatMap((line) => (line.includes(", started,") ? (line.split(",")[0] ?? []) : [])).toSorted();
}

test("a member whose data went with its pod is taken in again, while the API answers", async () => {
  await tenant.kubectl("create", "configmap", "before");
  const before = await members();
  expect(before).toHaveLength(3);
  const stop = tenant.askApi();
  await host.kubectl("delete", "pod", "tenant-etcd-2-0");
  await timed("taken in again", () =>
    eventually(
      "another member",
      async () => {
        const now = await members();
        if (now.length !== 3 || now.join() === before.join()) throw new Error(await tenant.condition("UpToDate"));
        return (await tenant.condition("EtcdClusterHealthy")).startsWith("True");
      },
      { timeout: 120_000 },
    ),
  );
  expect((await members()).filter((id) => before.includes(id))).toHaveLength(2);
  expect((await stop()).longestOutageMs).toBeLessThan(5000);
  expect(await tenant.kubectl("get", "cm", "before", "-o", "name")).toContain("before");
});

test("without a manager it keeps running; the next one keeps it and replaces nothing", async () => {
  const uids = (): Promise<string> =>
    host.kubectl("get", "pods", "-l", OURS, "-o", "jsonpath={.items[*].metadata.uid}");
  const before = await uids();
  await manager?.stop();
  expect(await tenant.kubectl("get", "--raw", "/readyz")).toBe("ok");
  await host.kubectl("delete", "poddisruptionbudget", "tenant-etcd");
  await timed("another manager", () => manager?.up() ?? Promise.reject(new Error("no manager")));
  await eventually("what was missing", () => host.kubectl("get", "poddisruptionbudget", "tenant-etcd"));
  expect(await tenant.condition("Available")).toMatch(/^True/);
  expect(await uids()).toBe(before);
});

test("deleting everything leaves nothing of it", async () => {
  await timed("tenant deleted", () => host.kubectl("delete", "cluster", "tenant", "--timeout=120s"));
  expect(await host.kubectl("get", KINDS, "-A", "-l", "capstan.dev/hosted", "-o", "name")).toBe("");
  await manager?.close();
  await timed("host deleted", () => capstan.kubectl("delete", "cluster", "demo", "--timeout=120s"));
  await capstan.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
});
