import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, VirtualClock } from "@capstan/apimachinery";
import { S3Store } from "@capstan/backup";
import { renderTemplate } from "@capstan/capi";
import { RedfishDriver } from "@capstan/infra-metal3";
import { Client, httpTransport, kindRef, kubeconfigFromText, openDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";

/**
 * A tenant names a server, or writes a document, whose reading keeps the manager's only thread from everybody else, fills its memory, or
 * never ends. What is measured is the processor time of that thread, and what the server was asked and could send.
 */
let server: Server | undefined;
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-foreign-"));
});

afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  await rm(dir, { recursive: true, force: true });
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer((request, response) => {
    response.on("error", () => undefined);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Processor time of the main thread, as the kernel counts it. */
function usedMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

async function cost(work: () => unknown): Promise<number> {
  const before = usedMs();
  await work();
  return usedMs() - before;
}

const LIMIT_MS = 300;

function store(endpoint: string, clock = systemClock): S3Store {
  const keys = { accessKeyId: "id", secretAccessKey: "key" };
  return new S3Store({
    field: "spec.etcd.backup.s3",
    endpoint,
    bucket: "b",
    ...keys,
    scratchDir: dir,
    clock,
    gate: openDialGate(),
  });
}

test("a listing of elements that never end is read once, not once for each of them", async () => {
  const endpoint = await serve((_, response) => response.end("<Contents>".repeat(10_000)));
  const listed = store(endpoint);
  expect(await cost(() => listed.list("default/c1").catch(() => undefined))).toBeLessThan(LIMIT_MS);
});

test("an endless listing is abandoned after some pages", async () => {
  let pages = 0;
  const endpoint = await serve((_, response) => {
    pages++;
    response.end(pages > 200 ? "" : `<NextContinuationToken>${pages}</NextContinuationToken>`);
  });
  await store(endpoint)
    .list("default/c1")
    .catch(() => undefined);
  expect(pages).toBeLessThan(50);
});

test("a store that sends without end is not listened to without end", async () => {
  let sent = 0;
  const endpoint = await serve((_, response) => void endless(response, 64, () => sent++));
  await store(endpoint)
    .list("default/c1")
    .catch(() => undefined);
  expect(sent).toBeLessThan(32);
});

test("a store that gives a byte now and then is given up after its time", async () => {
  const clock = new VirtualClock();
  let answered: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const endpoint = await serve((_, response) => {
    response.write("<");
    answered();
  });
  let end = "";
  const listing = store(endpoint, clock)
    .list("default/c1")
    .catch((error: unknown) => {
      end = String(error);
    });
  await begun;
  await clock.advance(10 * 60_000);
  await listing;
  expect(end).toContain("not complete within");
});

/** Up to `megabytes`, as fast as the other side takes it. */
async function endless(response: ServerResponse, megabytes: number, sent: () => void): Promise<void> {
  const piece = Buffer.alloc(1024 * 1024, "x");
  response.setMaxListeners(0);
  for (let i = 0; i < megabytes && !response.destroyed; i++) {
    sent();
    if (!response.write(piece))
      await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
  }
  response.end();
}

const kubeconfig = (address: string): string =>
  JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server: address } }],
    users: [{ name: "a", user: { token: "t" } }],
  });
const Node = kindRef({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

test("a workload cluster that sends without end is not listened to without end", async () => {
  let sent = 0;
  const address = await serve((_, response) => void endless(response, 96, () => sent++));
  const gate = openDialGate();
  const config = await kubeconfigFromText(kubeconfig(address), { clock: systemClock, gate });
  const transport = httpTransport(config, { clock: systemClock });
  await transport.request({ method: "GET", path: "/api/v1/nodes" }).catch(() => undefined);
  await transport.close();
  expect(sent).toBeLessThan(64);
});

test("a workload cluster with an endless list is abandoned after some pages", async () => {
  let pages = 0;
  const address = await serve((_, response) => {
    pages++;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ metadata: { continue: pages > 400 ? "" : `${pages}` }, items: [] }));
  });
  const transport = httpTransport({ server: address }, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "test", clock: systemClock, maxObjects: 10_000 });
  await client.list(Node).catch(() => undefined);
  await transport.close();
  expect(pages).toBeLessThan(150);
});

test("a kubeconfig that takes long to parse does not block other clients", async () => {
  const text = `${"- {a: [b, {c: d}], e: &x [f, g], h: *x}\n".repeat(3_000)}`;
  const parse = (): Promise<unknown> => kubeconfigFromText(text, { clock: systemClock }).catch(() => undefined);
  expect(await cost(parse)).toBeLessThan(LIMIT_MS);
}, 60_000);

const again = (action: string): string => `{{ range until 2000 }}{{ $z := ${action} }}{{ end }}`;

test.each([
  ["makes much of little", again('replace "" (repeat 1000 "x") (repeat 60000 "y")')],
  ["indents much", again('indent 1000 (repeat 60000 "\\n")')],
  ["joins with much", again('join (repeat 10000 "x") (until 9000)')],
  [
    "makes a value that is in itself many times",
    "{{ $x := list 1 }}{{ range until 22 }}{{ $x = list $x $x }}{{ end }}{{ toJson $x }}",
  ],
  ["has a format with two readings", '{{ printf (print "%" (repeat 20000 "0")) }}'],
  ["works on much again and again", again('upper (repeat 300000 "ab ")')],
])("a template that %s ends early", async (_what, template) => {
  let end = "";
  const used = await cost(() => {
    try {
      end = `${renderTemplate(template, {}).length} characters`;
    } catch (error) {
      end = String(error);
    }
  });
  expect(used, end).toBeLessThan(LIMIT_MS);
  expect(end).toMatch(/TemplateError|^[0-9]{1,6} characters$/);
});

test("reads only some members of a management controller that lists them without end", async () => {
  let asked = 0;
  const address = await serve((request, response) => {
    asked++;
    const member = (i: number): object => ({ "@odata.id": `/members/${i}` });
    const bodies: Record<string, object> = {
      "/redfish/v1/Systems/1": { "@odata.id": "/redfish/v1/Systems/1", EthernetInterfaces: { "@odata.id": "/all" } },
      "/all": { Members: Array.from({ length: 1_500 }, (_, i) => member(i)) },
    };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(bodies[request.url ?? ""] ?? {}));
  });
  const driver = new RedfishDriver({
    clock: systemClock,
    gate: openDialGate(),
    media: {} as never,
    images: {} as never,
    open: () => Promise.reject(new Error("no image")),
  });
  const { host } = new URL(address);
  const identity = {
    address: `redfish-virtualmedia+http://${host}/redfish/v1/Systems/1`,
    credentials: { username: "u", password: "p" },
  };
  const stop = new AbortController();
  await driver.inspect(identity as never, stop.signal);
  await driver.close(stop.signal);
  expect(asked).toBeLessThan(400);
});
