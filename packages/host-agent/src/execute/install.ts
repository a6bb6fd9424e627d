import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { arch } from "node:os";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import { atMost, readText } from "@capstan/apimachinery/foreign";
import { syncDirectory } from "@capstan/os";
import type { Footprint } from "./footprint.ts";
import { type RunCommand, runCommand } from "./run-command.ts";
import type { Steps } from "./steps.ts";
import { writeCloudFile } from "./write-file.ts";

/** An installation plan: the content of key `plan` in an installation Secret. */
export interface InstallPlan {
  version: string;
  /** A folder on the host, or an http(s) mirror. */
  source: string;
  files?: { name: string; path: string; sha256: string; mode?: string; unpack?: boolean }[];
}

/** One file to be fetched, checked and put into place. */
interface Part {
  from: string;
  path: string;
  sha256: string | undefined;
  mode: number;
  unpack: boolean;
}

const PROGRAMS = ["kubeadm", "kubelet", "kubectl"];
const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };
const TIMEOUT_MS = 20 * 60_000;

const UNIT = `[Unit]
Description=kubelet: the Kubernetes node agent
Wants=network-online.target
After=network-online.target containerd.service

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
`;

/** What installing Kubernetes on a host needs. */
export interface InstallOptions {
  steps: Steps;
  footprint: Footprint;
  signal?: AbortSignal;
  root?: string;
  run?: RunCommand;
}

/** Installs Kubernetes on the host according to a plan; the footprint reverts it. Returns what failed and what to do. */
export async function installKubernetes(plan: InstallPlan, options: InstallOptions): Promise<string | undefined> {
  const { steps } = options;
  let parts: Part[] = [];
  const problem = await steps.action(`find Kubernetes ${plan.version} in ${plan.source}`, async () => {
    parts = await partsOf(plan, options.root ?? "", options.signal);
  });
  if (problem !== undefined) return problem;
  for (const part of parts) {
    const failed = await steps.action(`install ${part.path} from ${basename(part.from)}`, () =>
      installPart(part, options),
    );
    if (failed !== undefined) return failed;
  }
  return await ensureUnit(options);
}

async function partsOf(plan: InstallPlan, root: string, signal: AbortSignal | undefined): Promise<Part[]> {
  const source = plan.source.replace(/\/+$/, "").replace(/^file:\/\//, "");
  if (!/^(\/|https?:\/\/)/.test(source))
    throw new Error(`${plan.source} is neither a folder on the host nor an http(s) mirror: change bundleRepo`);
  if (plan.files !== undefined)
    return plan.files.map((file) => ({
      from: `${source}/${file.name}`,
      path: file.path,
      sha256: file.sha256,
      mode: Number.parseInt(file.mode ?? "755", 8),
      unpack: file.unpack === true,
    }));
  const versioned = `${source}/${plan.version}/bin/linux/${ARCHITECTURES[arch()] ?? arch()}`;
  const isMirror = /^https?:/.test(source);
  const folder = isMirror || (await exists(`${root}${versioned}`)) ? versioned : source;
  return await Promise.all(
    PROGRAMS.map(async (name) => {
      const from = `${folder}/${name}`;
      const sha256 = await checksumBeside(from, isMirror, root, signal);
      return { from, path: `/usr/local/bin/${name}`, sha256, mode: 0o755, unpack: false };
    }),
  );
}

/** A mirror must have checksums; a folder of the host's owner may. */
async function checksumBeside(
  from: string,
  isMirror: boolean,
  root: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const text = isMirror
    ? await readText(await download(`${from}.sha256`, signal), MAX_CHECKSUM, `${from}.sha256`)
    : await readFile(`${root}${from}.sha256`, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const sum = text.trim().split(/\s+/)[0] ?? "";
  if (!/^[0-9a-f]{64}$/.test(sum)) throw new Error(`${from}.sha256 is not a checksum`);
  return sum;
}

async function installPart(part: Part, options: InstallOptions): Promise<void> {
  const root = options.root ?? "";
  const target = `${root}${part.path}`;
  if (!part.unpack && part.sha256 !== undefined && (await checksumOf(target).catch(() => "")) === part.sha256) return;
  const folder = part.unpack ? part.path : dirname(part.path);
  await options.footprint.willMakeFolder(folder);
  if (!part.unpack) await options.footprint.willWrite(part.path);
  await mkdir(`${root}${folder}`, { recursive: true });
  const fetched = `${root}${folder}/.capstan-${basename(part.from)}`;
  try {
    const actual = await fetchInto(part.from, fetched, root, options.signal);
    if (part.sha256 !== undefined && actual !== part.sha256)
      throw new Error(
        `${part.from}: checksum ${actual} is not the expected ${part.sha256}: the file was changed in transit or at its source`,
      );
    if (part.unpack) await unpack(fetched, part, options);
    else {
      await chmod(fetched, part.mode);
      await rename(fetched, target);
      await syncDirectory(dirname(target));
    }
  } finally {
    await rm(fetched, { force: true });
  }
}

async function unpack(archive: string, part: Part, options: InstallOptions): Promise<void> {
  const run = (command: string[]): ReturnType<RunCommand> =>
    (options.run ?? runCommand)(command, { clock: options.steps.clock, timeoutMs: TIMEOUT_MS });
  const listed = await run(["tar", "-tzf", archive]);
  if (listed.exitCode !== 0) throw new Error(`${part.from} cannot be unpacked: ${listed.output.trim()}`);
  const names = listed.output.split("\n").filter((name) => name !== "" && !name.endsWith("/"));
  if (names.some((name) => name.startsWith("/") || name.split("/").includes("..")))
    throw new Error(`${part.from} contains files outside its folder`);
  for (const name of names) await options.footprint.willWrite(`${part.path}/${name.replace(/^\.\//, "")}`);
  const { exitCode, output } = await run(["tar", "-xzf", archive, "-C", `${options.root ?? ""}${part.path}`]);
  if (exitCode !== 0) throw new Error(`${part.from} cannot be unpacked: ${output.trim()}`);
}

const MAX_CHECKSUM = 1024 * 1024;
/** Larger than any bundle of Kubernetes, and small enough not to fill the disk of a host. */
const MAX_FILE = 8 * 1024 ** 3;

/** Copies or downloads a file; returns its checksum. */
async function fetchInto(from: string, to: string, root: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(to, "w", 0o600);
  try {
    const body = /^https?:/.test(from) ? await download(from, signal) : await read(`${root}${from}`);
    for await (const chunk of atMost(body, MAX_FILE, from)) {
      hash.update(chunk);
      await file.write(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

async function download(url: string, signal: AbortSignal | undefined): Promise<AsyncIterable<Uint8Array>> {
  return ((await get(url, signal)).body ?? Readable.from([])) as AsyncIterable<Uint8Array>;
}

/** A file that cannot be opened fails here: the error of a stream that nobody reads yet would end the agent. */
async function read(path: string): Promise<AsyncIterable<Uint8Array>> {
  return (await open(path)).createReadStream() as AsyncIterable<Uint8Array>;
}

async function get(url: string, signal: AbortSignal | undefined): Promise<Response> {
  const response = await fetch(url, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`${url} cannot be reached: ${cause}: check the mirror and the host's connection to it`);
  });
  if (response.ok) return response;
  throw new Error(`${url} answered ${response.status}: check bundleRepo and the version`);
}

async function checksumOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

/** systemd needs a unit for a kubelet that was installed without a package. */
async function ensureUnit({
  steps,
  footprint,
  root = "",
  run = runCommand,
}: InstallOptions): Promise<string | undefined> {
  const places = [
    "/etc/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/usr/local/lib/systemd/system",
  ];
  const there = await Promise.all(places.map((folder) => exists(`${root}${folder}/kubelet.service`)));
  if (there.includes(true) || !(await exists(`${root}/run/systemd/system`))) return undefined;
  const path = "/etc/systemd/system/kubelet.service";
  const problem = await steps.action(`write ${path}`, async () => {
    await footprint.willWrite(path);
    const content = Buffer.from(UNIT);
    await writeCloudFile({ path, content, owner: "root:root", permissions: "0644", append: false }, root);
  });
  return (
    problem ??
    (await steps.command("systemctl daemon-reload", ["systemctl", "daemon-reload"], { run, timeoutMs: 60_000 }))
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
