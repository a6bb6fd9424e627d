/**
 * Runs upstream's in-cluster IPAM provider as a plain process with a real kube-apiserver and upstream's core manager, built from
 * the Go module that `go.mod` pins. Its webhooks and conversions are pointed to 127.0.0.1.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "@capstan/tests/real-kubernetes";
import { parseAllDocuments } from "yaml";
import { pointHome, run, untilReady } from "../start-upstream.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const MODULE = "sigs.k8s.io/cluster-api-ipam-provider-in-cluster";

/** The version the recordings come from. */
export function ipamVersion() {
  return new RegExp(`${MODULE} (v\\S+)`).exec(readFileSync(join(here, "go.mod"), "utf8"))?.[1] ?? "";
}

/** Builds the program, which Go's own cache makes quick but for the first time (3 CPU minutes). */
function build() {
  const cache = run(process.execPath, [join(here, "../build.mjs"), "--print"]).trim();
  const program = join(cache, `ipam-in-cluster-manager-${ipamVersion()}`);
  mkdirSync(cache, { recursive: true });
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w"];
  const { status } = spawnSync("go", ["build", ...flags, "-o", program, MODULE], {
    cwd: here,
    stdio: "inherit",
    env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" },
  });
  if (status !== 0) throw new Error("building the in-cluster IPAM provider failed (it needs Go 1.26.2 or newer)");
  return program;
}

/** @param {import("@capstan/tests/real-kubernetes").RealKubernetes} kubernetes */
export async function startIpamProvider(kubernetes) {
  const program = build();
  const source = run("go", ["list", "-m", "-f", "{{.Dir}}", MODULE], { cwd: here }).trim();
  const [webhook, health, diagnostics] = await freePorts(3);
  for (const part of ["crd", "webhook"]) await apply(kubernetes, join(source, "config", part), webhook);
  const args = [
    `--kubeconfig=${kubernetes.kubeconfigFile}`,
    `--webhook-port=${webhook}`,
    `--webhook-cert-dir=${kubernetes.pkiDir}`,
    "--webhook-cert-name=apiserver.crt",
    "--webhook-key-name=apiserver.key",
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--diagnostics-address=127.0.0.1:${diagnostics}`,
    "--insecure-diagnostics=true",
  ];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const logFile = join(kubernetes.dir, "log", "ipam-in-cluster.log");
  const log = createWriteStream(logFile);
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await untilReady({ name: "in-cluster IPAM", health }, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function apply(kubernetes, folder, port) {
  const { stdout, stderr, code } = await kubernetes.kubectl("kustomize", folder);
  if (code !== 0) throw new Error(stderr);
  const caBundle = Buffer.from(kubernetes.caPem).toString("base64");
  const objects = parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter(({ kind }) => kind === "CustomResourceDefinition" || kind.endsWith("WebhookConfiguration"))
    .map((object) => JSON.stringify(pointHome(object, port, caBundle)));
  const applied = await kubernetes.kubectlWithInput(objects.join("\n---\n"), "apply", "--server-side", "-f", "-");
  if (applied.code !== 0) throw new Error(applied.stderr);
}
