import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Endpoint } from "./http-endpoint.ts";
import { listenForProbes } from "./probes.ts";

let endpoint: Endpoint;
let sick: boolean;

beforeEach(async () => {
  sick = false;
  const check = (): void => {
    if (sick) throw new Error("postgres://user:secret@db is away");
  };
  endpoint = await listenForProbes({
    clock: systemClock,
    address: { host: "127.0.0.1", port: 0 },
    health: { store: check },
    ready: { webhooks: () => undefined },
    version: { gitVersion: "v0.1.0" },
  });
});
afterEach(() => endpoint.close());

async function get(path: string, method = "GET"): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${endpoint.port}${path}`, { method });
  return [response.status, await response.text()];
}

test("names a failing check without the reason", async () => {
  expect(await get("/healthz")).toEqual([200, "ok"]);
  sick = true;
  for (const path of ["healthz", "livez"])
    expect(await get(`/${path}`)).toEqual([500, `[+]ping ok\n[-]store failed\n${path} check failed\n`]);
  expect(await get("/healthz/store")).toEqual([500, "[-]store failed\nhealthz check failed\n"]);
  expect(await get("/readyz"), "another group").toEqual([200, "ok"]);
});

test("shows all checks, serves single ones and excludes some", async () => {
  sick = true;
  expect(await get("/readyz?verbose")).toEqual([200, "[+]ping ok\n[+]webhooks ok\nreadyz check passed\n"]);
  expect(await get("/healthz/ping")).toEqual([200, "ok"]);
  expect(await get("/healthz?exclude=store")).toEqual([200, "ok"]);
});

test("returns 404 for unknown paths and rejects writes", async () => {
  for (const path of ["/healthz/other", "/healthz/constructor", "/constructor", "/"])
    expect((await get(path))[0]).toBe(404);
  expect((await get("/healthz", "POST"))[0]).toBe(405);
  expect(JSON.parse((await get("/version"))[1])).toEqual({ gitVersion: "v0.1.0" });
});
