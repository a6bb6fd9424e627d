import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../docs/blocks.ts";
import { Reader } from "../docs/reader.ts";
import { Shell } from "../docs/shell.ts";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { Capstan, CLI } from "./capstan/instance.ts";
import { eventually, Lab, leftovers, type Node, timed, workerImages } from "./harness/index.ts";

/** Two bring-your-own hosts without Node: from their enrolment to Ready nodes, through kills, and back to clean, free hosts, twice. */
let lab: Lab;
let shell: Shell;
/** Types the commands of the guide for your own hosts. */
let reader: Reader;
let capstan: Capstan;
let one: Node;
let two: Node;

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const example = readFileSync(path("../../docs/examples/own-hosts.yaml"), "utf8");
const program = path("../../dist/agent/capstan-host-agent");
const AGENT = "capstan-host-agent";

const hostJson = async (name: string, query: string): Promise<string> =>
  capstan.kubectl("get", "byohost", name, "-o", `jsonpath=${query}`);
const ready = (name: string) => hostJson(name, "{.status.conditions[?(@.type=='Ready')].status}");

beforeAll(async () => {
  shell = await Shell.make(CLI);
  reader = new Reader("docs/own-hosts.md", "tests/e2e/byoh.test.ts", shell);
  await timed("agent's program", async () => {
    await reader.type("1. What a host needs", "npm run build", { cwd: root });
    await reader.type("1. What a host needs", "executable.mjs", { cwd: root });
    await reader.type("1. What a host needs", "bundle.mjs", { cwd: root });
  });
  lab = await Lab.open({ extraPackages: ["openssh-server"] });
  [one, two] = [lab.addNode("one"), lab.addNode("two")];
  one.writeFile(`root/${AGENT}`, readFileSync(program), 0o755);
  // Kills would otherwise cost five seconds each.
  for (const host of [one, two])
    host.writeFile(`etc/systemd/system/${AGENT}.service.d/fast.conf`, "[Service]\nRestartSec=200ms\n");
  await mustRun("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(lab.dir, "key")]);
  two.writeFile("root/.ssh/authorized_keys", readFileSync(join(lab.dir, "key.pub")), 0o600);
  await reader.type("1. What a host needs", "capstan kubernetes install", { more: `--from ${kubernetesBin()}` });
  const command = reader.command("1. What a host needs", "capstan up", { own: { "192.168.10.5": lab.gateway } });
  capstan = await timed("capstan up", () => Capstan.typed(shell, command));
  await reader.type("1. What a host needs", "export KUBECONFIG");
  await timed("hosts booted, images imported", async () => {
    for (const host of [one, two]) {
      await host.start({ allowFailedUnits: true });
      await host.importImages(workerImages.map((name) => lab.images[name]));
    }
  });
});

afterAll(async () => {
  await capstan?.close();
  await lab?.close();
  await shell?.close();
});

test("one command enrols a host without Node, once, with permissions for its own objects only", async () => {
  expect((await one.exec(["which", "node"])).code).not.toBe(0);
  const line = (await capstan.cli("host", "add", "one", "--labels", "rack=1")).trim();
  await one.must(["sh", "-c", `cd /root && ${line}`]);
  await timed("host Ready", () => eventually("a Ready host", async () => (await ready("one")) === "True"));
  expect(await hostJson("one", "{.status.hostinfo.osimage}")).toContain("Debian");
  expect(await hostJson("one", "{.status.hostinfo.kubeletVersion}")).toMatch(/^v1\.37/);
  // The token is used up: a copy of the line is worth nothing. One agent per host, too.
  const again = await one.exec(["sh", "-c", `cd /root && ${line.replace("--service", "--state /tmp/thief")}`]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toMatch(/already used|does not accept the token/);
  const second = await one.exec([`/root/${AGENT}`]);
  expect(second.stderr).toContain("another agent runs on this host");
  // What the agent may do, tried with its own certificate.
  const file = join(lab.dir, "agent.kubeconfig");
  writeFileSync(file, await one.must(["cat", "/var/lib/capstan-host/kubeconfig"]), { mode: 0o600 });
  const can = (...args: string[]): Promise<string> =>
    mustRun(join(kubernetesBin(), "kubectl"), ["--kubeconfig", file, "auth", "can-i", ...args]).catch(
      (error: unknown) => String(error),
    );
  expect(await can("get", "byohost/one")).toContain("yes");
  expect(await can("get", "byohost/two")).toContain("no");
  expect(await can("list", "secrets")).toContain("no");
  expect(await can("patch", "byohost/one")).toContain("no");
  expect(await can("patch", "byohost/one", "--subresource=status")).toContain("yes");
  expect(await can("patch", "configmap/byoh-log-one")).toContain("yes");
  expect(await can("patch", "configmap/byoh-log-two")).toContain("no");
});

test("one command enrols a host over SSH", async () => {
  const key = `${join(lab.dir, "key")} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null`;
  const said = await timed("host add --ssh", () =>
    reader.type("2. Enrol", "--ssh", { own: { "10.0.0.12": two.address, "~/.ssh/key": key } }),
  );
  expect(said).toContain(`host default/two enrolled over root@${two.address}`);
  await eventually("a Ready host", async () => (await ready("two")) === "True");
  expect(await capstan.cli("host", "list")).toMatch(/two +True/);
});

/** Waits until a host's bootstrap is where a test wants it; what its agent said otherwise. */
async function reach(name: string, what: RegExp): Promise<void> {
  await eventually(`${name}: ${what}`, async () => what.test(await progress(name)), {
    interval: 50,
    timeout: 90_000,
  }).catch((error: unknown) => withStory(name, error));
}

/** Where the bootstrap of a host is, as its status tells. */
async function progress(name: string): Promise<string> {
  const bootstrap = JSON.parse((await hostJson(name, "{.status.bootstrap}")) || "{}") as {
    phase?: string;
    steps?: { name: string }[];
  };
  return `${bootstrap.phase}:${bootstrap.steps?.at(-1)?.name ?? ""}`;
}

/** An error with what the host and its agent said meanwhile. */
async function withStory(name: string, error: unknown): Promise<never> {
  const host = name === "one" ? one : two;
  const log = await host.must(["tail", "-n", "60", "/var/lib/capstan-host/bootstrap.log"]).catch(String);
  throw new Error(`${String(error)}\n${await progress(name)}\n${log}\n${await host.journal(AGENT)}`);
}

/** How often the agent of host one found that it had been interrupted. */
async function interruptions(): Promise<number> {
  return (
    (await one.must(["cat", "/var/lib/capstan-host/bootstrap.log"])).split("restarted during the bootstrap").length - 1
  );
}

async function killAgent(host: Node): Promise<void> {
  await host.must(["sh", "-c", `kill -9 $(systemctl show -p MainPID --value ${AGENT})`]);
}

async function killManager(): Promise<void> {
  await capstan.kill();
  await capstan.up();
}

/** The example for both hosts, with pauses in which things can be killed: a step is seen two seconds after it began. */
function manifest(name: string, more: { pauses?: boolean; installer?: boolean }): string {
  const commands = more.pauses === true ? ", preKubeadmCommands: [sleep 5], postKubeadmCommands: [sleep 5]" : "";
  const installer =
    more.installer === true
      ? "installerRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: K8sInstallerConfigTemplate, name: folder }"
      : "";
  return example
    .replaceAll(/\bown\b/g, name)
    .replace("replicas: 1", "replicas: 2")
    .replace("format: cloud-config", `format: cloud-config${commands}`)
    .replace("spec: { template: { spec: {} } }", `spec: { template: { spec: { ${installer} } } }`);
}

async function running(count: number): Promise<void> {
  await eventually(
    `${count} running machines`,
    async () => {
      const phases = await capstan.kubectl("get", "machines", "-o", "jsonpath={.items[*].status.phase}");
      return phases.split(" ").filter((phase) => phase === "Running").length === count;
    },
    { timeout: 180_000 },
  );
}

/** Waits for a cluster to be available; when it does not become so, the error says why. */
async function available(name: string): Promise<void> {
  await capstan
    .kubectl("wait", "--for=condition=Available", `cluster/${name}`, "--timeout=120s")
    .catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await capstan.cli("why", name)}`, { cause: error });
    });
}

test("the example as it is: one of the hosts becomes a node, and is given back", async () => {
  await capstan.kubectl("create", "configmap", "cni", `--from-file=cni.yaml=${path("cni.yaml")}`);
  const resourceSet = {
    apiVersion: "addons.cluster.x-k8s.io/v1beta2",
    kind: "ClusterResourceSet",
    metadata: { name: "cni", namespace: "default" },
    spec: { clusterSelector: { matchLabels: { cni: "small" } }, resources: [{ kind: "ConfigMap", name: "cni" }] },
  };
  await capstan.kubectlWithInput(JSON.stringify(resourceSet), "apply", "-f", "-");
  await reader.type("3. Use", "kubectl apply");
  await timed("applied to a Machine Running", () => running(1));
  await available("own");
  expect(await reader.type("3. Use", "capstan describe")).toMatch(/^Cluster\/own .* True +Available/m);
  expect(await reader.type("3. Use", "kubectl get byohost")).toContain("exitCode: 0");
  expect(await reader.type("3. Use", "capstan host logs")).toContain("This node has joined the cluster");
  await timed("cluster deleted", () => capstan.kubectl("delete", "cluster", "own", "--timeout=180s"));
  await expectClean("one", one);
  expect(reader.untyped()).toEqual([]);
});

test("nodes join by real kubeadm, with agent and manager killed in the middle of every step", async () => {
  await timed("applied to two Machines Running", async () => {
    await capstan.kubectlWithInput(manifest("own", { pauses: true }), "apply", "-f", "-");
    const moments = [/^Running:/, /^Running:write/, /^Running:sleep 5$/, /^Running:kubeadm join/];
    for (const [index, step] of moments.entries()) {
      await reach("one", step);
      // Before kubeadm the whole host loses its power.
      if (step.source.includes("sleep")) {
        await one.powerOff();
        await one.start({ allowFailedUnits: true });
      } else await killAgent(one);
      if (step.source.includes("write")) await killManager();
      await eventually(`kill ${index + 1} to be noticed`, async () => (await interruptions()) > index, {
        timeout: 90_000,
      }).catch((error: unknown) => withStory("one", error));
    }
    await killManager();
    await running(2);
  });
  await timed("Cluster Available", () => available("own"));
  const ids = await capstan.kubectl("get", "machines", "-o", "jsonpath={.items[*].spec.providerID}");
  expect(ids.split(" ").sort()).toEqual([
    expect.stringMatching(/^byoh:\/\/one\//),
    expect.stringMatching(/^byoh:\/\/two\//),
  ]);
  const steps = await hostJson("two", "{.status.bootstrap.steps}");
  expect(steps).not.toMatch(/[a-z0-9]{6}\.[a-z0-9]{16}/);
  const log = await capstan.cli("host", "logs", "one");
  expect(log).toContain("This node has joined the cluster");
  expect(log).toContain("$ kubeadm reset");
  expect(log).not.toMatch(/[a-z0-9]{6}\.[a-z0-9]{16}/);
});

async function expectClean(name: string, host: Node): Promise<void> {
  expect(await hostJson(name, "{.spec}")).toBe("{}");
  const left = await host.must([
    "sh",
    "-c",
    "ls -A /etc/kubernetes /etc/cni/net.d /var/lib/kubelet /var/lib/cni /run/kubeadm 2>/dev/null | grep -v : | grep -v '^$'; pgrep -x kubelet; pgrep containerd-shim; iptables-save 2>/dev/null | grep KUBE-; ls /sys/class/net | grep -e veth -e cni; ctr -n k8s.io containers list -q; ls /var/lib/capstan-host | grep -e footprint -e work; grep -o ' /var/lib/kubelet/[^ ]*' /proc/mounts; true",
  ]);
  expect(left.trim()).toBe("");
}

test("deleting the cluster gives the hosts back clean and free, with kills on the way", async () => {
  const imagesBefore = await two.must(["ctr", "-n", "k8s.io", "images", "list", "-q"]);
  await timed("cluster deleted", async () => {
    await capstan.kubectl("delete", "cluster", "own", "--wait=false");
    await eventually("a release", async () => (await hostJson("one", "{.status.release.phase}")) === "Running", {
      interval: 50,
      timeout: 120_000,
    });
    await killAgent(one);
    await killManager();
    await capstan.kubectl("wait", "--for=delete", "cluster/own", "--timeout=180s");
  });
  await expectClean("one", one);
  await expectClean("two", two);
  expect(imagesBefore).toContain(await two.must(["sh", "-c", "ctr -n k8s.io images list -q | head -1"]));
});

test("a second cluster uses the hosts again: Kubernetes installed from a folder, one host without systemd's help", async () => {
  for (const host of [one, two])
    await host.must(["sh", "-c", "mkdir /opt/k8s && cd /usr/local/bin && mv kubeadm kubelet kubectl /opt/k8s/"]);
  // A host whose containerd and kubelet are nobody's but the agent's.
  await one.must(["systemctl", "mask", "--now", "containerd", "kubelet"]).catch(async () => {
    await one.must([
      "sh",
      "-c",
      "systemctl stop kubelet containerd; rm -f /etc/systemd/system/kubelet.service; systemctl daemon-reload; systemctl mask containerd kubelet",
    ]);
  });
  await one.must([
    "sh",
    "-c",
    `rm -f /run/containerd/containerd.sock; printf '[Service]\\nExecStart=\\nExecStart=/root/${AGENT} --supervise\\n' > /etc/systemd/system/${AGENT}.service.d/supervise.conf; systemctl daemon-reload; systemctl restart ${AGENT}`,
  ]);
  const template = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    kind: "K8sInstallerConfigTemplate",
    metadata: { name: "folder", namespace: "default" },
    spec: { template: { spec: { bundleRepo: "/opt/k8s", bundleType: "k8s" } } },
  };
  await capstan.kubectlWithInput(JSON.stringify(template), "apply", "-f", "-");
  await timed("applied to two Machines Running", async () => {
    await capstan.kubectlWithInput(manifest("again", { installer: true }), "apply", "-f", "-");
    await running(2);
  });
  await available("again");
  expect((await one.must(["sh", "-c", "pgrep -x kubelet"])).trim()).not.toBe("");
  const before = (await one.must(["sh", "-c", "pgrep -x kubelet"])).trim();
  await killAgent(one);
  await eventually("the agent is back", async () => (await one.exec(["systemctl", "is-active", AGENT])).code === 0);
  expect((await one.must(["sh", "-c", "pgrep -x kubelet"])).trim()).toBe(before);
  await timed("cluster deleted", () => capstan.kubectl("delete", "cluster", "again", "--timeout=180s"));
  await expectClean("two", two);
  for (const host of [one, two]) expect((await host.exec(["sh", "-c", "ls /usr/local/bin/kubelet"])).code).not.toBe(0);
  expect((await one.exec(["pgrep", "-x", "kubelet"])).code).not.toBe(0);
  await capstan.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
});
