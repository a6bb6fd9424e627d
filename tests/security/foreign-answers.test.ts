import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { systemClock, type Transport } from "@capstan/apimachinery";
import { RedfishDriver } from "@capstan/infra-metal3";
import { httpTransport, kubeconfigFromText, openDialGate } from "@capstan/runtime";
import { joinCluster, joinPlan } from "@capstan/workloads";
import { afterEach, expect, test } from "vitest";
import { CANARY_WORDS } from "./canary.ts";

/**
 * A tenant runs a workload cluster, a management controller or a simulated machine of its own, whose answers and bootstrap data are made
 * to harm the manager, or names another server to read in a condition what it says.
 */
let server: Server | undefined;
const { signal } = new AbortController();

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
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

async function cost(work: () => Promise<unknown>): Promise<number> {
  const before = usedMs();
  await work().catch(() => undefined);
  return usedMs() - before;
}

const LIMIT_MS = 300;

async function workload(address: string): Promise<Transport> {
  const text = JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server: address } }],
    users: [{ name: "a", user: { token: "t" } }],
  });
  return httpTransport(await kubeconfigFromText(text, { clock: systemClock, gate: openDialGate() }), {
    clock: systemClock,
  });
}

const NODES = { method: "GET", path: "/api/v1/nodes" } as const;

test("what another server says is not in the error of a request or a watch", async () => {
  const transport = await workload(
    await serve((_, response) => response.setHeader("content-type", "application/json").end(`${CANARY_WORDS}\n`)),
  );
  const watch = async (): Promise<void> => {
    for await (const _ of transport.watch(NODES)) break;
  };
  for (const read of [() => transport.request(NODES), watch]) {
    const error = await read().then(() => "none", String);
    expect(error).toContain("not valid JSON");
    expect(error).not.toContain("canary");
  }
  await transport.close();
});

test("a workload cluster whose answer takes long to parse does not block other clients", async () => {
  const objects = Array.from({ length: 150_000 }, (_, i) => `{"${i.toString(36)}x":0,"${i}y":1}`);
  const body = `{"items":[${objects.join(",")}]}`;
  const transport = await workload(
    await serve((_, response) => response.setHeader("content-type", "application/json").end(body)),
  );
  expect(await cost(() => transport.request(NODES))).toBeLessThan(LIMIT_MS);
  await transport.close();
});

test("a kubeconfig whose aliases make it vast is refused", async () => {
  const text = `a: &a "${"x".repeat(100_000)}"\nb: [${Array(900).fill("*a").join(",")}]\n`;
  const parse = (): Promise<unknown> => kubeconfigFromText(text, { clock: systemClock });
  await expect(parse()).rejects.toThrow("aliases");
});

const cloudConfig = (content: string): Uint8Array =>
  Buffer.from(
    `#cloud-config\nwrite_files:\n- path: /run/kubeadm/kubeadm-join-config.yaml\n  encoding: gz+b64\n  content: ${content}\n`,
  );

test.each([
  ["unpacks to much", cloudConfig(gzipSync("- {a: [b, {c: d}]}\n".repeat(10_000)).toString("base64"))],
  ["has tags that are never closed", Buffer.from(`## template: jinja\n#cloud-config\na: ${"{{".repeat(30_000)}`)],
  [
    "has a long expression",
    Buffer.from(`## template: jinja\n#cloud-config\na: {{ ${"a.".repeat(15_000)}a${" ".repeat(30_000)} }}`),
  ],
  ["has many lines", Buffer.from(`#cloud-config\n${"- {a: [b, {c: d}]}\n".repeat(3_000)}`)],
])(
  "bootstrap data of a simulated machine that %s does not block other clients",
  async (_what, bytes) => {
    const read = (): Promise<unknown> => Promise.resolve(joinPlan({ format: "cloud-config", bytes }, "h", systemClock));
    // The first time compiles.
    await cost(read);
    expect(await cost(read)).toBeLessThan(LIMIT_MS);
  },
  60_000,
);

test("what another server says to a simulated machine is not in its error", async () => {
  const plan = { token: "a.b", caCertHashes: [], nodeName: "n", taints: [], kubeletArgs: {} };
  const asked: string[] = [];
  const answer = { status: 403, headers: {}, body: CANARY_WORDS, warnings: [] };
  const connect = (config: { server: string }): Transport => ({
    request: async ({ path }) => {
      asked.push(`${config.server}${path}`);
      return answer;
    },
    watch: () => Promise.reject(new Error("no watch")) as never,
    close: () => Promise.resolve(),
  });
  const deps = { connect, clock: systemClock, random: { bytes: (n: number) => Buffer.alloc(n) } as never };
  const join = (endpoint: string): Promise<string> =>
    joinCluster({ ...plan, endpoint }, deps, signal).then(String, String);
  const error = await join("192.0.2.1:6443");
  expect(error).toContain("403");
  expect(error).not.toContain("canary");
  expect(await join("192.0.2.1/secrets?x=")).toContain("apiServerEndpoint");
  expect(asked).toEqual(["https://192.0.2.1:6443/api/v1/namespaces/kube-public/configmaps/cluster-info"]);
});

function redfish(
  clock = systemClock,
  open: () => Promise<never> = () => Promise.reject(new Error("no image")),
): RedfishDriver {
  return new RedfishDriver({ clock, gate: openDialGate(), media: {} as never, images: {} as never, open });
}

test("a management controller whose lists lead to lists is not followed for ever", async () => {
  let asked = 0;
  const drives = Array.from({ length: 5_000 }, (_, i) => ({ "@odata.id": `/drives/${i}` }));
  const bodies: Record<string, object> = {
    "/redfish/v1/Systems/1": { "@odata.id": "/redfish/v1/Systems/1", Storage: { "@odata.id": "/all" } },
    "/all": { Members: [{ "@odata.id": "/controller" }] },
    "/controller": { Drives: drives },
  };
  const address = await serve((request, response) => {
    asked++;
    response.setHeader("content-type", "application/json").end(JSON.stringify(bodies[request.url ?? ""] ?? {}));
  });
  const driver = redfish();
  const identity = {
    address: `redfish-virtualmedia+http://${new URL(address).host}/redfish/v1/Systems/1`,
    credentials: { username: "u", password: "p" },
  };
  expect(await driver.inspect(identity as never, signal)).toMatchObject({ type: "failed" });
  await driver.close(signal);
  expect(asked).toBeLessThan(1_100);
}, 60_000);
