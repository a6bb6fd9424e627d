import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Reader } from "../docs/reader.ts";
import { Shell } from "../docs/shell.ts";
import {
  defaultKubernetesVersion,
  freePorts,
  kubernetesBin,
  mustRun,
  previousKubernetesVersion,
} from "../real-kubernetes/index.ts";
import { askAgainAndAgain, statusOf } from "./ask.ts";
import { Capstan, CLI } from "./capstan/instance.ts";
import { eventually, Lab, leftovers, type Node, timed, workerImages } from "./harness/index.ts";
import { HostedWorld } from "./hosted-world.ts";

/** The story of the mission: one file, a control plane that costs no machine, and ordinary hosts that join it. */
let lab: Lab;
let shell: Shell;
/** Types the commands of the page about hosted control planes. */
let reader: Reader;
let capstan: Capstan;
let world: HostedWorld;
let nodes: Node[];
let booted: Promise<unknown>;
let firewall: string;

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** Two starts on a shared port, each restarted while its first call to itself is lost: some 10 s, more on a busy machine. */
const ROLLED_OUT = { timeout: 90_000 };
const COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const NEXT = defaultKubernetesVersion;
/** The minor version before it, with which the page begins. */
const bin = kubernetesBin(previousKubernetesVersion);

const iptables = (): Promise<string> => mustRun("sh", ["-c", "iptables-save 2>/dev/null | grep ^-A || true"]);

beforeAll(async () => {
  firewall = await iptables();
  lab = await Lab.open({ bin });
  nodes = ["n1", "n2"].map((name) => lab.addNode(name));
  shell = await Shell.make(CLI);
  reader = new Reader("docs/hosted-control-planes.md", "tests/e2e/hosted.test.ts", shell);
  await reader.type("Hosted control planes", "capstan kubernetes install", { more: `--from ${bin}` });
  const [port] = await freePorts(1, "127.0.0.1");
  const typing = { own: { "192.168.10.5": lab.gateway }, more: `--listen 127.0.0.1:${port}` };
  const command = reader.command("Hosted control planes", "capstan up", typing);
  capstan = await timed("capstan up", () => Capstan.typed(shell, command));
  world = new HostedWorld(capstan, lab);
});

afterAll(async () => {
  await booted?.catch(() => undefined);
  await capstan?.close();
  await lab?.close();
  world?.close();
  await shell?.close();
});

test("one file with Cluster and HostedControlPlane leads to a ready API", async () => {
  booted = timed("two nodes booted, images imported", async () => {
    await Promise.all(nodes.map((node) => node.start()));
    await Promise.all(nodes.map((node) => node.importImages(workerImages.map((name) => lab.images[name]))));
  });
  await reader.type("Hosted control planes", "export KUBECONFIG");
  await reader.type("Hosted control planes", "kubectl apply");
  await timed("applied to Available", () => reader.type("Hosted control planes", "kubectl wait"));
  await reader.type("Hosted control planes", "capstan kubeconfig");
  expect(await reader.type("Hosted control planes", "get namespaces")).toContain("kube-system");
  await world.connect();
  expect(await world.kubectl("get", "--raw", "/readyz")).toBe("ok");
  await booted;
});

test("hosts join with user data of a KubeadmConfig, which runs plain kubeadm join, and become Ready", async () => {
  await capstan.kubectl("apply", "-f", file("hosted-kind.yaml"));
  await world.kubectl("apply", "-f", file("cni.yaml"));
  const outputs = await timed("user data on both", () => Promise.all(nodes.map((node) => world.join(node))));
  for (const output of outputs) expect(output).toContain("This node has joined the cluster");
  await timed("both Ready", () => eventually("two Ready nodes", async () => (await world.readyNodes()) === 2));
});

test("CoreDNS, kube-proxy and a Deployment run; its Service answers by name, logs and exec work", async () => {
  const { kubectl } = { kubectl: world.kubectl.bind(world) };
  const rolledOut = (what: string, namespace: string): Promise<string> =>
    kubectl("-n", namespace, "rollout", "status", what, "--timeout=120s");
  await kubectl("apply", "-f", file("web.yaml"));
  await timed("kube-proxy", () => rolledOut("daemonset/kube-proxy", "kube-system"));
  await timed("web", () => rolledOut("deployment/web", "default"));
  await timed("coredns", () => rolledOut("deployment/coredns", "kube-system"));
  const pods = (await kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
  expect(pods).toHaveLength(2);
  const seen = new Set<string>();
  await timed("Service over DNS", () =>
    eventually("answers of both pods", async () => {
      const ask = ["timeout", "5", "wget", "-qO-", "http://web.default.svc.cluster.local/"];
      for (const pod of pods) seen.add((await kubectl("exec", pod, "--", ...ask)).trim());
      return seen.size === 2;
    }),
  );
  for (const pod of pods) expect(await kubectl("logs", pod)).toContain("serving as");
});

test("describe shows the cluster, Available", async () => {
  const tree = await capstan.cli("describe", "cluster", "demo");
  expect(tree).toMatch(/^Cluster\/demo .* True +Available/m);
  expect(tree).toMatch(/ControlPlane - HostedControlPlane\/demo .* True +Available/);
});

test("every component runs as a user of its own cluster, and no key is in an argument", async () => {
  const uid = readFileSync(join(world.folder, "user-id"), "utf8");
  const pids = world.pids();
  expect(Object.keys(pids).toSorted()).toEqual(COMPONENTS);
  for (const pid of Object.values(pids)) {
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toContain(`Uid:\t${uid}\t${uid}`);
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("PRIVATE KEY");
  }
});

test.each(COMPONENTS)("kill -9 of %s: back within seconds, pods untouched", async (component) => {
  const pods = await world.pods();
  const before = world.pids();
  process.kill(before[component] ?? 0, "SIGKILL");
  await timed(`${component} is back`, async () => {
    await eventually(
      "another process",
      async () => (world.pids()[component] ?? before[component]) !== before[component],
    );
    await world.available();
    await eventually("an answer", async () => (await world.kubectl("get", "--raw", "/readyz")) === "ok");
  });
  for (const other of COMPONENTS.filter((name) => name !== component))
    expect(world.pids()[other], `${other} keeps running`).toBe(before[other]);
  expect(await world.pods()).toBe(pods);
});

test("kill -9 of the manager: nothing happens to the cluster, and a new manager adopts everything", async () => {
  const pods = await world.pods();
  const before = world.pids();
  await capstan.kill();
  expect(world.pids()).toEqual(before);
  await world.kubectl("create", "configmap", "without-manager");
  expect(await world.readyNodes()).toBe(2);
  await timed("new manager", () => capstan.up());
  await world.available();
  expect(world.pids()).toEqual(before);
  expect(await world.pods()).toBe(pods);
  process.kill(before["kube-scheduler"] ?? 0, "SIGKILL");
  await eventually("the scheduler again", async () => {
    const pid = world.pids()["kube-scheduler"];
    return pid !== undefined && pid !== before["kube-scheduler"];
  });
  await world.available();
});

test("scaled to zero it costs nothing, scaled back its data is there and nodes come back", async () => {
  const pods = await world.pods();
  await reader.type("Hibernate", "--replicas=0");
  await timed("hibernated", () => eventually("no process", async () => Object.keys(world.pids()).length === 0));
  await eventually("the reason", async () => (await world.condition("Available")).startsWith("False Hibernated"));
  await reader.type("Hibernate", "--replicas=1");
  await timed("awake", () => world.available());
  await world.kubectl("get", "configmap", "without-manager");
  await timed("nodes Ready", () => eventually("two Ready nodes", async () => (await world.readyNodes()) === 2));
  expect(await world.pods()).toBe(pods);
});

test("an upgrade whose kube-apiserver does not start leaves the old one serving and says why", async () => {
  const broken = join(capstan.dataDir, "kubernetes/v1.36.99-broken/bin");
  mkdirSync(broken, { recursive: true });
  for (const name of readdirSync(bin).filter((each) => each.startsWith("etcd")))
    cpSync(join(bin, name), join(broken, name));
  for (const name of COMPONENTS.slice(1)) {
    writeFileSync(join(broken, name), "#!/bin/sh\necho 'Error: this build is broken' >&2\nexit 1\n");
    chmodSync(join(broken, name), 0o755);
  }
  const before = world.pids();
  const stop = world.askApi();
  await world.patch({ spec: { version: "v1.36.99-broken" } });
  await timed("refused", () =>
    eventually("UpgradeFailed", async () => (await world.condition("UpToDate")).startsWith("False UpgradeFailed")),
  );
  expect(await world.condition("UpToDate")).toContain("Error: this build is broken");
  expect(await world.condition("Available")).toMatch(/^True/);
  expect(world.pids()).toEqual(before);
  await world.patch({ spec: { version: previousKubernetesVersion } });
  await eventually("UpToDate", async () => (await world.condition("UpToDate")).startsWith("True"));
  expect((await stop()).failures).toEqual([]);
});

test("the control plane is upgraded while API and pods answer", async () => {
  // What nodes run comes with the version: its images stand for the new ones, since nothing is pulled here.
  const images = [
    [`kube-proxy:${previousKubernetesVersion}`, `kube-proxy:${NEXT}`],
    ["coredns/coredns:v1.14.2", "coredns/coredns:v1.14.6"],
  ];
  for (const node of nodes)
    for (const [old, next] of images)
      await node.must(["ctr", "-n", "k8s.io", "images", "tag", `registry.k8s.io/${old}`, `registry.k8s.io/${next}`]);
  const [first] = nodes;
  if (first === undefined) throw new Error("no node");
  const stopWeb = world.askWeb(first);
  const stopApi = world.askApi();
  await reader.type("Upgrade", "capstan kubernetes install", { more: `--from ${kubernetesBin(NEXT)}` });
  await reader.type("Upgrade", "kubectl patch");
  await timed(`upgraded to ${NEXT}`, () =>
    eventually("the new version", async () => (await world.hcp("{.status.version}")) === NEXT, { timeout: 240_000 }),
  );
  await eventually("UpToDate", async () => (await world.condition("UpToDate")).startsWith("True"));
  await world.available();
  expect(await reader.type("Upgrade", "kubectl get")).toContain(NEXT);
  // A kube-apiserver listens before it accepts: connections that the kernel gives to it wait until it has started. Then it knows no
  // permissions for some tenths of a second, and one that stops resets connections that it has not accepted yet. Clients try again: what
  // counts is that none has to for longer than a start.
  expect((await stopApi()).longestOutageMs).toBeLessThan(15_000);
  const web = await stopWeb();
  expect(web.asked).toBeGreaterThan(10);
  expect(web.failed).toBe(0);
  expect(await world.kubectl("version", "-o", "json")).toContain(`"gitVersion": "${NEXT}"`);
  expect(await world.kubectl("-n", "kube-system", "get", "cm", "kubeadm-config", "-o", "yaml")).toContain(NEXT);
  expect(Object.keys(world.pids()).toSorted()).toEqual(COMPONENTS);
  const backups = readdirSync(join(capstan.dataDir, "backups/default/demo"));
  expect(backups.some((name) => name.endsWith(`-before-${NEXT}`))).toBe(true);
  expect(await world.readyNodes()).toBe(2);
});

test("the CA is rotated in three steps with nodes that follow in place; pods answer all the while", async () => {
  const [first] = nodes;
  if (first === undefined) throw new Error("no node");
  const done = async (phase: string, told: string): Promise<void> => {
    await timed(`phase ${phase}`, () =>
      eventually(
        phase,
        async () => {
          const [current, upToDate] = [await world.condition("AuthoritiesCurrent"), await world.condition("UpToDate")];
          if (!current.startsWith(told) || !upToDate.startsWith("True"))
            throw new Error(`AuthoritiesCurrent ${current}; UpToDate ${upToDate}`);
          return true;
        },
        ROLLED_OUT,
      ),
    );
    await eventually("the kubeconfig", async () => {
      await world.connect();
      return (await world.kubectl("get", "--raw", "/readyz")) === "ok";
    });
    await timed("nodes Ready", () => eventually("two Ready nodes", async () => (await world.readyNodes()) === 2));
  };
  const logs = async (): Promise<void> => {
    const pods = (await world.kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
    for (const pod of pods) expect(await world.kubectl("logs", pod)).toContain("serving as");
  };
  const old = world.ca();
  const stopWeb = world.askWeb(first);
  await reader.type("Rotate", '"Trust"');
  await done("Trust", "False NewTrusted");
  expect(await reader.type("Rotate", "kubectl get hcp")).not.toBe("");
  const bundle = world.ca();
  expect(bundle.match(/BEGIN/g)).toHaveLength(2);
  const stopApi = askAgainAndAgain(world.server(), bundle);
  const script = readFileSync(fileURLToPath(new URL("../../docs/examples/rotate-node.sh", import.meta.url)), "utf8");
  for (const node of nodes) expect(await node.must(["sh", "-c", script])).toContain("has a certificate of the new one");
  await reader.type("Rotate", "rollout restart");
  for (const what of ["daemonset/kube-proxy", "deployment/coredns"])
    await timed(`${what} again`, () => world.kubectl("-n", "kube-system", "rollout", "status", what, "--timeout=120s"));
  await reader.type("Rotate", '"Issue"');
  await done("Issue", "False NewInUse");
  await reader.type("Rotate", "capstan kubeconfig");
  const server = await world.server();
  await eventually("a certificate of the new CA", async () => /certif/.test(String(await statusOf(server, old))));
  await eventually("logs through a certificate of the new CA", async () => {
    await logs();
    return true;
  });
  await reader.type("Rotate", '"Retire"');
  await done("Retire", "True");
  expect(world.ca().match(/BEGIN/g)).toHaveLength(1);
  expect(bundle).toContain(world.ca().trim());
  await logs();
  // A kube-apiserver that begins to listen knows no permissions for some tenths of a second: 403, and never a certificate.
  const refused = (await stopApi()).failures.filter((failure) => /certificate|signed|verify/i.test(failure));
  expect(refused, "who trusts the bundle").toEqual([]);
  const web = await stopWeb();
  expect(web.asked).toBeGreaterThan(10);
  expect(web.failed).toBe(0);
});

test("a snapshot, the data lost, restored: everything is back and nodes need not join again", async () => {
  await reader.type("Back up", "kubectl annotate");
  const backup = await timed("backup", () =>
    eventually("a backup", async () => {
      const [name = "", annotation = ""] = (
        await world.hcp("{.status.backup.lastName},{.metadata.annotations.capstan\\.dev/backup}")
      ).split(",");
      return name !== "" && !name.includes("-before-") && annotation === "" ? name : undefined;
    }),
  );
  expect(await reader.type("Back up", "kubectl get")).toContain(backup);
  await world.kubectl("create", "configmap", "after-the-backup");
  await capstan.kubectl("scale", "hcp/demo", "--replicas=0");
  await eventually("no process", async () => Object.keys(world.pids()).length === 0);
  rmSync(join(world.folder, "etcd/data"), { recursive: true });
  await capstan.kubectl("scale", "hcp/demo", "--replicas=1");
  await eventually("the loss reported", async () => (await world.condition("Available")).startsWith("False DataLost"));
  await reader.type("Restore", "kubectl patch", { own: { "20261116T030000Z": backup } });
  await timed("restored", () => world.available());
  await eventually("an answer", async () => (await world.kubectl("get", "--raw", "/readyz")) === "ok");
  expect(await world.kubectl("get", "configmaps", "-o", "name")).not.toContain("after-the-backup");
  expect(await world.kubectl("get", "deployment,service", "-o", "name")).toMatch(
    /deployment.apps\/web[\s\S]*service\/web/,
  );
  await timed("nodes Ready", () => eventually("two Ready nodes", async () => (await world.readyNodes()) === 2));
  await world.kubectl("scale", "deployment/web", "--replicas=3");
  await timed("a third pod", () => world.kubectl("rollout", "status", "deployment/web", "--timeout=120s"));
});

test("every command of the page has been typed", () => {
  expect(reader.untyped()).toEqual([]);
});

test("deleting the Cluster leaves no process, port, file, mount or iptables rule", async () => {
  const pids = Object.values(world.pids());
  const uid = readFileSync(join(world.folder, "user-id"), "utf8");
  const ports = Object.values(JSON.parse(readFileSync(join(world.folder, "ports.json"), "utf8")) as object).map(String);
  await timed("cluster deleted", () => capstan.kubectl("delete", "cluster", "demo", "--timeout=120s"));
  expect(pids.filter((pid) => readdirSync("/proc").includes(String(pid)))).toEqual([]);
  expect(await mustRun("sh", ["-c", `ps -o pid= -U ${uid} || true`])).toBe("");
  expect(readdirSync(join(capstan.dataDir, "clusters/default"))).toEqual([]);
  const listening = await mustRun("sh", ["-c", "cat /proc/net/tcp /proc/net/tcp6"]);
  const hex = ports.map((port) => Number(port).toString(16).toUpperCase().padStart(4, "0"));
  expect(
    listening.split("\n").filter((line) => hex.some((port) => line.includes(`:${port} `) && / 0A /.test(line))),
  ).toEqual([]);
  for (const kind of ["machines", "kubeadmconfigs", "hcp", "secrets"])
    expect(await capstan.kubectl("get", kind, "-A", "-l", "cluster.x-k8s.io/cluster-name=demo", "-o", "name")).toBe("");
  const { dataDir } = capstan;
  await capstan.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(dataDir);
  expect(await iptables()).toBe(firewall);
});
