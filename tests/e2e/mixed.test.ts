import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { BMC_USER, Bmc } from "./harness/bmc.ts";
import { BmcMachine, metalPackages } from "./harness/bmc-machine.ts";
import { eventually, Lab, leftovers, type Node, timed, workerImages } from "./harness/index.ts";

/** One cluster, many providers: own hosts and bare metal under one hosted control plane, all of it real. */
const SYSTEM = { uuid: "6a4cdd2c-3a0e-4b1b-9a3e-0c5b9d0a7f01", name: "metal-1", mac: "52:54:00:00:01:01" };

let lab: Lab;
let capstan: Capstan;
let bmc: Bmc;
let machine: BmcMachine;
let images: Server;
const hosts: Node[] = [];

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const agent = path("../../dist/agent/capstan-host-agent.cjs");

const field = (what: string, query: string): Promise<string> =>
  capstan.kubectl("get", ...what.split(" "), "-o", `jsonpath=${query}`);

/** kubectl against the cluster. */
async function workload(...args: string[]): Promise<string> {
  const secret = await field("secret mixed-kubeconfig", "{.data.value}");
  const file = join(lab.dir, "mixed.kubeconfig");
  writeFileSync(file, Buffer.from(secret, "base64"), { mode: 0o600 });
  const common = ["--kubeconfig", file, "--cache-dir", join(lab.dir, "kube")];
  return await mustRun(join(kubernetesBin(), "kubectl"), [...common, ...args]);
}

const manifest = (): string =>
  readFileSync(path("../../docs/examples/mixed.yaml"), "utf8").replaceAll(
    "IMAGE_URL",
    `http://${lab.gateway}:${(images.address() as AddressInfo).port}/live.iso`,
  );

const hostState = (): Promise<string> =>
  field("bmh metal-1", "{.status.provisioning.state} {.status.poweredOn} {.status.errorMessage}");

beforeAll(async () => {
  await mustRun(process.execPath, [path("../../tools/agent/bundle.mjs")]);
  lab = await Lab.open({ extraPackages: metalPackages });
  const workerImagesOf = workerImages.map((name) => lab.images[name]);
  machine = new BmcMachine(lab.addNode("metal-1"), workerImagesOf);
  images = createServer((_request, response) =>
    response.end("a live image: its contents are the lab's root file system"),
  );
  await new Promise<void>((resolve) => images.listen(0, lab.gateway, resolve));
  bmc = await Bmc.start({
    dir: join(lab.dir, "bmc"),
    address: lab.gateway,
    systems: [SYSTEM],
    changed: (state) => machine.changed(state),
  });
  capstan = await timed("capstan up", () => Capstan.start(lab.gateway, lab.gateway));
  for (const name of ["own-1", "own-2"]) {
    const host = lab.addNode(name);
    host.writeFile("etc/cloud/cloud-init.disabled", "");
    host.writeFile("usr/local/bin/node", readFileSync(process.execPath), 0o755);
    host.writeFile("opt/capstan-host-agent.cjs", readFileSync(agent));
    await timed(`${name} booted, images imported`, async () => {
      await host.start();
      await host.importImages(workerImagesOf);
    });
    hosts.push(host);
  }
});

afterAll(async () => {
  await capstan?.close();
  await machine?.settled();
  await bmc?.close();
  images?.close();
  await lab?.close();
});

test("two hosts are enrolled with one command each, and one BareMetalHost is registered and inspected", async () => {
  for (const host of hosts) {
    const token = (await capstan.cli("host", "add", host.name)).trim().split(" ").at(-1) ?? "";
    const unit = ["systemd-run", "--unit=capstan-host-agent", "--property=Restart=always"];
    await host.must([...unit, "node", "/opt/capstan-host-agent.cjs", "--enrol", token]);
  }
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
  await timed("BareMetalHost available", () =>
    eventually("available", async () => (await hostState()).startsWith("available"), { timeout: 60_000 }),
  );
  for (const { name } of hosts)
    await eventually(
      `${name} Ready`,
      async () => (await field(`byohost ${name}`, "{.status.conditions[?(@.type=='Ready')].status}")) === "True",
    );
  expect(await field("bmh metal-1", "{.status.hardware.nics[0].mac}")).toBe(SYSTEM.mac);
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
  await timed("applied to both machines Running", () => applied());
  expect(
    (await field("machines", "{.items[*].spec.providerID}"))
      .split(" ")
      .sort()
      .map((id) => id.replace(/\/[^/]*$/, "")),
  ).toEqual([expect.stringMatching(/^byoh:\/\/own-[12]$/), "metal3://default/metal-1"]);
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

test("deleting the cluster frees the hosts, takes the image off the metal and frees its address; a second cluster gets them all", async () => {
  await timed("cluster deleted", () => capstan.kubectl("delete", "cluster", "mixed", "--timeout=240s"));
  await eventually("host available and off", async () => (await hostState()).startsWith("available false"), {
    timeout: 60_000,
  });
  await machine.settled();
  expect(machine.on).toBe(false);
  expect(await field("bmh metal-1", "{.spec.consumerRef}{.spec.image}{.spec.userData}")).toBe("");
  expect(await field("byohosts", "{.items[*].spec.machineRef.name}")).toBe("");
  for (const kind of [
    "ipclaims.ipam.metal3.io",
    "ipaddresses.ipam.metal3.io",
    "metal3datas",
    "metal3dataclaims",
    "metal3machines",
    "metal3clusters",
    "metaclusters",
  ])
    expect(await field(kind, "{.items[*].metadata.name}"), kind).toBe("");
  await timed("second cluster with the same hosts", () => applied());
  await timed("second cluster deleted", () => capstan.kubectl("delete", "cluster", "mixed", "--timeout=240s"));
  await capstan.kubectl("delete", "bmh", "metal-1", "--timeout=60s");
  await capstan.close();
  await machine.settled();
  await bmc.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
});

async function applied(): Promise<void> {
  await capstan.kubectlWithInput(manifest(), "apply", "-f", "-");
  await eventually(
    "two Running machines",
    async () => (await field("machines", "{.items[*].status.phase}")) === "Running Running",
    { timeout: 240_000, interval: 1000 },
  ).catch(async (error: unknown) => {
    const why = await capstan.cli("why", "cluster", "mixed").catch(String);
    throw new Error(`${String(error)}\n${why}\n${await hostState()}\n${machine.problems.join("\n")}`);
  });
}
