import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bytesContent } from "./content.ts";
import { MediaServer } from "./media-server.ts";

const CONTENT = bytesContent(Buffer.from("0123456789"));
let clock: VirtualClock;
let server: MediaServer;
beforeEach(() => {
  clock = new VirtualClock();
  server = new MediaServer({
    clock,
    random: seededRandom(1),
    listen: { host: "127.0.0.1", port: 0 },
    lifetimeMs: 60_000,
  });
});
afterEach(() => server.close());

const get = (url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  fetch(url, { headers, method });

test("serves whole and in part to the management controller's address", async () => {
  const url = await server.publish("default/h1", CONTENT, ["127.0.0.1"]);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/media\/[\w-]{43}\/media\.iso$/);
  expect(await (await get(url)).text()).toBe("0123456789");
  const part = await get(url, { range: "bytes=2-4" });
  expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
  expect(await (await get(url, { range: "bytes=-3" })).text()).toBe("789");
  expect(await (await get(url, { range: "bytes=7-" })).text()).toBe("789");
  expect((await get(url, { range: "bytes=10-" })).status).toBe(416);
  const head = await get(url, {}, "HEAD");
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "10"]);
  expect((await get(url, {}, "POST")).status).toBe(405);
});

test("nobody else gets anything: another address, another path, too late, taken back", async () => {
  const foreign = await server.publish("default/h2", CONTENT, ["192.0.2.1"]);
  expect((await get(foreign)).status).toBe(404);
  const url = await server.publish("default/h1", CONTENT, ["127.0.0.1"]);
  const token = /media\/([\w-]+)\//.exec(url)?.[1] ?? "";
  for (const wrong of [
    url.replace(token, `${token.slice(0, -1)}_`),
    url.replace("/media.iso", ""),
    new URL(url).origin,
  ])
    expect((await get(wrong)).status).toBe(404);
  await clock.advance(61_000);
  expect((await get(url)).status).toBe(404);
  await server.publish("default/h1", CONTENT, ["127.0.0.1"]);
  expect((await get(url)).status, "until it is published again").toBe(200);
  server.withdraw("default/h1");
  expect((await get(url)).status).toBe(404);
});

test("the same image keeps its address, another gets a new one", async () => {
  const url = await server.publish("default/h1", CONTENT, ["127.0.0.1"]);
  await clock.advance(50_000);
  server.renew("default/h1");
  await clock.advance(50_000);
  expect((await get(url)).status, "renewed").toBe(200);
  expect(await server.publish("default/h1", bytesContent(Buffer.from("0123456789")), ["127.0.0.1"])).toBe(url);
  await clock.advance(50_000);
  expect((await get(url)).status, "asking again makes it last").toBe(200);
  const other = await server.publish("default/h1", bytesContent(Buffer.from("other")), ["127.0.0.1"]);
  expect(other).not.toBe(url);
  expect((await get(url)).status).toBe(404);
  expect(await server.publish("default/h2", CONTENT, ["127.0.0.1"])).not.toBe(other);
});

test("a new process with the same secret serves the same image under the same address", async () => {
  const options = { clock, random: seededRandom(1), secret: async () => Buffer.from("kept in a file") };
  const first = new MediaServer({ ...options, listen: { host: "127.0.0.1", port: 0 } });
  const url = await first.publish("default/h1", CONTENT, ["127.0.0.1"]);
  await first.close();
  const second = new MediaServer({ ...options, listen: { host: "127.0.0.1", port: Number(new URL(url).port) } });
  expect(await second.publish("default/h1", CONTENT, ["127.0.0.1"])).toBe(url);
  await second.close();
});
