#!/usr/bin/env node
/**
 * Records conversations with the real programs, after `npm run build`: `node packages/vm/testdata/record.mjs QEMU_GA`, where QEMU_GA is
 * a qemu-ga of Debian's package qemu-guest-agent (it is run here, not in a guest, in a network namespace of its own). Needs
 * qemu-system-x86_64, unshare and ip, and root for the namespace.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { GuestAgent, Qmp, qemuArgs, VmControl, vmPaths } from "@capstan/vm";
import { BOOT_SECTOR, talkToAgent, talkToQemu } from "./conversations.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "capstan-vm-record-"));
const paths = vmPaths(directory);

/** Passes a conversation on between one client and the socket of a program. @param {string} from @param {string} to @param {string[]} lines */
async function proxy(from, to, lines) {
  const server = createServer((client) => {
    const program = connect(to);
    for (const [way, source, target] of /** @type {const} */ ([
      ["sent", client, program],
      ["received", program, client],
    ])) {
      let rest = "";
      source.on("data", (chunk) => {
        target.write(chunk);
        const parts = `${rest}${chunk.toString("latin1")}`.split("\n");
        rest = parts.pop() ?? "";
        for (const part of parts) lines.push(JSON.stringify({ [way]: part.replaceAll(directory, "/vms/a") }));
      });
      source.on("close", () => target.destroy());
      // QEMU resets the connection when it exits.
      source.on("error", () => undefined);
    }
  });
  server.listen(from);
  await once(server, "listening");
  return server;
}

/** @param {string} path */
async function exists(path) {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** @param {string} name @param {string[]} lines @param {unknown} seen */
function save(name, lines, seen) {
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join("\n")}\n`);
  console.log(name, JSON.stringify(seen, null, 1));
}

async function recordQmp() {
  writeFileSync(join(directory, "disk.img"), Buffer.concat([BOOT_SECTOR, Buffer.alloc(1024 ** 2 - 512)]));
  const args = qemuArgs({
    name: "recorded",
    uuid: "8d0d3c3e-5d0b-4c39-9d57-0c7cf5a4b3a1",
    directory,
    cpus: 1,
    memory: { mib: 128, balloon: true },
    accelerator: { type: "tcg" },
    boot: { type: "disk", firmware: "bios" },
    disks: [{ name: "root", file: join(directory, "disk.img"), format: "raw", cache: "writeback" }],
    networks: [],
  });
  const qemu = spawn("qemu-system-x86_64", [...args, "-S"], { stdio: ["ignore", "inherit", "inherit"] });
  await exists(paths.qmp);
  const lines = [];
  const server = await proxy(join(directory, "proxy"), paths.qmp, lines);
  const events = [];
  let arrived = () => {};
  const onEvent = (event) => {
    events.push(event);
    arrived();
  };
  const next = async (type) => {
    for (;;) {
      const at = events.findIndex((event) => event.type === type);
      if (at >= 0) return events.splice(at, 1)[0];
      await new Promise((resolve) => {
        arrived = () => resolve(undefined);
      });
    }
  };
  const ended = once(qemu, "exit");
  const qmp = new Qmp({ path: join(directory, "proxy"), clock: systemClock, onEvent });
  const alive = setInterval(() => {}, 1000);
  const seen = await talkToQemu(qmp, new VmControl(qmp), next);
  await ended;
  clearInterval(alive);
  qmp.close();
  server.close();
  save("qmp", lines, seen);
}

/** @param {string} program */
async function recordAgent(program) {
  const script =
    'ip link add eth0 address 52:54:00:00:00:07 type veth peer name eth1 && ip link set eth1 addrgenmode none && ip link set eth0 addrgenmode none && ip addr add 192.0.2.7/24 dev eth0 && ip link set eth0 up && exec "$@"';
  const socket = join(directory, "ga");
  const args = ["--net", "sh", "-ec", script, "sh", program, "-m", "unix-listen", "-p", socket, "-t", directory];
  const agent = spawn("unshare", args, { stdio: ["ignore", "inherit", "inherit"] });
  await exists(socket);
  const lines = [];
  const server = await proxy(join(directory, "ga-proxy"), socket, lines);
  const client = new GuestAgent({ path: join(directory, "ga-proxy"), clock: systemClock, random: seededRandom(1) });
  const alive = setInterval(() => {}, 1000);
  const seen = await talkToAgent(client);
  clearInterval(alive);
  client.close();
  agent.kill();
  server.close();
  save("guest-agent", lines, seen);
}

await recordQmp();
await recordAgent(process.argv[2] ?? "qemu-ga");
rmSync(directory, { recursive: true });
