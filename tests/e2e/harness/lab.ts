import { createHash, randomBytes } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { containerdConfig, KUBEADM_FILES, REAL_KUBEADM } from "@capstan/node-image";
import { kubernetesBin, mustRun, runCommand } from "../../real-kubernetes/index.ts";
import { NodeCgroups } from "./cgroups.ts";
import { requireRoot } from "./host.ts";
import { ensureImages, type Images } from "./images.ts";
import { createNetwork, linksOf, type Network, namespacesOf } from "./network.ts";
import { Node } from "./node.ts";
import { ensureRootfs, type RootfsOptions } from "./rootfs.ts";
import { eraseRecord, isAlive, type RunRecord, readRecords, runsDir, writeRecord } from "./run-record.ts";
import { timed } from "./timing.ts";

/** What the nodes of a lab are to be; everything has a default. */
export interface LabOptions extends RootfsOptions {
  /** Folder with kubelet, kubeadm and kubectl for the nodes; the one of `npm run kubernetes` by default. */
  readonly bin?: string;
  /** Kubernetes versions that the nodes have below /opt/kubernetes, as a mirror has them, to be installed from there; none is installed then. */
  readonly installable?: readonly string[];
}

/** What nodes of one Kubernetes version are made of. */
export interface Release {
  /** Images by name, for Node.importImages. */
  readonly images: Images;
  /** Read-only layers below the disk, topmost first. */
  readonly layers: readonly string[];
}

/**
 * A room full of real machines for one test run: a network of its own and nodes that plug into it. Everything a lab makes carries
 * its id, so runs can be parallel, and what an aborted run left is found and removed by the next one.
 */
export class Lab {
  readonly #record: RunRecord;
  readonly #network: Network;
  readonly #rootfs: string;
  readonly #release: Release;
  readonly #nodes: Node[] = [];
  /** Folder with the real Kubernetes programs. */
  readonly bin: string;

  private constructor(record: RunRecord, network: Network, rootfs: string, release: Release, bin: string) {
    this.#record = record;
    this.#network = network;
    this.#rootfs = rootfs;
    this.#release = release;
    this.bin = bin;
  }

  /** Removes what dead runs left, then makes the network; root file system and images are built if they are not there. */
  static async open(options: LabOptions = {}): Promise<Lab> {
    requireRoot();
    await sweep();
    const bin = options.bin ?? kubernetesBin();
    const rootfs = await ensureRootfs(options);
    const record = writeRecord(`cap-${randomBytes(3).toString("hex")}`);
    try {
      const release = await prepare(join(runsDir(), record.id, "layer"), bin, rootfs, options.installable);
      const network = await createNetwork(record.id);
      return new Lab(record, network, rootfs, release, bin);
    } catch (error) {
      await cleanUp(record);
      throw error;
    }
  }

  /** The lab's id: part of the name of everything it makes. */
  get id(): string {
    return this.#record.id;
  }

  /** The machine's own address on the lab's network: where a hosted control plane can be reached by nodes. */
  get gateway(): string {
    return this.#network.gateway;
  }

  /** A folder for files of this run; goes away with the lab. */
  get dir(): string {
    return join(runsDir(), this.id);
  }

  /** Images by name, for Node.importImages. */
  get images(): Images {
    return this.#release.images;
  }

  /** Prepares nodes of another Kubernetes version, for addNode. */
  async release(bin: string): Promise<Release> {
    return await prepare(
      join(this.dir, `layer-${createHash("sha256").update(bin).digest("hex").slice(0, 8)}`),
      bin,
      this.#rootfs,
    );
  }

  /** A new machine, still off. */
  addNode(name: string, { layers }: Release = this.#release): Node {
    const index = this.#nodes.length;
    if (index > 200) throw new Error("a lab has room for 200 nodes");
    const node = new Node({
      name,
      uniqueName: `${this.id}-${name}`,
      cable: `capv${this.#network.number}-${index}`,
      owner: this.id,
      address: `10.89.${this.#network.number}.${index + 20}`,
      network: this.#network,
      disk: join(this.dir, "nodes", name),
      layers,
    });
    this.#nodes.push(node);
    return node;
  }

  /** A new machine that has booted. */
  async startNode(name: string): Promise<Node> {
    const node = this.addNode(name);
    await timed(`${name} boots (${node.address})`, () => node.start());
    return node;
  }

  /** Removes everything the lab has made. */
  async close(): Promise<void> {
    await timed("lab is taken down", async () => {
      await Promise.all(this.#nodes.map((node) => node.remove()));
      await cleanUp(this.#record);
    });
  }
}

/** Everything on the machine that still carries a run's id: processes, cgroups, network, mounts, files. Empty after close(). */
export async function leftovers(id: string): Promise<string[]> {
  const cgroups = await mustRun("find", ["/sys/fs/cgroup", "-type", "d", "-name", `${id}-*`]);
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(id));
  const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(id));
  return [
    ...cgroups.split("\n").filter(Boolean),
    ...mounts.map((line) => `mount ${line}`),
    ...processes.map((pid) => `process ${pid} ${commandLine(pid)}`),
    ...(await linksOf(id)).map((name) => `link ${name}`),
    ...(await namespacesOf(`${id}-`)).map((name) => `netns ${name}`),
    ...(existsSync(join(runsDir(), id)) ? [join(runsDir(), id)] : []),
  ];
}

/** Removes what runs have left whose process is gone. */
export async function sweep(): Promise<void> {
  for (const record of readRecords().filter((each) => !isAlive(each)))
    await timed(`removing what the aborted run ${record.id} left`, () => cleanUp(record));
}

async function cleanUp(record: RunRecord): Promise<void> {
  const disks = join(runsDir(), record.id, "nodes");
  const names = existsSync(disks) ? readdirSync(disks).filter((name) => !name.endsWith(".console")) : [];
  const cgroups = names.map((name) => new NodeCgroups(`${record.id}-${name}`));
  for (const each of cgroups) each.killProcesses();
  for (const name of await namespacesOf(`${record.id}-`)) await runCommand("ip", ["netns", "del", name]);
  for (const link of await linksOf(record.id)) await runCommand("ip", ["link", "del", link]);
  for (const each of cgroups) await each.remove();
  eraseRecord(record);
}

async function prepare(
  layer: string,
  bin: string,
  rootfs: string,
  installable: readonly string[] = [],
): Promise<Release> {
  // From the plain root file system, whatever else the nodes have installed.
  const images = await ensureImages(bin, await ensureRootfs());
  return { images, layers: [machineLayer(layer, bin, images, installable), rootfs] };
}

/** The layer between the shared root file system and the disks: this Kubernetes version's programs and its sandbox image. */
function machineLayer(layer: string, bin: string, images: Images, installable: readonly string[]): string {
  rmSync(layer, { recursive: true, force: true });
  const programs = (from: string, folder: string): void => {
    mkdirSync(join(layer, folder), { recursive: true });
    for (const program of ["kubelet", "kubeadm", "kubectl"])
      linkOrCopy(join(from, program), join(layer, folder, program));
  };
  for (const version of installable)
    programs(
      kubernetesBin(version),
      `opt/kubernetes/${version}/bin/linux/${process.arch === "x64" ? "amd64" : process.arch}`,
    );
  if (installable.length === 0) programs(bin, "usr/local/bin");
  if (installable.length === 0 && !existsSync("/sys/fs/cgroup/cgroup.controllers")) suitKubeadm(layer);
  const config = join(layer, "etc/containerd/config.toml");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, containerdConfig(images.pause.reference));
  return layer;
}

/** What a user would set in a KubeadmConfig for machines in namespaces, all of them have, so that manifests need not. */
function suitKubeadm(layer: string): void {
  mkdirSync(dirname(join(layer, REAL_KUBEADM)), { recursive: true });
  renameSync(join(layer, "usr/local/bin/kubeadm"), join(layer, REAL_KUBEADM));
  for (const [path, text] of Object.entries(KUBEADM_FILES)) writeFileSync(join(layer, path), text, { mode: 0o755 });
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target);
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}
