/**
 * Runs upstream Cluster API's managers as plain processes with a real kube-apiserver: their components are applied with every
 * webhook and conversion pointing to 127.0.0.1 instead of to Services. Nothing here is ours but the plumbing.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePorts } from "@capstan/tests/real-kubernetes";
import { parseAllDocuments } from "yaml";

const here = fileURLToPath(new URL(".", import.meta.url));

/** What each manager is built as and where the module keeps its components. */
const MANAGERS = {
  core: { program: "core-manager", config: "core/config/default" },
  bootstrap: { program: "kubeadm-bootstrap-manager", config: "bootstrap/kubeadm/config/default" },
  "control-plane": { program: "kubeadm-control-plane-manager", config: "controlplane/kubeadm/config/default" },
};

/** @param {string[]} args */
export function run(file, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${error?.message ?? stderr}`);
  return stdout;
}

/**
 * Applies the components of the named managers and runs those managers; of those in `crdsOnly` only the kinds are installed.
 * `featureGates` is for all of them.
 * @param {import("@capstan/tests/real-kubernetes").RealKubernetes} kubernetes
 * @param {{ managers: (keyof typeof MANAGERS)[]; crdsOnly?: (keyof typeof MANAGERS)[]; featureGates?: string }} options
 */
export async function startUpstream(kubernetes, options) {
  const bin = run(process.execPath, [join(here, "build.mjs"), "--print"]).trim();
  run(process.execPath, [
    join(here, "build.mjs"),
    "--only",
    options.managers.map((name) => MANAGERS[name].program).join(","),
  ]);
  const source = run("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api"], { cwd: here }).trim();
  const children = [];
  const stop = async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
  };
  try {
    const started = [];
    for (const name of options.managers) {
      const [webhook, health, diagnostics] = await freePorts(3);
      started.push({ name, webhook, health, diagnostics });
    }
    const kinds = (options.crdsOnly ?? []).map((name) => ({ name, webhook: undefined }));
    for (const each of [...kinds, ...started]) await applyComponents(kubernetes, source, each);
    for (const each of started) children.push(startManager(kubernetes, bin, each, options.featureGates));
    for (const each of started) await untilReady(each, join(kubernetes.dir, "log", `${each.name}-manager.log`));
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop, source, pids: children.map(({ pid }) => pid) };
}

async function applyComponents(kubernetes, source, { name, webhook }) {
  const { stdout, stderr, code } = await kubernetes.kubectl("kustomize", join(source, MANAGERS[name].config));
  if (code !== 0) throw new Error(stderr);
  const caBundle = Buffer.from(kubernetes.caPem).toString("base64");
  const wanted = ["CustomResourceDefinition"];
  if (webhook !== undefined) wanted.push("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration");
  const objects = parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((object) => wanted.includes(object?.kind))
    .map((object) => pointHome(object, webhook, caBundle));
  const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
  const applied = await kubernetes.kubectlWithInput(text, "apply", "--server-side", "-f", "-");
  if (applied.code !== 0) throw new Error(applied.stderr);
}

/** Services lead nowhere without nodes; the managers listen on this machine. */
export function pointHome(object, port, caBundle) {
  const home = (path) => ({ url: `https://127.0.0.1:${port}${path}`, caBundle });
  for (const webhook of object.webhooks ?? []) webhook.clientConfig = home(webhook.clientConfig.service.path);
  if (object.spec?.conversion?.webhook === undefined) return object;
  if (port === undefined) object.spec.conversion = { strategy: "None" };
  else object.spec.conversion.webhook.clientConfig = home("/convert");
  return object;
}

function startManager(kubernetes, bin, { name, webhook, health, diagnostics }, featureGates) {
  const logs = join(kubernetes.dir, "log");
  mkdirSync(logs, { recursive: true });
  const args = [
    `--kubeconfig=${kubernetes.kubeconfigFile}`,
    `--webhook-port=${webhook}`,
    `--webhook-cert-dir=${kubernetes.pkiDir}`,
    "--webhook-cert-name=apiserver.crt",
    "--webhook-key-name=apiserver.key",
    `--health-addr=127.0.0.1:${health}`,
    `--diagnostics-address=127.0.0.1:${diagnostics}`,
    "--insecure-diagnostics=true",
    "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
    ...(featureGates === undefined ? [] : [`--feature-gates=${featureGates}`]),
  ];
  const child = spawn(join(bin, MANAGERS[name].program), args, {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(join(logs, `${name}-manager.log`));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  return child;
}

export async function untilReady({ name, health }, logFile) {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await answers(health)) return;
    await sleep(100);
  }
  const tail = readFileSync(logFile, "utf8").slice(-3000);
  throw new Error(`the ${name} manager was not ready within a minute; the end of its log:\n${tail}`);
}

function answers(port) {
  return new Promise((resolve) => {
    const outgoing = request({ host: "127.0.0.1", port, path: "/readyz", timeout: 1000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.once("timeout", () => outgoing.destroy());
    outgoing.once("error", () => resolve(false));
    outgoing.end();
  });
}

/** The version the recordings come from. */
export function upstreamVersion() {
  return /sigs\.k8s\.io\/cluster-api (v\S+)/.exec(readFileSync(join(here, "go.mod"), "utf8"))?.[1] ?? "";
}
