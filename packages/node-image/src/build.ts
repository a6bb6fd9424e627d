import { createHash } from "node:crypto";
import { access, chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { NodeImageError } from "./node-image-error.ts";
import { writeOciArchive } from "./oci-archive.ts";
import { makePodLayer } from "./pod-layer.ts";
import { run } from "./run.ts";
import { makeTree, TREE_INPUTS, type TreeOptions } from "./tree.ts";

/** What a node image is built from. */
export interface NodeImageOptions extends TreeOptions {
  /** Kubernetes version, such as v1.37.1. */
  readonly version: string;
  /** Folder with kubelet, kubeadm and kubectl of that version. */
  readonly programs: string;
  /** Archives of images that the node has before it can pull any. */
  readonly archives: readonly string[];
  /** File of the OCI archive. */
  readonly output: string;
  /** `capstan.dev/node:VERSION` by default. */
  readonly reference?: string | undefined;
  /** The one that kubeadm of that version names by default. */
  readonly sandboxImage?: string | undefined;
  /** An existing tree, or the folder in which trees are kept. */
  readonly tree: { readonly existing: string } | { readonly cache: string };
  readonly onProgress?: (what: string) => void;
}

/** Not part of a machine: what apt needs, and devices, which the container runtime makes. */
const EXCLUDED = [
  "./var/cache/*",
  "./var/lib/apt/lists/*",
  "./dev/*",
  "./etc/machine-id",
  "./etc/hostname",
  "./etc/resolv.conf",
];

/** Builds the image of machines that are pods, as an OCI archive. Returns its reference. */
export async function buildNodeImage(given: NodeImageOptions): Promise<string> {
  // A program of the current folder must not be looked for in PATH.
  const options = { ...given, programs: resolve(given.programs) };
  const { version, programs, onProgress = () => undefined } = options;
  await check(options);
  const output = resolve(options.output);
  const reference = options.reference ?? `capstan.dev/node:${version}`;
  const tree = "existing" in options.tree ? options.tree.existing : await cachedTree(options.tree.cache, options);
  await mkdir(dirname(output), { recursive: true });
  const layer = await mkdtemp(join(dirname(output), ".layer-"));
  try {
    // The root of the layer is the root of the machine.
    await chmod(layer, 0o755);
    onProgress("adding Kubernetes and images");
    const sandboxImage = options.sandboxImage ?? (await sandboxOf(programs, version));
    await makePodLayer(layer, { programs, sandboxImage, archives: options.archives });
    onProgress(`writing ${output}`);
    await writeOciArchive(output, {
      reference,
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      layers: [{ folder: tree, exclude: EXCLUDED }, { folder: layer }],
      config: {
        Entrypoint: ["/sbin/init"],
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "container=capstan"],
        // systemd takes SIGTERM for a request to re-execute itself.
        StopSignal: "SIGRTMIN+3",
        Labels: { "capstan.dev/kubernetes-version": version },
      },
    });
  } finally {
    await rm(layer, { recursive: true, force: true });
  }
  return reference;
}

async function check({ version, programs, archives }: NodeImageOptions): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new NodeImageError(
      "building a node image needs root: it makes a Debian file system",
      "run the same command with sudo",
    );
  for (const archive of archives)
    await access(archive).catch(() => {
      throw new NodeImageError(`${archive} does not exist`, "export images with: ctr images export FILE IMAGE");
    });
  const names = archives.map((archive) => basename(archive));
  for (const [index, name] of names.entries()) {
    if (!name.endsWith(".tar"))
      throw new NodeImageError(`${name} would not be imported: its name has to end with .tar`, "rename it");
    if (names.indexOf(name) !== index)
      throw new NodeImageError(
        `two archives are called ${name}`,
        "rename one of them: the image has them in one folder",
      );
  }
  for (const name of ["kubelet", "kubeadm", "kubectl"])
    await access(join(programs, name)).catch(() => {
      throw new NodeImageError(
        `${programs} does not contain ${name}`,
        "specify a directory that has kubelet, kubeadm and kubectl",
      );
    });
  const found = (await run(join(programs, "kubeadm"), ["version", "-o", "short"])).trim();
  if (found !== version)
    throw new NodeImageError(
      `kubeadm in ${programs} is ${found}, not ${version}`,
      `build the image of ${found}, or take other programs`,
    );
}

async function sandboxOf(programs: string, version: string): Promise<string> {
  const listed = await run(join(programs, "kubeadm"), ["config", "images", "list", "--kubernetes-version", version]);
  const line = listed.split("\n").find((each) => each.includes("/pause:"));
  if (line === undefined) throw new NodeImageError("kubeadm names no pause image", "name one with --sandbox-image");
  return line.trim();
}

/** The tree for these packages; made if it is not there. It appears whole or not at all. */
async function cachedTree(
  cache: string,
  { onProgress = () => undefined, ...options }: NodeImageOptions,
): Promise<string> {
  const key = createHash("sha256").update(JSON.stringify(TREE_INPUTS)).digest("hex").slice(0, 12);
  const folder = join(cache, `tree-${key}`);
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  await run("sh", ["-c", "command -v debootstrap"]).catch(() => {
    throw new NodeImageError("debootstrap is not installed", "on Debian and Ubuntu run: apt-get install debootstrap");
  });
  onProgress("making a Debian file system");
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(`${folder}.`);
  try {
    const made = join(temporary, "tree");
    await makeTree(made, options);
    await rename(made, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another run has finished the same one in the meantime.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
}
