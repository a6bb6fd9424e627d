import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import type { ProcessIdentity } from "@capstan/os";
import type { StartedQemu, VmProcesses } from "../runner/vm-processes.ts";

/** A QEMU in this process: it answers on its QMP socket, and does what a test wants. */
export class FakeQemu {
  readonly args: readonly string[];
  readonly identity: ProcessIdentity;
  /** The commands that it was given. */
  readonly commands: string[] = [];
  status = "running";
  agentListening = false;
  /** The agent accepts a shutdown, and then nothing. */
  agentAnswers = false;
  /** The guest reacts to its power button. */
  obeysPowerButton = true;
  readonly exited: Promise<number | undefined>;
  #exit: (code: number | undefined) => void = () => undefined;
  readonly #servers: Server[] = [];
  readonly #clients = new Set<Socket>();
  readonly #qmp = new Set<Socket>();
  readonly #sizes = new Map<string, number>();
  running = true;

  constructor(pid: number, args: readonly string[]) {
    this.args = args;
    this.identity = { pid, startTime: 1 };
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
    this.#serve("qmp", (client) => {
      this.#qmp.add(client);
      write(client, { QMP: { version: { qemu: { major: 7, minor: 2, micro: 0 } }, capabilities: [] } });
    });
    this.#serve("agent", () => undefined);
  }

  /** An option's value. */
  option(name: string): string | undefined {
    return this.args[this.args.indexOf(name) + 1];
  }

  event(event: string, data: object = {}): void {
    for (const client of this.#qmp) write(client, { event, data, timestamp: { seconds: 1, microseconds: 0 } });
  }

  /** The guest powers itself off. */
  powerOff(): void {
    this.event("SHUTDOWN", { guest: true, reason: "guest-shutdown" });
    this.exit(0);
  }

  exit(code: number | undefined): void {
    if (!this.running) return;
    this.running = false;
    for (const client of this.#clients) client.end();
    for (const server of this.#servers) server.close();
    // After its sockets, as with a real process.
    setImmediate(() => this.#exit(code));
  }

  #serve(chardev: string, connected: (client: Socket) => void): void {
    const path = this.args.find((arg) => arg.startsWith(`socket,id=${chardev},path=`));
    const file = /path=([^,]+)/.exec(path ?? "")?.[1] ?? "";
    const server = createServer((client) => {
      this.#clients.add(client);
      client.on("error", () => undefined);
      let rest = "";
      client.on("data", (chunk) => {
        const lines = `${rest}${chunk.toString("latin1")}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) this.#answer(chardev, JSON.parse(line.replace(/^\u00ff/, "")), client);
      });
      connected(client);
    });
    void rm(file, { force: true }).then(() => server.listen(file));
    this.#servers.push(server);
  }

  #answer(
    chardev: string,
    message: { execute: string; id: number; arguments?: Record<string, unknown> },
    client: Socket,
  ): void {
    this.commands.push(message.execute);
    if (chardev === "agent") {
      if (!this.agentAnswers) return;
      if (message.execute === "guest-sync-delimited")
        client.write(
          Buffer.concat([
            Buffer.from([0xff]),
            Buffer.from(`${JSON.stringify({ return: message.arguments?.["id"] })}\n`),
          ]),
        );
      return;
    }
    write(client, { return: this.#result(message.execute, message.arguments ?? {}), id: message.id });
    if (message.execute === "system_powerdown" && this.obeysPowerButton) this.powerOff();
    if (message.execute === "quit") this.exit(0);
    if (message.execute === "cont") this.status = "running";
  }

  #result(command: string, args: Record<string, unknown>): unknown {
    switch (command) {
      case "query-status":
        return { running: this.status === "running", status: this.status };
      case "query-chardev":
        return [{ label: "agent", "frontend-open": this.agentListening, filename: "" }];
      case "query-named-block-nodes":
        return [...this.#sizes].map(([name, bytes]) => ({ "node-name": name, image: { "virtual-size": bytes } }));
      case "block_resize":
        this.#sizes.set(String(args["node-name"]), Number(args["size"]));
        return {};
      default:
        return {};
    }
  }

  /** The size that the guest sees of a disk. */
  setDisk(node: string, bytes: number): void {
    this.#sizes.set(node, bytes);
  }

  disk(node: string): number | undefined {
    return this.#sizes.get(node);
  }
}

/** A host whose QEMUs are all fake. */
export class FakeProcesses implements VmProcesses {
  readonly started: FakeQemu[] = [];
  /** What a new one does before it answers. */
  prepare: (qemu: FakeQemu) => void = () => undefined;
  fails: Error | undefined;

  get last(): FakeQemu {
    const found = this.started.at(-1);
    if (found === undefined) throw new Error("no QEMU was started");
    return found;
  }

  start(command: { command: string; args: readonly string[] }): Promise<StartedQemu> {
    if (this.fails !== undefined) return Promise.reject(this.fails);
    const qemu = new FakeQemu(1000 + this.started.length, command.args);
    this.prepare(qemu);
    this.started.push(qemu);
    return Promise.resolve({ identity: qemu.identity, exited: qemu.exited });
  }

  find(uuid: string): Promise<ProcessIdentity | undefined> {
    return Promise.resolve(this.started.find((qemu) => qemu.running && qemu.option("-uuid") === uuid)?.identity);
  }

  isRunning({ pid }: ProcessIdentity): boolean {
    return this.started.some((qemu) => qemu.identity.pid === pid && qemu.running);
  }

  kill({ pid }: ProcessIdentity): void {
    this.started.find((qemu) => qemu.identity.pid === pid)?.exit(undefined);
  }

  /** Ends them all. */
  close(): void {
    for (const qemu of this.started) qemu.exit(undefined);
  }
}

function write(client: Socket, message: object): void {
  client.write(`${JSON.stringify(message)}\n`);
}
