import type { Socket } from "node:net";
import { settle, VirtualClock } from "@capstan/apimachinery";
import { afterEach, describe, expect, test } from "vitest";
import { talkToQemu } from "../../testdata/conversations.mjs";
import { replay, SocketServer, type Talk } from "../testing/socket-server.ts";
import { Qmp, type QmpOptions, type QmpState } from "./qmp.ts";
import type { QmpEvent } from "./qmp-events.ts";
import { VmControl } from "./vm-control.ts";

const GREETING = { QMP: { version: { qemu: { major: 9, minor: 1, micro: 0 } }, capabilities: ["oob"] } };
const write = (client: Socket, message: object): void => void client.write(`${JSON.stringify(message)}\n`);

/** Greets and negotiates; `command` answers the rest. */
function qemu(command?: (message: { execute: string; id: number }, client: Socket) => void): Talk {
  return {
    connected: (client) => write(client, GREETING),
    line: (line, client) => {
      const message = JSON.parse(line);
      if (message.execute === "qmp_capabilities") write(client, { return: {}, id: message.id });
      else command?.(message, client);
    },
  };
}

let server: SocketServer;
let qmp: Qmp;
let clock: VirtualClock;
let states: string[];
let events: QmpEvent[];
let changed: () => void;

async function open(talk?: Talk, more: Partial<QmpOptions> = {}): Promise<void> {
  server = await SocketServer.create(talk);
  clock = new VirtualClock();
  states = [];
  events = [];
  changed = () => undefined;
  const onState = (state: QmpState): void => {
    states.push(state.connected ? "connected" : (state.problem?.problem ?? "unknown"));
    changed();
  };
  const onEvent = (event: QmpEvent): void => {
    events.push(event);
    changed();
  };
  qmp = new Qmp({ path: server.path, clock, onEvent, onState, ...more });
}

/** Waits until something that the other side does has arrived. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition())
    await new Promise<void>((resolve) => {
      changed = resolve;
    });
}

async function nextEvent(type: QmpEvent["type"]): Promise<QmpEvent> {
  await until(() => events.some((event) => event.type === type));
  const [found] = events.splice(
    events.findIndex((event) => event.type === type),
    1,
  );
  if (found === undefined) throw new Error(`no event ${type}`);
  return found;
}

afterEach(async () => {
  qmp.close();
  await server.close();
});

test("says and understands what a real QEMU did", async () => {
  const { talk, unexpected } = replay(new URL("../../testdata/qmp.jsonl", import.meta.url));
  await open(talk);
  const seen = await talkToQemu(qmp, new VmControl(qmp), nextEvent);
  expect(unexpected).toEqual([]);
  expect(
    seen.map((item) => (typeof item === "object" && item !== null && "atMs" in item ? { ...item, atMs: 0 } : item)),
  ).toEqual([
    { running: false, status: "prelaunch" },
    { atMs: 0, type: "resumed" },
    { atMs: 0, type: "guestPanicked" },
    { atMs: 0, type: "stopped" },
    { running: false, status: "guest-panicked" },
    { atMs: 0, type: "reset", byGuest: false },
    { atMs: 0, type: "guestPanicked" },
    [["disk0", 1048576]],
    [["disk0", 2097152]],
    "disk disk0 has 2097152 bytes and cannot shrink to 1024",
    134217728,
    [
      "refused",
      "CommandNotFound",
      `QMP socket ${server.path}: capstan-nonsense: The command capstan-nonsense has not been found`,
    ],
    { atMs: 0, type: "powerDownRequested" },
    { atMs: 0, type: "shutdown", byGuest: false, reason: "host-qmp-quit" },
  ]);
});

describe("connects", () => {
  test("when QEMU starts to listen, and reports its version", async () => {
    await open();
    await until(() => states.length > 0);
    expect(states).toEqual(["absent"]);
    const status = qmp.execute("query-status");
    await server.listen(qemu(({ id }, client) => write(client, { return: "ok", id })));
    await clock.advance(100);
    expect(await status).toBe("ok");
    expect(qmp.state).toEqual({ connected: true, qemuVersion: "9.1.0" });
  });

  test("again after a loss, later each time, and repeats no command", async () => {
    const commands: string[] = [];
    await open(
      qemu(({ execute }) => {
        commands.push(execute);
        server.disconnect();
      }),
    );
    await expect(qmp.execute("quit")).rejects.toMatchObject({ problem: "disconnected" });
    await clock.advance(100);
    await until(() => states.length === 3);
    expect(states).toEqual(["connected", "disconnected", "connected"]);
    expect(commands).toEqual(["quit"]);
  });

  test("soon after a loss, however long QEMU was absent before", async () => {
    await open();
    await until(() => states.length === 1);
    await clock.advance(100);
    await until(() => states.length === 2);
    await server.listen(qemu());
    await clock.advance(200);
    await until(() => states.length === 3);
    server.disconnect();
    await until(() => states.length === 4);
    await clock.advance(100);
    await until(() => states.length === 5);
    expect(states).toEqual(["absent", "absent", "connected", "disconnected", "connected"]);
  });

  test("less and less often while QEMU is absent", async () => {
    await open();
    await until(() => states.length === 1);
    for (const [ms, count] of [
      [100, 2],
      [200, 3],
      [400, 4],
    ] as const) {
      await clock.advance(ms - 1);
      expect(states).toHaveLength(count - 1);
      await clock.advance(1);
      await until(() => states.length === count);
    }
    await clock.advance(60_000);
    await until(() => states.length > 4);
    expect(clock.nextTimer()).toBeLessThanOrEqual(clock.now() + 5000);
  });

  test("to a socket that another client holds: the problem is named, for commands too", async () => {
    await open({});
    const status = qmp.execute("query-status", undefined, 8000);
    const refused = expect(status).rejects.toMatchObject({ problem: "busy" });
    await clock.advance(5000);
    expect(states).toEqual(["busy"]);
    expect(qmp.state).toMatchObject({
      problem: { message: expect.stringContaining("another client holds the socket") },
    });
    await clock.advance(3000);
    await refused;
  });
});

describe("a command", () => {
  test("that does not complete in time fails, and its late answer is not taken for another", async () => {
    let late = (): void => undefined;
    await open(
      qemu(({ execute, id }, client) => {
        if (execute === "slow") late = () => write(client, { return: "late", id });
        else {
          late();
          write(client, { return: "mine", id });
        }
      }),
    );
    const slow = expect(qmp.execute("slow", undefined, 1000)).rejects.toMatchObject({ problem: "timeout" });
    await until(() => states.length === 1);
    await clock.advance(1000);
    await slow;
    expect(await qmp.execute("fast")).toBe("mine");
  });

  test("answered out of order gets its own answer", async () => {
    const answers: (() => void)[] = [];
    await open(
      qemu(({ execute, id }, client) => {
        answers.unshift(() => write(client, { return: execute, id }));
        if (answers.length === 2) for (const answer of answers) answer();
      }),
    );
    expect(await Promise.all([qmp.execute("a"), qmp.execute("b")])).toEqual(["a", "b"]);
  });

  test("fails once the client is closed", async () => {
    await open(qemu());
    const waiting = expect(qmp.execute("a")).rejects.toMatchObject({ problem: "closed" });
    await until(() => states.includes("connected"));
    await settle();
    qmp.close();
    await waiting;
    await expect(qmp.execute("b")).rejects.toMatchObject({ problem: "closed" });
    expect(clock.nextTimer()).toBeUndefined();
  });
});

describe("ends the connection when QEMU sends", () => {
  const answering = (text: string): Talk => qemu((_message, client) => client.write(text));

  test.each<[string, string, Talk]>([
    ["more than is allowed", "limit", answering("x".repeat(70_000))],
    ["what is not JSON", "protocol", answering("{\n")],
    ["what is not an object", "protocol", answering("[]\n")],
    [
      "an answer to nothing",
      "protocol",
      answering('{"error": {"class": "GenericError", "desc": "JSON parse error"}}\n'),
    ],
    ["a second greeting", "protocol", answering(`${JSON.stringify(GREETING)}\n`)],
  ])("%s", async (_what, problem, talk) => {
    await open(talk, { maxAnswerBytes: 1000 });
    await expect(qmp.execute("query-status")).rejects.toMatchObject({ problem });
  });

  test("no greeting of QEMU", async () => {
    await open({ connected: (client) => write(client, { QMP: { version: { qemu: "9" } } }) });
    await until(() => states.length === 1);
    expect(states).toEqual(["protocol"]);
  });
});

test("reports events with what matters of them", async () => {
  let sender: Socket | undefined;
  await open({
    ...qemu(),
    connected: (client) => {
      sender = client;
      write(client, GREETING);
    },
  });
  await until(() => states.includes("connected"));
  const report = async (event: string, data?: object): Promise<unknown> => {
    const timestamp = { seconds: 1700000000, microseconds: 5000 };
    const before = events.length;
    sender?.write(`${JSON.stringify({ event, data, timestamp })}\n`);
    await until(() => events.length > before);
    return events.at(-1);
  };
  const atMs = 1700000000005;
  expect(await report("VSERPORT_CHANGE", { open: true, id: "agent" })).toEqual({
    atMs,
    type: "agent",
    listening: true,
  });
  expect(await report("VSERPORT_CHANGE", { open: true, id: "x" })).toMatchObject({ type: "other" });
  expect(await report("SHUTDOWN", { guest: true, reason: "guest-shutdown" })).toEqual({
    atMs,
    type: "shutdown",
    byGuest: true,
    reason: "guest-shutdown",
  });
  const io = { "node-name": "disk1", operation: "write", nospace: true, reason: "x".repeat(1000), action: "stop" };
  expect(await report("BLOCK_IO_ERROR", io)).toEqual({
    atMs,
    type: "diskError",
    disk: "disk1",
    operation: "write",
    noSpace: true,
    reason: "x".repeat(200),
  });
  expect(await report("BALLOON_CHANGE", { actual: 5 })).toEqual({ atMs, type: "memory", bytes: 5 });
  expect(await report("NIC_RX_FILTER_CHANGED")).toEqual({ atMs, type: "other", name: "NIC_RX_FILTER_CHANGED" });
});
