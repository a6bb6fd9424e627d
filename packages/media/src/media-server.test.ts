import { once } from "node:events";
import { get as httpsGet } from "node:https";
import { connect } from "node:net";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
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

test("serves images and ranges to the management controller's address", async () => {
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

test("rejects other addresses, other paths, and expired or withdrawn images", async () => {
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

test("serves an expired image again when its owner needs it, but not a withdrawn one", async () => {
  const url = await server.publish("default/h1", CONTENT, ["127.0.0.1"]);
  await clock.advance(61_000);
  expect((await get(url)).status).toBe(404);
  server.renew("default/h1");
  expect((await get(url)).status).toBe(200);
  server.withdraw("default/h1");
  server.renew("default/h1");
  expect((await get(url)).status).toBe(404);
});

test("serves over HTTPS with a certificate, and then not over plain HTTP", async () => {
  const random = seededRandom(1);
  const now = Date.parse("2026-01-01T00:00:00Z");
  const ca = await createCertificateAuthority({ commonName: "ca", notBeforeMs: now, validMs: 1e12, random });
  const leaf = { commonName: "media", usages: ["server" as const], ipAddresses: ["127.0.0.1"], nowMs: now };
  const certificate = () => issueCertificate(ca, { ...leaf, validMs: 1e12, random });
  const listen = { host: "127.0.0.1", port: 0 };
  const both = new MediaServer({ clock, random, listen, tls: { port: 0, certificate } });
  try {
    const plain = await both.publish("default/h1", CONTENT, ["127.0.0.1"], false);
    expect(plain).toMatch(/^http:/);
    expect((await get(plain)).status).toBe(200);
    const url = await both.publish("default/h2", CONTENT, ["127.0.0.1"], true);
    expect(url).toMatch(/^https:/);
    const answer = await new Promise<string>((resolve, reject) => {
      // The clock of this test is not that of the machine.
      const request = httpsGet(url, { ca: ca.certPem, rejectUnauthorized: false }, (response) => {
        let text = "";
        response.on("data", (piece: Buffer) => {
          text += piece.toString();
        });
        response.on("end", () => resolve(text));
      });
      request.on("error", reject);
    });
    expect(answer).toBe("0123456789");
    const inTheClear = new URL(plain);
    inTheClear.pathname = new URL(url).pathname;
    expect((await get(inTheClear.href)).status).toBe(404);
  } finally {
    await both.close();
  }
});

test("keeps the URL of the same image and gives another image a new one", async () => {
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

test("serves the same image under the same URL from a new process with the same secret", async () => {
  const options = { clock, random: seededRandom(1), secret: async () => Buffer.from("kept in a file") };
  const first = new MediaServer({ ...options, listen: { host: "127.0.0.1", port: 0 } });
  const url = await first.publish("default/h1", CONTENT, ["127.0.0.1"]);
  await first.close();
  const second = new MediaServer({ ...options, listen: { host: "127.0.0.1", port: Number(new URL(url).port) } });
  expect(await second.publish("default/h1", CONTENT, ["127.0.0.1"])).toBe(url);
  await second.close();
});

test("closes connections that send no request, and not those that are being served", async () => {
  const url = await server.publish("default/h1", CONTENT, ["127.0.0.1"]);
  const { port } = new URL(url);
  const quiet = connect({ host: "127.0.0.1", port: Number(port) });
  quiet.on("error", () => undefined).resume();
  await once(quiet, "connect");
  // Connections are accepted in order: when this one is answered, the server has the other.
  expect(await (await get(url)).text()).toBe("0123456789");
  const closed = once(quiet, "close");
  await clock.advance(31_000);
  await closed;
  expect(await (await get(url)).text()).toBe("0123456789");
});
