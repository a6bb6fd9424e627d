import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CommandOptions, type CommandResult, mustRun, runCommand } from "../../real-kubernetes/index.ts";
import { killIfThere, NodeCgroups } from "./cgroups.ts";
import type { Image } from "./images.ts";
import { type Network, plugIn, unplug } from "./network.ts";
import { eventually } from "./timing.ts";

/** What a node is made of; Lab fills it in. */
export interface NodeSpec {
  /** Host name. */
  readonly name: string;
  /** Name that is unique on the machine, for the network namespace and the cgroups. */
  readonly uniqueName: string;
  /** Name of the network cable's end on the machine (at most 15 characters). */
  readonly cable: string;
  readonly owner: string;
  readonly address: string;
  readonly network: Network;
  /** Folder of the disk: what the node writes survives a power cycle. */
  readonly disk: string;
  /** Read-only layers below the disk, topmost first. */
  readonly layers: readonly string[];
}

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A machine in namespaces of its own with systemd as its first process: boots, runs commands, can lose power, keeps its disk. */
export class Node {
  readonly #spec: NodeSpec;
  readonly #cgroups: NodeCgroups;
  #outer: ChildProcess | undefined;
  #init: number | undefined;

  constructor(spec: NodeSpec) {
    this.#spec = spec;
    this.#cgroups = new NodeCgroups(spec.uniqueName);
  }

  /** Host name. */
  get name(): string {
    return this.#spec.name;
  }

  /** IPv4 address on the lab's network. */
  get address(): string {
    return this.#spec.address;
  }

  /** Whether it is powered on. */
  get isOn(): boolean {
    return this.#init !== undefined;
  }

  /** Puts a file on the disk before the node boots (or while it is off), e.g. a cloud-init seed. */
  writeFile(path: string, content: string | Uint8Array, mode = 0o644): void {
    if (this.#init !== undefined) throw new Error(`${this.name} is running: its disk cannot be changed from outside`);
    const file = join(this.#spec.disk, "upper", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode });
  }

  /** Powers the node on and waits until systemd has started everything; a unit that failed is an error unless allowed. */
  async start(options: { readonly allowFailedUnits?: boolean } = {}): Promise<void> {
    if (this.#outer !== undefined) throw new Error(`${this.name} is on already`);
    const { disk, network, uniqueName, cable, address, owner } = this.#spec;
    for (const folder of ["upper", "work", "root", "containerd", "kubelet", "etcd"])
      mkdirSync(join(disk, folder), { recursive: true });
    await plugIn(network, { namespace: uniqueName, cable, address, owner });
    this.#cgroups.create();
    const log = openSync(this.#consoleFile, "a");
    // With its starter the outer process dies (pdeathsig), and with the outer process the node (unshare --kill-child).
    const args = ["--pdeathsig", "KILL", "--", script("node-start.sh"), uniqueName, ...this.#cgroups.folders];
    const outer = spawn("setpriv", args, {
      stdio: ["ignore", log, log],
      detached: true,
      env: {
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        NODE_NAME: this.name,
        NODE_ADDRESS: address,
        NODE_NAMESERVER: network.gateway,
        NODE_DISK: disk,
        NODE_LAYERS: this.#spec.layers.join(":"),
        NODE_CGROUPS: this.#cgroups.mounts,
        NODE_MACHINE_ID: randomBytes(16).toString("hex"),
      },
    });
    closeSync(log);
    this.#outer = outer;
    try {
      this.#init = await eventually(`${this.name}: first process`, async () => firstProcess(outer), { interval: 20 });
      await this.#untilRunning(options.allowFailedUnits ?? false);
    } catch (error) {
      await this.powerOff();
      throw new Error(`${this.name} did not boot: ${String(error)}\n${this.console()}`);
    }
  }

  /** Runs a command in the node. */
  async exec(command: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    return runCommand(script("node-enter.sh"), [...this.#entry(), ...command], options);
  }

  /** Runs a command in the node and gives back its output; a non-zero exit code is an error with the command's own words. */
  async must(command: readonly string[], options: CommandOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.exec(command, options);
    if (code !== 0)
      throw new Error(
        `${this.name}: ${command.join(" ")}: exit code ${code}\n${stderr.trim()}\n${stdout.trim()}`.trim(),
      );
    return stdout;
  }

  /** Takes over the images of another node, both powered off: much faster than to import them again. */
  async copyImages(from: Node): Promise<void> {
    if (this.#init !== undefined || from.#init !== undefined)
      throw new Error(`${this.name}, ${from.name}: power both off`);
    mkdirSync(this.#spec.disk, { recursive: true });
    await mustRun("cp", ["--archive", "--reflink=auto", join(from.#spec.disk, "containerd"), this.#spec.disk]);
  }

  /** Puts images where the kubelet finds them, as if they had been pulled. */
  async importImages(images: readonly Image[]): Promise<void> {
    for (const { archive } of images) {
      const file = openSync(archive, "r");
      try {
        await this.#feed(["ctr", "--namespace", "k8s.io", "images", "import", "-"], file);
      } finally {
        closeSync(file);
      }
    }
  }

  /** The journal of one unit, for error messages. */
  async journal(unit: string, lines = 40): Promise<string> {
    const { stdout } = await this.exec(["journalctl", "--no-pager", "--lines", String(lines), "--unit", unit]);
    return stdout;
  }

  /** What the node's first process printed before systemd took over. */
  console(): string {
    return existsSync(this.#consoleFile) ? readFileSync(this.#consoleFile, "utf8") : "";
  }

  /** Pulls the plug: everything in the node dies at once, the disk stays; start() boots it again. */
  async powerOff(): Promise<void> {
    const outer = this.#outer;
    if (outer !== undefined && outer.exitCode === null && outer.signalCode === null) {
      const gone = new Promise((resolve) => outer.once("exit", resolve));
      // The outer process ends by itself once it has seen the node's last process go.
      if (this.#init === undefined) outer.kill("SIGKILL");
      else killIfThere(this.#init);
      await gone;
    }
    this.#outer = undefined;
    this.#init = undefined;
    await unplug(this.#spec.uniqueName, this.#spec.cable);
    // A leftover tree of pod cgroups would slow down the next boot's pods by many seconds.
    await this.#cgroups.remove();
  }

  /** Powers off and throws the disk away. */
  async remove(): Promise<void> {
    await this.powerOff();
    rmSync(this.#spec.disk, { recursive: true, force: true });
    rmSync(this.#consoleFile, { force: true });
  }

  get #consoleFile(): string {
    return `${this.#spec.disk}.console`;
  }

  #entry(): string[] {
    if (this.#init === undefined) throw new Error(`${this.name} is off`);
    return [String(this.#init), ...this.#cgroups.foldersOfProcess(this.#init), "--"];
  }

  #feed(command: readonly string[], input: number): Promise<void> {
    const child = spawn(script("node-enter.sh"), [...this.#entry(), ...command], { stdio: [input, "ignore", "pipe"] });
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${this.name}: ${command.join(" ")}: exit code ${code}\n${errors.trim()}`));
      });
    });
  }

  async #untilRunning(allowFailedUnits: boolean): Promise<void> {
    const state = await eventually(
      `${this.name}: systemd`,
      async () => {
        if (this.#outer?.exitCode !== null) throw new Error("the node's outer process has ended");
        const { stdout } = await this.exec(["systemctl", "is-system-running"], { timeout: 10_000 });
        return ["running", "degraded"].includes(stdout.trim()) && stdout.trim();
      },
      { timeout: 60_000 },
    );
    if (state === "degraded" && !allowFailedUnits)
      throw new Error((await this.exec(["systemctl", "--failed", "--no-pager"])).stdout);
  }
}

/** The child that is the first process of a process namespace of its own; on the way there the outer process has others. */
function firstProcess(outer: ChildProcess): number | undefined {
  if (outer.exitCode !== null || outer.signalCode !== null)
    throw new Error(`ended with ${outer.exitCode ?? outer.signalCode}`);
  const children = readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, "utf8").trim().split(" ");
  return children.filter(Boolean).map(Number).find(isFirstInNamespace);
}

function isFirstInNamespace(pid: number): boolean {
  try {
    return /^NSpid:\s+\d+\s+1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
