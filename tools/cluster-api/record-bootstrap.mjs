#!/usr/bin/env node
/**
 * Records what upstream's kubeadm bootstrap provider writes for the cases in providers/bootstrap-kubeadm/testdata: each
 * `NAME.case.yaml` gets a `NAME.golden` with the data Secret's value, tokens replaced by a fixed one. Needs `npm run build` and
 * `npm run kubernetes`; run it again after changing or adding cases.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startKubeApiserver } from "@capstan/tests/real-kubernetes";
import { parse } from "yaml";
import { startUpstream, upstreamVersion } from "./start-upstream.mjs";

const testdata = fileURLToPath(new URL("../../providers/bootstrap-kubeadm/testdata", import.meta.url));
const only = process.argv.slice(2);
const CLUSTER = "c";
/** Also behind an escaped character of a data URL. */
const TOKEN = /(?<=[^a-z0-9]|%[0-9A-F]{2})[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9])/g;

const kubernetes = await startKubeApiserver();
let upstream;
try {
  upstream = await startUpstream(kubernetes, {
    // Cluster and Machine are written as the core manager would leave them, so that each case says exactly what it tests.
    managers: ["bootstrap"],
    crdsOnly: ["core"],
    featureGates: "KubeadmBootstrapFormatIgnition=true,MachinePool=true",
  });
  const cases = readdirSync(testdata)
    .filter((name) => name.endsWith(".case.yaml"))
    .map((name) => name.replace(/\.case\.yaml$/, ""))
    .filter((name) => only.length === 0 || only.includes(name));
  for (const name of cases) {
    try {
      const value = await record(name);
      writeFileSync(join(testdata, `${name}.golden`), value);
      console.log(`${name}: ${value.length} characters`);
    } catch (error) {
      console.error(`${name}: ${error.message}`);
      process.exitCode = 1;
    }
  }
  console.log(`recorded from Cluster API ${upstreamVersion()}`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await upstream?.stop();
  await kubernetes.stop();
}

/** Creates the objects of a case in a namespace of its own and waits for the data Secret. */
async function record(name) {
  const given = parse(readFileSync(join(testdata, `${name}.case.yaml`), "utf8"));
  const certificates = parse(readFileSync(join(testdata, "certificates.yaml"), "utf8"));
  const { pool = false, controlPlane = false, initialized = true, version, cluster = {}, secrets = {}, spec } = given;
  const { apiVersion = "v1beta2" } = given;
  const group = "cluster.x-k8s.io/v1beta2";
  const labels = { "cluster.x-k8s.io/cluster-name": CLUSTER };
  const configRef = { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name };
  const machineSpec = {
    clusterName: CLUSTER,
    version,
    bootstrap: { configRef },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "Nothing", name },
  };
  const secret = (secretName, data) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secretName, labels },
    stringData: data,
  });
  await apply(name, [
    { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    {
      apiVersion: group,
      kind: "Cluster",
      metadata: { name: CLUSTER, annotations: {} },
      spec: { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 }, ...cluster },
    },
    secret(`${CLUSTER}-kubeconfig`, { value: readFileSync(kubernetes.kubeconfigFile, "utf8") }),
    ...Object.entries({ ...certificates, ...given.certificates }).map(([purpose, data]) =>
      secret(`${CLUSTER}-${purpose}`, data),
    ),
    ...Object.entries(secrets).map(([secretName, data]) => secret(secretName, data)),
  ]);
  await status(name, `cluster/${CLUSTER}`, {
    initialization: { infrastructureProvisioned: true, ...(initialized ? { controlPlaneInitialized: true } : {}) },
    conditions: initialized
      ? [
          {
            type: "ControlPlaneInitialized",
            status: "True",
            reason: "Initialized",
            message: "",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ]
      : [],
  });
  const kind = pool ? "MachinePool" : "Machine";
  const [owner] = await apply(name, [
    {
      apiVersion: group,
      kind,
      metadata: { name, labels: { ...labels, ...(controlPlane ? { "cluster.x-k8s.io/control-plane": "" } : {}) } },
      spec: pool ? { clusterName: CLUSTER, replicas: 1, template: { spec: machineSpec } } : machineSpec,
    },
  ]);
  await apply(name, [
    {
      apiVersion: `bootstrap.cluster.x-k8s.io/${apiVersion}`,
      kind: "KubeadmConfig",
      metadata: {
        name,
        labels,
        ownerReferences: [{ apiVersion: group, kind, name, uid: owner.metadata.uid, controller: true }],
      },
      spec,
    },
  ]);
  for (let attempt = 0; attempt < 80; attempt++) {
    const { stdout, code } = await kubernetes.kubectl("get", "secret", name, "-n", name, "-o", "json");
    if (code === 0)
      return Buffer.from(JSON.parse(stdout).data.value, "base64")
        .toString()
        .replaceAll(TOKEN, given.token ?? "abcdef.0123456789abcdef");
    await sleep(250);
  }
  const { stdout } = await kubernetes.kubectl("get", "kubeadmconfig", name, "-n", name, "-o", "yaml");
  throw new Error(
    `no data Secret for ${name} after 20 s:\n${stdout}\n${readFileSync(join(kubernetes.dir, "log/bootstrap-manager.log"), "utf8").slice(-2000)}`,
  );
}

async function apply(namespace, objects) {
  // JSON, because YAML of one version read as the other turns "yes" into true.
  const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
  const { stdout, stderr, code } = await kubernetes.kubectlWithInput(
    text,
    "apply",
    "--server-side",
    "--force-conflicts",
    "-n",
    namespace,
    "-o",
    "json",
    "-f",
    "-",
  );
  if (code !== 0) throw new Error(stderr);
  const answer = JSON.parse(stdout);
  return answer.kind === "List" ? answer.items : [answer];
}

async function status(namespace, resource, value) {
  const patch = JSON.stringify({ status: value });
  const { stderr, code } = await kubernetes.kubectl(
    "patch",
    resource,
    "-n",
    namespace,
    "--subresource=status",
    "--type=merge",
    "-p",
    patch,
  );
  if (code !== 0) throw new Error(stderr);
}
