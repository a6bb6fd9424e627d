import { isObject } from "@capstan/apimachinery";
import type { Qmp } from "./qmp.ts";
import { VmSocketError } from "./vm-socket-error.ts";

/** The commands of QEMU that a machine needs, with their answers checked. */
export class VmControl {
  readonly #qmp: Pick<Qmp, "execute">;

  constructor(qmp: Pick<Qmp, "execute">) {
    this.#qmp = qmp;
  }

  /** Such as `running`, `paused`, `guest-panicked`, `io-error` or `internal-error`. */
  async status(): Promise<{ running: boolean; status: string }> {
    const answer = await this.#qmp.execute("query-status");
    if (!isObject(answer) || typeof answer["running"] !== "boolean" || typeof answer["status"] !== "string")
      throw unexpected("query-status");
    return { running: answer["running"], status: answer["status"] };
  }

  /** Whether the agent in the guest listens; later changes are events. */
  async agentListening(): Promise<boolean> {
    const answer = await this.#qmp.execute("query-chardev");
    if (!Array.isArray(answer)) throw unexpected("query-chardev");
    return answer.some((item) => isObject(item) && item["label"] === "agent" && item["frontend-open"] === true);
  }

  /** Presses the power button. The guest decides what follows: wait for the event "shutdown". */
  async powerDown(): Promise<void> {
    await this.#qmp.execute("system_powerdown");
  }

  /** Presses the reset button. A machine that stopped after a panic then has to be resumed. */
  async reset(): Promise<void> {
    await this.#qmp.execute("system_reset");
  }

  async pause(): Promise<void> {
    await this.#qmp.execute("stop");
  }

  async resume(): Promise<void> {
    await this.#qmp.execute("cont");
  }

  /** Ends QEMU at once: a power cut for the guest. */
  async quit(): Promise<void> {
    await this.#qmp.execute("quit");
  }

  /** The disks by the place in the spec, with the size that the guest sees. */
  async diskBytes(): Promise<Map<string, number>> {
    const answer = await this.#qmp.execute("query-named-block-nodes", { flat: true });
    if (!Array.isArray(answer)) throw unexpected("query-named-block-nodes");
    const sizes = new Map<string, number>();
    for (const node of answer) {
      const [name, image] = isObject(node) ? [node["node-name"], node["image"]] : [];
      if (typeof name !== "string" || !isObject(image) || !Number.isSafeInteger(image["virtual-size"]))
        throw unexpected("query-named-block-nodes");
      if (/^disk\d+$/.test(name)) sizes.set(name, Number(image["virtual-size"]));
    }
    return sizes;
  }

  /** Grows a disk of the running machine; the guest sees it at once. `node` is a key of `diskBytes`. */
  async growDisk(node: string, bytes: number): Promise<void> {
    const now = (await this.diskBytes()).get(node);
    if (now === undefined) throw new Error(`the machine has no disk ${node}`);
    // QEMU would shrink it, and cut off what the guest has written there.
    if (bytes < now) throw new Error(`disk ${node} has ${now} bytes and cannot shrink to ${bytes}`);
    if (bytes > now) await this.#qmp.execute("block_resize", { "node-name": node, size: bytes });
  }

  /** Asks the guest to give memory back until it has `bytes`; it does so as far as it can. */
  async setMemory(bytes: number): Promise<void> {
    await this.#qmp.execute("balloon", { value: bytes });
  }

  /** The memory that the guest has, without what it gave back. */
  async memoryBytes(): Promise<number> {
    const answer = await this.#qmp.execute("query-balloon");
    if (!isObject(answer) || typeof answer["actual"] !== "number") throw unexpected("query-balloon");
    return answer["actual"];
  }
}

function unexpected(command: string): VmSocketError {
  return new VmSocketError("protocol", `QEMU's answer to ${command} does not have the expected fields`);
}
