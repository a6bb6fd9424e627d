/**
 * Runs the in-memory infrastructure provider of upstream's `test` module as a plain process with a real kube-apiserver and
 * upstream's managers: machines, workload clusters and etcd members that exist in its memory only.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "@capstan/tests/real-kubernetes";
import { parseAllDocuments } from "yaml";
import { pointHome, run, untilReady } from "../start-upstream.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const MODULE = "sigs.k8s.io/cluster-api/test";
const PACKAGE = `${MODULE}/infrastructure/docker`;

/** The version of the provider. */
function version() {
  return new RegExp(`${MODULE} (v\\S+)`).exec(readFileSync(join(here, "go.mod"), "utf8"))?.[1] ?? "";
}

/** Builds the program, which Go's own cache makes quick but for the first time (2 CPU minutes). */
function build() {
  const cache = run(process.execPath, [join(here, "../build.mjs"), "--print"]).trim();
  const program = join(cache, `in-memory-manager-${version()}`);
  mkdirSync(cache, { recursive: true });
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w"];
  const { status } = spawnSync("go", ["build", ...flags, "-o", program, PACKAGE], {
    cwd: here,
    stdio: "inherit",
    env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" },
  });
  if (status !== 0) throw new Error("building the in-memory provider failed (Go 1.26 or newer must be on the PATH)");
  return program;
}

/** @param {import("@capstan/tests/real-kubernetes").RealKubernetes} kubernetes */
export async function startInMemoryProvider(kubernetes) {
  const program = build();
  const source = run("go", ["list", "-f", "{{.Dir}}", PACKAGE], { cwd: here }).trim();
  const [webhook, health, diagnostics] = await freePorts(3);
  await apply(kubernetes, join(source, "config/default"), webhook);
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
    "--feature-gates=ClusterTopology=true",
  ];
  // The address of its workload clusters; its ports begin at 20000.
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, POD_IP: "127.0.0.1" },
  });
  const logFile = join(kubernetes.dir, "log", "in-memory.log");
  const log = createWriteStream(logFile);
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await untilReady({ name: "in-memory", health }, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop, pid: child.pid };
}

async function apply(kubernetes, folder, port) {
  const { stdout, stderr, code } = await kubernetes.kubectl("kustomize", folder);
  if (code !== 0) throw new Error(stderr);
  const caBundle = Buffer.from(kubernetes.caPem).toString("base64");
  const objects = parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((object) => object?.kind === "CustomResourceDefinition" || object?.kind.endsWith("WebhookConfiguration"))
    .map((object) => JSON.stringify(pointHome(object, port, caBundle)));
  const applied = await kubernetes.kubectlWithInput(objects.join("\n---\n"), "apply", "--server-side", "-f", "-");
  if (applied.code !== 0) throw new Error(applied.stderr);
}
