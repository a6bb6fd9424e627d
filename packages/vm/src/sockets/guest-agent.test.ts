import type { Socket } from "node:net";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { afterEach, expect, test } from "vitest";
import { talkToAgent } from "../../testdata/conversations.mjs";
import { replay, SocketServer, type Talk } from "../testing/socket-server.ts";
import { GuestAgent } from "./guest-agent.ts";

interface Message {
  execute: string;
  arguments?: { id?: number };
}

let server: SocketServer;
let agent: GuestAgent;
let clock: VirtualClock;

async function open(talk: Talk, maxAnswerBytes?: number): Promise<void> {
  server = await SocketServer.create(talk);
  clock = new VirtualClock();
  agent = new GuestAgent({ path: server.path, clock, random: seededRandom(1), maxAnswerBytes });
}

afterEach(async () => {
  agent.close();
  await server.close();
});

/** Answers what synchronizes the conversation; `command` answers the rest. */
function guest(command: (message: Message, client: Socket) => void, before = ""): Talk {
  return {
    line: (line, client) => {
      const marked = line.startsWith("\u00ff");
      const message: Message = JSON.parse(marked ? line.slice(1) : line);
      if (marked) client.write(`${before}\u00ff{"return": ${message.arguments?.id}}\n`, "latin1");
      else command(message, client);
    },
  };
}

const answer = (client: Socket, result: unknown): void => void client.write(`${JSON.stringify({ return: result })}\n`);

/** Lets time pass until something is settled. */
async function passing<T>(promise: Promise<T>, stepMs: number): Promise<T> {
  let over = false;
  const settled = promise.finally(() => {
    over = true;
  });
  settled.catch(() => undefined);
  while (!over) await clock.advance(stepMs);
  return await settled;
}

test("says and understands what a real agent did", async () => {
  const { talk, unexpected } = replay(new URL("../../testdata/guest-agent.jsonl", import.meta.url));
  await open(talk);
  const seen = await passing(talkToAgent(agent), 100);
  expect(unexpected).toEqual([]);
  expect(seen).toEqual([
    [
      { name: "eth1", mac: expect.stringMatching(/^[0-9a-f:]{17}$/), addresses: [] },
      { name: "eth0", mac: "52:54:00:00:00:07", addresses: ["192.0.2.7/24"] },
    ],
    { exitCode: 3, signal: undefined, stdout: "in the guest\n", stderr: "failed\n", truncated: false },
    { exitCode: undefined, signal: 9, stdout: "", stderr: "", truncated: false },
    ["refused", "GenericError"],
  ]);
});

test("skips what the guest has sent before the conversation is synchronized", async () => {
  const before = '{"return": "old"}\n{"error": {}}\nhalf a li';
  await open(guest((_message, client) => answer(client, {}), before));
  await agent.ping();
});

test("reports a guest without an agent, and finds the agent once it has started", async () => {
  let started = false;
  const talk = guest((_message, client) => answer(client, {}));
  await open({ line: (line, client) => void (started && talk.line?.(line, client)) });
  await expect(passing(agent.ping(2000), 500)).rejects.toMatchObject({ problem: "silent" });
  started = true;
  await agent.ping();
});

test("reports that QEMU is not running, and connects when it is", async () => {
  await open({});
  await server.close();
  await expect(agent.ping()).rejects.toMatchObject({ problem: "absent" });
  server = await SocketServer.create(guest((_message, client) => answer(client, {})));
  agent = new GuestAgent({ path: server.path, clock, random: seededRandom(1) });
  await agent.ping();
  server.disconnect();
  await agent.ping().catch((error) => expect(error).toMatchObject({ problem: "disconnected" }));
  await agent.ping();
});

test("does not take the late answer to a command for that to the next", async () => {
  let late = (): void => undefined;
  let asked = 0;
  const talk = guest((_message, client) => {
    if (++asked > 1) answer(client, [{ name: "mine" }]);
    else late = () => answer(client, [{ name: "late" }]);
  });
  await open({
    line: (line, client) => {
      late();
      late = () => undefined;
      talk.line?.(line, client);
    },
  });
  await expect(passing(agent.networkInterfaces(1000), 500)).rejects.toMatchObject({ problem: "timeout" });
  expect(await agent.networkInterfaces()).toMatchObject([{ name: "mine" }]);
});

test("lets one command wait for another", async () => {
  const running: string[] = [];
  await open(
    guest(({ execute }, client) => {
      running.push(execute);
      answer(client, execute === "guest-ping" ? {} : []);
    }),
  );
  const [, interfaces] = await Promise.all([agent.ping(), agent.networkInterfaces(), agent.ping()]);
  expect(interfaces).toEqual([]);
  expect(running).toEqual(["guest-ping", "guest-network-get-interfaces", "guest-ping"]);
});

test("waits for no confirmation of a shutdown, and takes a refusal for no other answer", async () => {
  const modes: unknown[] = [];
  await open(
    guest((message, client) => {
      if (message.execute !== "guest-shutdown") return answer(client, {});
      modes.push(message.arguments);
      client.write('{"error": {"class": "GenericError", "desc": "no"}}\n');
    }),
  );
  await agent.shutdown();
  await agent.ping();
  expect(modes).toEqual([{ mode: "powerdown" }]);
});

test("keeps a hostile guest within bounds", async () => {
  const many = Array.from({ length: 500 }, () => ({ name: "n".repeat(5000), "ip-addresses": [{ prefix: "x" }, 1] }));
  let result: unknown = many;
  await open(
    guest((_message, client) => answer(client, result)),
    5_000_000,
  );
  const interfaces = await agent.networkInterfaces();
  expect(interfaces).toHaveLength(100);
  expect(interfaces[0]).toEqual({ name: "n".repeat(100), mac: undefined, addresses: [] });
  result = "x".repeat(6_000_000);
  await expect(agent.ping()).rejects.toMatchObject({ problem: "limit" });
  result = { pid: "1" };
  await expect(agent.exec({ path: "/bin/true" })).rejects.toMatchObject({ problem: "protocol" });
});

test("gives up on a program that does not exit", async () => {
  await open(guest(({ execute }, client) => answer(client, execute === "guest-exec" ? { pid: 7 } : { exited: false })));
  const failed = passing(agent.exec({ path: "/bin/sleep" }, 3000), 250);
  await expect(failed).rejects.toMatchObject({ problem: "timeout", message: expect.stringContaining("/bin/sleep") });
});

test("fails what waits when it is closed", async () => {
  await open(guest(() => agent.close()));
  await expect(agent.ping()).rejects.toMatchObject({ problem: "closed" });
  await expect(agent.ping()).rejects.toMatchObject({ problem: "closed" });
});
