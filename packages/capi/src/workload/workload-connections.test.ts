import { seededRandom, type Transport, VirtualClock } from "@capstan/apimachinery";
import { type Cache, openDialGate, silentLogger } from "@capstan/runtime";
import { expect, test } from "vitest";
import type { Secret } from "../contract/builtin-kinds.ts";
import { WorkloadConnections } from "./workload-connections.ts";

interface Handler {
  add(secret: Secret): void;
  delete(secret: Secret): void;
}

const KUBECONFIG = JSON.stringify({
  "current-context": "a",
  contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  clusters: [{ name: "a", cluster: { server: "https://one.example:6443" } }],
  users: [{ name: "a", user: { token: "t" } }],
});

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name: "c-kubeconfig", labels: { "cluster.x-k8s.io/cluster-name": "c" } },
  data: { value: Buffer.from(KUBECONFIG).toString("base64") },
} as unknown as Secret;

function start() {
  const handlers: Handler[] = [];
  const cache = { informer: () => ({ addHandler: (handler: Handler) => handlers.push(handler) }) } as unknown as Cache;
  let opened = 0;
  const transport = {
    request: () => Promise.reject(new Error("nobody answers")),
    close: () => Promise.resolve(),
  } as unknown as Transport;
  const connections = new WorkloadConnections({
    gate: openDialGate(),
    cache,
    clock: new VirtualClock(),
    random: seededRandom(1),
    log: silentLogger,
    dial: () => {
      opened++;
      return transport;
    },
  });
  connections.start();
  const [handler] = handlers;
  if (handler === undefined) throw new Error("nothing follows Secrets");
  return { connections, handler, opened: () => opened };
}

/** Lets everything that needs no clock run to its end. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await Promise.resolve();
};

test("a Secret deleted while its kubeconfig is still being read leaves nothing open", async () => {
  const { handler, opened } = start();
  handler.add(secret);
  handler.delete(secret);
  await turns();
  expect(opened()).toBe(0);
});

test("a Secret that stays is connected to, and told apart from none", async () => {
  const { connections, handler, opened } = start();
  expect(connections.get({ namespace: "default", name: "c" })).toMatchObject({ state: "connecting" });
  handler.add(secret);
  await turns();
  expect(opened()).toBe(1);
  handler.delete(secret);
});
