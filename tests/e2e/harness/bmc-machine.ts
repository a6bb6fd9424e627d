import { mustRun } from "../../real-kubernetes/index.ts";
import type { SystemState } from "./bmc.ts";
import type { Image } from "./images.ts";
import type { Node } from "./node.ts";
import { timed } from "./timing.ts";

/** Debian packages that a metal machine needs beyond those of every node. */
export const metalPackages = ["cloud-init"];

const SEED = "var/lib/cloud/seed/config_drive";
const FILES = ["meta_data.json", "user_data", "network_data.json"];
/** The lab has plugged the cable in and given the address; kubeadm alone decides about the rest. */
const CLOUD_CONFIG =
  "datasource_list: [ConfigDrive]\nnetwork: {config: disabled}\nmanage_etc_hosts: false\nlocale: false\n";

/** What a machine is beyond those of every lab. */
export interface Hardware {
  /** Files of the live image by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** What happens before cloud-init does anything. */
  readonly booted?: (node: Node) => Promise<void>;
}

/**
 * The machine behind an emulated management controller: a namespace host that powers on and off as the emulator says. It starts from
 * virtual media like any live system, with an empty disk each time, and runs Debian's cloud-init on the config drive.
 */
export class BmcMachine {
  readonly node: Node;
  readonly #images: readonly Image[];
  readonly #hardware: Hardware;
  #wanted: SystemState | undefined;
  #on = false;
  #working: Promise<void> | undefined;
  /** What the emulator said last. */
  state: SystemState | undefined;
  /** The instance of each config drive it ever booted with. */
  readonly instances: string[] = [];
  /** What went wrong while it booted. */
  readonly problems: string[] = [];

  constructor(node: Node, images: readonly Image[], hardware: Hardware = {}) {
    this.node = node;
    this.#images = images;
    this.#hardware = hardware;
  }

  /** Told by the emulator after every change. */
  changed(state: SystemState): void {
    this.#wanted = state;
    this.state = state;
    this.#working ??= this.#follow().finally(() => {
      this.#working = undefined;
    });
  }

  /** Whether it runs. */
  get on(): boolean {
    return this.#on;
  }

  /** Waits until it has carried out the last request. */
  async settled(): Promise<void> {
    await this.#working;
  }

  async #follow(): Promise<void> {
    for (let state = this.#wanted; state !== undefined; state = this.#wanted) {
      this.#wanted = undefined;
      const on = state.power_state === "On";
      if (on === this.#on) continue;
      this.#on = on;
      try {
        await timed(`${this.node.name} powers ${on ? "on" : "off"}`, () =>
          on ? this.#boot(state) : this.node.remove(),
        );
      } catch (error) {
        this.problems.push(String(error));
        console.log(String(error));
      }
    }
  }

  async #boot(state: SystemState): Promise<void> {
    const drives = Object.values(state.boot_image ?? {}).flatMap(([file, , inserted]) =>
      inserted && file !== null ? [file] : [],
    );
    await this.node.remove();
    this.node.writeFile("etc/cloud/cloud-init.disabled", "the harness starts it once images are there\n");
    this.node.writeFile("etc/cloud/cloud.cfg.d/99-lab.cfg", CLOUD_CONFIG);
    for (const [path, text] of Object.entries(this.#hardware.files ?? {})) this.node.writeFile(path, text);
    const config = await configDriveOf(drives);
    for (const [name, content] of config) this.node.writeFile(`${SEED}/openstack/latest/${name}`, content);
    await this.node.start();
    if (config.size === 0) return;
    this.instances.push((JSON.parse(config.get("meta_data.json") ?? "{}") as { name?: string }).name ?? "");
    await this.node.importImages(this.#images);
    await this.#hardware.booted?.(this.node);
    for (const stage of [["init", "--local"], ["init"], ["modules", "--mode=config"], ["modules", "--mode=final"]])
      await this.node.must(["cloud-init", ...stage], { timeout: 180_000 });
    const result = await this.node.must(["cat", "/run/cloud-init/result.json"]);
    console.log(`          cloud-init: ${result.replaceAll(/\s+/g, " ").trim()}`);
  }
}

/** The files of the first drive that has the label cloud-init looks for, read by another program. */
async function configDriveOf(drives: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const drive of drives) {
    const label = await mustRun("blkid", ["-o", "value", "-s", "LABEL", drive]).catch(() => "");
    if (label.trim() !== "config-2") continue;
    const listing = await mustRun("isoinfo", ["-R", "-f", "-i", drive]);
    for (const name of FILES) {
      const path = `/openstack/latest/${name}`;
      if (listing.split("\n").includes(path))
        found.set(name, await mustRun("isoinfo", ["-R", "-i", drive, "-x", path]));
    }
  }
  return found;
}
