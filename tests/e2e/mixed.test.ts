import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WorkerPool } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { BareMetalHost } from "@capstan/infra-metal3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubernetesBin, mustRun, runCommand } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { CertificateSigningRequest, Witness } from "./capstan/witness.ts";
import { BMC_USER, Bmc } from "./harness/bmc.ts";
import { BmcMachine, metalPackages } from "./harness/bmc-machine.ts";
import {
  changesOf,
  eventually,
  type HostState,
  Lab,
  leftovers,
  type Node,
  stateOfHost,
  timed,
  workerImages,
} from "./harness/index.ts";

/** One cluster, many providers: own hosts and bare metal under one hosted control plane, all of it real, and all of it killed. */
const SYSTEM = { uuid: "6a4cdd2c-3a0e-4b1b-9a3e-0c5b9d0a7f01", name: "metal-1", mac: "52:54:00:00:01:01" };
const AGENT = "capstan-host-agent";

let lab: Lab;
let capstan: Capstan;
let witness: Witness;
let bmc: Bmc;
let machine: BmcMachine;
let images: Server;
let one: Node;
let two: Node;
const clean = new Map<Node, HostState>();

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const field = (what: string, query: string): Promise<string> =>
  capstan.kubectl("get", ...what.split(" "), "--ignore-not-found", "-o", `jsonpath=${query}`);

/** kubectl against the cluster. */
async function workload(...args: string[]): Promise<string> {
  const secret = await field("secret mixed-kubeconfig", "{.data.value}");
  const file = join(lab.dir, "mixed.kubeconfig");
  writeFileSync(file, Buffer.from(secret, "base64"), { mode: 0o600 });
  const common = ["--kubeconfig", file, "--cache-dir", join(lab.dir, "kube")];
  return await mustRun(join(kubernetesBin(), "kubectl"), [...common, ...args]);
}

const example = (name: string): string => readFileSync(path(`../../docs/examples/${name}.yaml`), "utf8");
const manifest = (): string =>
  example("mixed").replaceAll("IMAGE_URL", `http://${lab.gateway}:${(images.address() as AddressInfo).port}/live.iso`);

const hostState = (): Promise<string> =>
  field("bmh metal-1", "{.status.provisioning.state} {.status.poweredOn} {.status.errorMessage}");

beforeAll(async () => {
  await timed("agent's program", () => mustRun(process.execPath, [path("../../tools/agent/executable.mjs")]));
  lab = await Lab.open({ extraPackages: metalPackages });
  const workerImagesOf = workerImages.map((name) => lab.images[name]);
  machine = new BmcMachine(lab.addNode("metal-1"), workerImagesOf);
  images = createServer((_request, response) =>
    response.end("a live image: its contents are the lab's root file system"),
  );
  await new Promise<void>((resolve) => images.listen(0, lab.gateway, resolve));
  [one, two] = [lab.addNode("own-1"), lab.addNode("own-2")];
  // One host has no Node and runs the agent's program, the other has Node and runs its single file.
  one.writeFile(`root/${AGENT}`, readFileSync(path(`../../dist/agent/${AGENT}`)), 0o755);
  // Kills would otherwise cost five seconds each.
  const fast = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=200ms\n";
  one.writeFile(`etc/systemd/system/${AGENT}.service.d/fast.conf`, fast);
  two.writeFile("usr/local/bin/node", readFileSync(process.execPath), 0o755);
  two.writeFile(`opt/${AGENT}.cjs`, readFileSync(path(`../../dist/agent/${AGENT}.cjs`)));
  // Management controller and image server of this test are on the machine of the manager.
  const own = ["--allow-address", `${lab.gateway}/32`];
  await Promise.all([
    Bmc.start({
      dir: join(lab.dir, "bmc"),
      address: lab.gateway,
      systems: [SYSTEM],
      changed: (state) => machine.changed(state),
    }).then((started) => {
      bmc = started;
    }),
    timed("capstan up", () => Capstan.start(lab.gateway, lab.gateway, own)).then(async (started) => {
      capstan = started;
      witness = await Witness.open(capstan.kubeconfig);
    }),
    ...[one, two].map((host) =>
      timed(`${host.name} booted, images imported`, async () => {
        host.writeFile("etc/cloud/cloud-init.disabled", "");
        await host.start();
        await host.importImages(workerImagesOf);
      }),
    ),
  ]);
});

afterAll(async () => {
  await witness?.close();
  await capstan?.close();
  await machine?.settled();
  await bmc?.close();
  images?.close();
  await lab?.close();
});

let killing: Promise<unknown> = Promise.resolve();

/**
 * Waits for a moment, kills who is named, and has the manager up again; systemd starts agents by itself. The manager is killed once at
 * a time; an agent alone at once, before the moment is over.
 */
async function killAt(moment: string, reached: Promise<unknown>, ...victims: ("manager" | Node)[]): Promise<void> {
  await reached;
  const names = victims.map((victim) => (victim === "manager" ? victim : `agent of ${victim.name}`)).join(", ");
  const kill = (): Promise<unknown> =>
    Promise.all(
      victims.map((victim) =>
        victim === "manager"
          ? capstan.kill()
          : victim.must(["systemctl", "kill", "--signal=KILL", "--kill-whom=main", AGENT]),
      ),
    );
  if (!victims.includes("manager")) {
    await timed(`  killed at ${moment}: ${names}`, kill);
    return;
  }
  const killed = killing.then(() =>
    timed(`  killed at ${moment}: ${names}`, async () => {
      await kill();
      await capstan.up();
      await witness.connect();
    }),
  );
  killing = killed.catch(() => undefined);
  await killed;
}

/** Waits in a host for something that only it can see. */
async function inHost(host: Node, condition: string): Promise<void> {
  await host.must(["sh", "-c", `until ${condition}; do sleep 0.05; done`], { timeout: 240_000 });
}

/** Waits until a program with these arguments runs on a host, and has got somewhere. */
const runs = (host: Node, command: string, seconds = 0.5): Promise<void> =>
  inHost(host, `pgrep -f '[${command[0]}]${command.slice(1)}' >/dev/null && sleep ${seconds}`);

/** Waits until the bare-metal host is in one of these states. Some last for milliseconds: the moment is then the one right after. */
const bareMetalIs = (...states: string[]): Promise<unknown> =>
  witness.until(`metal-1 ${states.join(" or ")}`, BareMetalHost, ({ status }) =>
    states.includes(status?.provisioning?.state ?? ""),
  );

const claimed = (name: string): Promise<unknown> =>
  witness.until(
    `${name} claimed`,
    ByoHost,
    (host) => host.metadata.name === name && host.spec?.machineRef !== undefined,
  );

const requested = (name: string): Promise<unknown> =>
  witness.until(`certificate of ${name} requested`, CertificateSigningRequest, ({ metadata }) =>
    (metadata.name ?? "").startsWith(`byoh-default-${name}-`),
  );

test("two hosts are enrolled with one command each, and one BareMetalHost is registered and inspected", async () => {
  const [first = "", second = ""] = await Promise.all(
    ["own-1", "own-2"].map(async (name) => (await capstan.cli("host", "add", name)).trim()),
  );
  await timed("two hosts enrolled", async () => {
    const token = second.split(" ").at(-1) ?? "";
    const unit = ["systemd-run", `--unit=${AGENT}`, "--property=Restart=always", "--property=KillMode=process"];
    await Promise.all([
      killAt("enrolment", requested("own-2"), two, "manager"),
      two.must([...unit, "node", `/opt/${AGENT}.cjs`, "--enrol", token]),
    ]);
    await Promise.all([
      killAt("enrolment", requested("own-1"), "manager"),
      one.must(["sh", "-c", `cd /root && ${first}`]),
    ]);
  });
  const bareMetal = [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "metal-1-bmc", namespace: "default" },
      stringData: { ...BMC_USER, "ca.crt": bmc.caPem },
    },
    {
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      metadata: { name: "metal-1", namespace: "default" },
      spec: {
        online: false,
        bootMACAddress: SYSTEM.mac,
        bmc: { address: bmc.addressOf(SYSTEM), credentialsName: "metal-1-bmc" },
      },
    },
  ];
  await capstan.kubectlWithInput(bareMetal.map((object) => JSON.stringify(object)).join("\n---\n"), "apply", "-f", "-");
  await timed("BareMetalHost available", async () => {
    await killAt("inspection", bareMetalIs("inspecting", "preparing", "available"), "manager");
    await bareMetalIs("available");
  });
  for (const host of [one, two]) {
    await eventually(
      `${host.name} Ready`,
      async () => (await field(`byohost ${host.name}`, "{.status.conditions[?(@.type=='Ready')].status}")) === "True",
    );
    clean.set(host, await stateOfHost(host));
  }
  expect(await field("bmh metal-1", "{.status.hardware.nics[0].mac}")).toBe(SYSTEM.mac);
  // The token is valid for one request: the killed agent continued with the one it had created.
  const requests = (await field("csr", "{.items[*].metadata.name}")).split(" ");
  expect(requests.filter((name) => name.startsWith("byoh-default-own-2-"))).toHaveLength(1);
});

test("one file leads to nodes of two providers, joined by real kubeadm, and a Service spans both", async () => {
  await capstan.kubectl("create", "configmap", "cni", `--from-file=cni.yaml=${path("cni.yaml")}`);
  const resourceSet = {
    apiVersion: "addons.cluster.x-k8s.io/v1beta2",
    kind: "ClusterResourceSet",
    metadata: { name: "cni", namespace: "default" },
    spec: { clusterSelector: { matchLabels: { cni: "small" } }, resources: [{ kind: "ConfigMap", name: "cni" }] },
  };
  await capstan.kubectlWithInput(JSON.stringify(resourceSet), "apply", "-f", "-");
  await timed("applied to both machines Running", async () => {
    const own = async (): Promise<void> => {
      await killAt("claim", claimed("own-1"), one, "manager");
      await killAt("bootstrap", inHost(one, "[ -e /run/kubeadm/kubeadm-join-config.yaml ]"), one);
      await inHost(one, "grep -q 'restarted during the bootstrap' /var/lib/capstan-host/bootstrap.log");
      await killAt("join", runs(one, "kubeadm join"), one, "manager");
    };
    const metal = (): Promise<void> => killAt("provisioning", bareMetalIs("provisioning", "provisioned"), "manager");
    await capstan.kubectlWithInput(manifest(), "apply", "-f", "-");
    await Promise.all([own(), metal()]);
    await running(2);
  });
  expect(await providerIDs()).toEqual(["byoh://own-1", "metal3://default/metal-1"]);
  expect(machine.problems).toEqual([]);
  await workload("apply", "-f", path("web.yaml"));
  await workload("wait", "--for=condition=Available", "deployment/web", "--timeout=60s");
  const nodes = (await workload("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}")).split(" ");
  expect(new Set(nodes).size).toBe(2);
  const address = await workload("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}");
  const ask = `for i in $(seq 20); do curl -sfm 2 http://${address}/; done | sort -u | wc -l`;
  // kube-proxy hears of the second endpoint a moment after the Deployment.
  const both = async (): Promise<boolean> => (await machine.node.must(["sh", "-c", ask])).trim() === "2";
  await timed("both pods answer behind one Service", () => eventually("answers of both pods", both));
});

const poolHas = (what: string, counts: Record<string, number>): Promise<WorkerPool> =>
  witness.until(what, WorkerPool, ({ status }) =>
    Object.entries(counts).every(
      ([name, count]) => status?.members?.find((member) => member.name === name)?.available === count,
    ),
  );

test("a WorkerPool without bare metal overflows to an own host, and returns when there is bare metal again", async () => {
  const pool = example("pool").replace("returnAfterSeconds: 900", "returnAfterSeconds: 5");
  await timed("overflow", async () => {
    const full = witness.until("metal Full", WorkerPool, ({ status }) => status?.members?.[0]?.state === "Full");
    await Promise.all([
      killAt("scaling", full, "manager"),
      killAt("join of the pool's machine", runs(two, "kubeadm join"), two),
      capstan.kubectlWithInput(pool, "apply", "-f", "-"),
    ]);
    await poolHas("overflow", { metal: 0, own: 1 });
  });
  expect(await providerIDs()).toEqual(["byoh://own-1", "byoh://own-2", "metal3://default/metal-1"]);
  const availableOf = (name: string): number | undefined =>
    witness.now(WorkerPool)[0]?.status?.members?.find((member) => member.name === name)?.available;
  await timed("return", async () => {
    // The machine that works is given up only when the one that replaces it works.
    const givenUp = witness
      .until("own-2 given up", ByoHost, (host) => host.metadata.name === "own-2" && host.spec?.release !== undefined)
      .then(() => availableOf("metal"));
    await capstan.kubectl("scale", "machinedeployment", "mixed-metal", "--replicas=0");
    await killAt("deprovisioning", bareMetalIs("deprovisioning", "preparing", "available"), "manager");
    await killAt("provisioning of the pool's machine", bareMetalIs("provisioning", "provisioned"), "manager");
    await killAt("release", runs(two, "kubeadm reset", 0.1), two, "manager");
    expect(await givenUp).toBe(1);
    await poolHas("return", { metal: 1, own: 0 });
    await running(2);
    await witness.until("own-2 free", ByoHost, ({ metadata, spec }) => metadata.name === "own-2" && isFree(spec));
  });
  expect(await providerIDs()).toEqual(["byoh://own-1", "metal3://default/metal-1"]);
  expect(changesOf(clean.get(two) ?? {}, await stateOfHost(two))).toEqual([]);
  expect(machine.instances).toHaveLength(2);
});

test("deleting the cluster frees the hosts, takes the image off the metal and frees its address; a second cluster gets them all", async () => {
  await timed("cluster deleted", async () => {
    await capstan.kubectl("delete", "cluster", "mixed", "--wait=false");
    await Promise.all([
      killAt("release", runs(one, "kubeadm reset", 0.1), one, "manager"),
      killAt("deprovisioning", bareMetalIs("deprovisioning", "preparing", "available"), "manager"),
    ]);
    await gone();
  });
  await nothingLeft();
  await timed("second cluster with the same hosts", async () => {
    await capstan.kubectlWithInput(manifest(), "apply", "-f", "-");
    await running(2);
  });
  await timed("second cluster deleted", async () => {
    await capstan.kubectl("delete", "cluster", "mixed", "--wait=false");
    await gone();
  });
  await nothingLeft();
  // Nothing was claimed or provisioned twice: each machine had one host, each config drive was booted once.
  expect(witness.wrongs).toEqual([]);
  expect(Object.values(witness.claims).filter((hosts) => hosts.length !== 1)).toEqual([]);
  expect(new Set(machine.instances).size).toBe(3);
  expect(machine.instances).toHaveLength(3);
  await capstan.kubectl("delete", "bmh", "metal-1", "--timeout=60s");
  await witness.close();
  await capstan.close();
  expect((await runCommand("pgrep", ["-fa", capstan.dataDir])).stdout).toBe("");
  await machine.settled();
  await bmc.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
});

/** What a cluster must not leave in the management API. */
const KINDS = [
  "secrets",
  "ipclaims.ipam.metal3.io",
  "ipaddresses.ipam.metal3.io",
  "metal3datas",
  "metal3dataclaims",
  "metal3machines",
  "metal3clusters",
  "byomachines",
  "byoclusters",
  "metaclusters",
  "hostedcontrolplanes",
  "machines",
  "machinesets",
  "machinedeployments",
  "workerpools",
  "kubeadmconfigs",
];

const isFree = (spec: ByoHost["spec"]): boolean => Object.keys(spec ?? {}).length === 0;

/** Everything that a deleted cluster must have given back, each looked at where it is. */
async function nothingLeft(): Promise<void> {
  await eventually("host available and off", async () => (await hostState()).startsWith("available false"));
  await machine.settled();
  expect(machine.on).toBe(false);
  expect(machine.state?.power_state).toBe("Off");
  expect(await field("bmh metal-1", "{.spec.consumerRef}{.spec.image}{.spec.userData}{.spec.metaData}")).toBe("");
  for (const host of [one, two]) {
    expect(await field(`byohost ${host.name}`, "{.spec}")).toBe("{}");
    expect(changesOf(clean.get(host) ?? {}, await stateOfHost(host)), host.name).toEqual([]);
  }
  // Garbage collection may be a moment late.
  let left: string[] = [];
  const look = async (): Promise<boolean> => {
    const all = (await capstan.kubectl("get", KINDS.join(), "-o", "name")).split("\n");
    left = all.filter((name) => name !== "" && !/^secret\/(?!mixed|general)/.test(name));
    return left.length === 0;
  };
  await eventually("nothing", look, { timeout: 15_000, interval: 500 }).catch(() => expect(left).toEqual([]));
  // The control plane's processes and files.
  const processes = (await runCommand("pgrep", ["-fa", capstan.dataDir])).stdout.split("\n").filter(Boolean);
  expect(processes.filter((line) => !line.includes(" up --data "))).toEqual([]);
  expect(readdirSync(join(capstan.dataDir, "clusters/default"))).toEqual([]);
}

async function gone(): Promise<void> {
  await eventually("no cluster", async () => (await field("clusters", "{.items[*].metadata.name}")) === "", {
    timeout: 180_000,
    interval: 500,
  }).catch(explain);
}

async function running(count: number): Promise<void> {
  const wanted = Array.from({ length: count }, () => "Running").join(" ");
  await eventually(
    `${count} Running machines and no other`,
    async () => (await field("machines", "{.items[*].status.phase}")) === wanted,
    { timeout: 180_000, interval: 500 },
  ).catch(explain);
}

async function explain(error: unknown): Promise<never> {
  const why = await capstan.cli("why", "cluster", "mixed").catch(String);
  throw new Error(`${String(error)}\n${why}\n${await hostState()}\n${machine.problems.join("\n")}`);
}

/** Where the machines are, without what is different in every run. */
async function providerIDs(): Promise<string[]> {
  const ids = (await field("machines", "{.items[*].spec.providerID}")).split(" ");
  return ids.map((id) => id.replace(/\/[^/]*$/, "")).sort();
}
