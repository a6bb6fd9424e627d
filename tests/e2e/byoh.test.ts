import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { eventually, Lab, leftovers, type Node, timed, workerImages } from "./harness/index.ts";

/** A host of one's own, from its enrolment to a Ready node and back to a clean, free host. */
let lab: Lab;
let capstan: Capstan;
let host: Node;

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const example = path("../../docs/examples/own-hosts.yaml");
const agent = path("../../dist/agent/capstan-host-agent.cjs");

const hostJson = async (query: string): Promise<string> =>
  capstan.kubectl("get", "byohost", "one", "-o", `jsonpath=${query}`);

beforeAll(async () => {
  await mustRun(process.execPath, [path("../../tools/agent/bundle.mjs")]);
  lab = await Lab.open();
  host = lab.addNode("one");
  host.writeFile("usr/local/bin/node", readFileSync(process.execPath), 0o755);
  host.writeFile("opt/capstan-host-agent.cjs", readFileSync(agent));
  capstan = await timed("capstan up", () => Capstan.start(lab.gateway, lab.gateway));
  await timed("host booted, images imported", async () => {
    await host.start();
    await host.importImages(workerImages.map((name) => lab.images[name]));
  });
});

afterAll(async () => {
  await capstan?.close();
  await lab?.close();
});

test("one line enrols a host, once, with rights to its own objects only", async () => {
  const line = (await capstan.cli("host", "add", "one", "--labels", "rack=1")).trim();
  const token = line.split(" ").at(-1) ?? "";
  await host.must([
    "systemd-run",
    "--unit=capstan-host-agent",
    "--property=Restart=always",
    "node",
    "/opt/capstan-host-agent.cjs",
    "--enrol",
    token,
  ]);
  await timed("host Ready", () =>
    eventually(
      "a Ready host",
      async () => (await hostJson("{.status.conditions[?(@.type=='Ready')].status}")) === "True",
    ),
  );
  expect(await hostJson("{.status.hostinfo.osimage}")).toContain("Debian");
  // The token is used up: a copy of the line is worth nothing.
  const again = await host.exec(["node", "/opt/capstan-host-agent.cjs", "--state", "/tmp/thief", "--enrol", token]);
  expect(again.code).not.toBe(0);
  // What the agent may do, tried with its own certificate.
  const kubeconfig = await host.must(["cat", "/var/lib/capstan-host/kubeconfig"]);
  const file = join(lab.dir, "agent.kubeconfig");
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const can = (...args: string[]): Promise<string> =>
    mustRun(join(kubernetesBin(), "kubectl"), ["--kubeconfig", file, "auth", "can-i", ...args]).catch(
      (error: unknown) => String(error),
    );
  expect(await can("get", "byohost/one")).toContain("yes");
  expect(await can("get", "byohost/two")).toContain("no");
  expect(await can("list", "secrets")).toContain("no");
  expect(await can("patch", "byohost/one")).toContain("no");
  expect(await can("patch", "byohost/one", "--subresource=status")).toContain("yes");
});

test("one file leads to a Ready node on the host, joined by real kubeadm with data made by KubeadmConfig", async () => {
  const cni = ["create", "configmap", "cni", `--from-file=cni.yaml=${path("cni.yaml")}`];
  await capstan.kubectl(...cni);
  const resourceSet = {
    apiVersion: "addons.cluster.x-k8s.io/v1beta2",
    kind: "ClusterResourceSet",
    metadata: { name: "cni", namespace: "default" },
    spec: { clusterSelector: { matchLabels: { cni: "small" } }, resources: [{ kind: "ConfigMap", name: "cni" }] },
  };
  await capstan.kubectlWithInput(JSON.stringify(resourceSet), "apply", "-f", "-");
  await timed("applied to Machine Running", async () => {
    await capstan.kubectl("apply", "-f", example);
    await eventually(
      "a Running machine",
      async () => (await capstan.kubectl("get", "machines", "-o", "jsonpath={.items[*].status.phase}")) === "Running",
      { timeout: 120_000 },
    );
  });
  await timed("Cluster Available", () =>
    capstan.kubectl("wait", "--for=condition=Available", "cluster/own", "--timeout=120s"),
  );
  expect(await capstan.kubectl("get", "machines", "-o", "jsonpath={.items[*].spec.providerID}")).toMatch(
    /^byoh:\/\/one\//,
  );
  expect(await capstan.cli("describe", "cluster", "own")).toMatch(/MachineDeployment\/own-workers\s+Available: True/);
  expect(await hostJson("{.status.bootstrap.phase}")).toBe("Succeeded");
  expect(await hostJson("{.status.bootstrap.steps}")).not.toMatch(/[a-z0-9]{6}\.[a-z0-9]{16}/);
});

test("deleting the cluster gives the host back clean and free", async () => {
  await timed("cluster deleted", () => capstan.kubectl("delete", "cluster", "own", "--timeout=120s"));
  expect(await hostJson("{.spec.machineRef.name}")).toBe("");
  expect(await hostJson("{.spec.release.machineUID}")).toBe("");
  const left = await host.must([
    "sh",
    "-c",
    "ls /etc/kubernetes /etc/cni/net.d 2>/dev/null; pgrep -x kubelet || true; iptables-save 2>/dev/null | grep -c KUBE- || true",
  ]);
  expect(left.trim()).toBe("0");
  await capstan.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
});
