import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { kubernetesBin, mustRun, runCommand } from "../../real-kubernetes/index.ts";
import { NodeCgroups } from "./cgroups.ts";
import { containerdConfig } from "./containerd-config.ts";
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
}

/**
 * A room full of real machines for one test run: a network of its own and nodes that plug into it. Everything a lab makes carries
 * its id, so runs can be parallel, and what an aborted run left is found and removed by the next one.
 */
export class Lab {
  readonly #record: RunRecord;
  readonly #network: Network;
  readonly #layers: readonly string[];
  readonly #nodes: Node[] = [];
  /** Images by name, for Node.importImages. */
  readonly images: Images;
  /** Folder with the real Kubernetes programs. */
  readonly bin: string;

  private constructor(record: RunRecord, network: Network, layers: readonly string[], images: Images, bin: string) {
    this.#record = record;
    this.#network = network;
    this.#layers = layers;
    this.images = images;
    this.bin = bin;
  }

  /** Removes what dead runs left, then makes the network; root file system and images are built if they are not there. */
  static async open(options: LabOptions = {}): Promise<Lab> {
    requireRoot();
    await sweep();
    const bin = options.bin ?? kubernetesBin();
    const rootfs = await ensureRootfs(options);
    // From the plain root file system, whatever else the nodes have installed.
    const images = await ensureImages(bin, await ensureRootfs());
    const record = writeRecord(`cap-${randomBytes(3).toString("hex")}`);
    try {
      const layer = machineLayer(join(runsDir(), record.id, "layer"), bin, images);
      const network = await createNetwork(record.id);
      return new Lab(record, network, [layer, rootfs], images, bin);
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

  /** A new machine, still off. */
  addNode(name: string): Node {
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
      layers: this.#layers,
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

/** The layer between the shared root file system and the disks: this Kubernetes version's programs and its sandbox image. */
function machineLayer(layer: string, bin: string, images: Images): string {
  rmSync(layer, { recursive: true, force: true });
  mkdirSync(join(layer, "usr/local/bin"), { recursive: true });
  for (const program of ["kubelet", "kubeadm", "kubectl"])
    linkOrCopy(join(bin, program), join(layer, "usr/local/bin", program));
  const config = join(layer, "etc/containerd/config.toml");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, containerdConfig(images.pause.reference));
  return layer;
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
