import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getSecure } from "node:https";
import { seededRandom, type Transport, VirtualClock } from "@capstan/apimachinery";
import { Client, createMetrics, silentLogger } from "@capstan/runtime";
import { afterEach, expect, test } from "vitest";
import { type ManagerEndpoints, startEndpoints, type WantedAddress } from "./endpoints.ts";

const clock = new VirtualClock();
const random = seededRandom(1);
const open: ManagerEndpoints[] = [];
afterEach(async () => {
  for (const endpoints of open.splice(0)) await endpoints.close();
});

/** Knows one token, whose owner may read metrics. */
const reviewer: Transport = {
  request: async ({ path, body }) => {
    const { spec } = body as { spec: { token?: string; user?: string } };
    const status = path.endsWith("/tokenreviews")
      ? { authenticated: spec.token === "good", user: { username: "prometheus" } }
      : { allowed: spec.user === "prometheus" };
    return { status: 201, headers: {}, body: { status }, warnings: [] };
  },
  watch: async function* () {},
  close: async () => undefined,
};

async function start(metricsAddress: WantedAddress): Promise<ManagerEndpoints> {
  const started = await startEndpoints({
    metricsAddress,
    metrics: await createMetrics({ clock }),
    healthChecks: {},
    readyChecks: {},
    version: "0.1.0",
    client: new Client(reviewer, { fieldManager: "test", clock }),
    clock,
    random,
    log: silentLogger,
  });
  open.push(started);
  return started;
}

/** The status of the page, read over loopback; undefined when the other side does not speak so. */
async function read(url: string | undefined, token?: string): Promise<number | undefined> {
  const { protocol, port, pathname } = new URL(url ?? "");
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { host: "127.0.0.1", port, path: pathname, headers };
  return await new Promise((resolve) => {
    const done = (response: IncomingMessage): void => resolve(response.resume().statusCode);
    // The certificate's validity is virtual time.
    const request =
      protocol === "https:" ? getSecure({ ...options, rejectUnauthorized: false }, done) : getPlain(options, done);
    request.once("error", () => resolve(undefined));
  });
}

test("metrics on loopback are in the clear and for everybody who is there", async () => {
  const { metricsUrl } = await start({ host: "127.0.0.1", port: 0 });
  expect(metricsUrl).toMatch(/^http:/);
  expect(await read(metricsUrl)).toBe(200);
});

test.each<[string, WantedAddress]>([
  ["on every address", { port: 0 }],
  ["on an address that is not known to be loopback", { host: "::ffff:127.0.0.1", port: 0 }],
])("metrics %s are encrypted and for those alone whom the API server allows", async (_, address) => {
  const { metricsUrl = "" } = await start(address);
  expect(metricsUrl).toMatch(/^https:/);
  expect(await read(metricsUrl.replace("https:", "http:"))).toBeUndefined();
  expect(await read(metricsUrl)).toBe(401);
  expect(await read(metricsUrl, "made-up")).toBe(401);
  expect(await read(metricsUrl, "good")).toBe(200);
  expect(await read(metricsUrl.replace(/metrics$/, "debug"), "good")).toBe(404);
});
