import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@capstan/apimachinery";
import { parseAddressRange } from "@capstan/apimachinery/foreign";
import { systemDialGate } from "@capstan/runtime";
import { afterEach, expect, test } from "vitest";
import { httpContent, httpDownload } from "./download.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server with one answer to everything; gives its port and how often it was asked. */
async function serve(
  status: number,
  headers: Record<string, string>,
  body = "",
): Promise<{ port: number; asked(): number }> {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.writeHead(status, headers).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, asked: () => asked };
}

const clock = systemClock;
const only = (...ports: number[]) =>
  systemDialGate(ports.flatMap((port) => parseAddressRange(`127.0.0.1/32:${port}`) ?? []));
const { signal } = new AbortController();

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return text;
}

test("follows a redirect only to addresses that the gate allows", async () => {
  const inner = await serve(200, {}, "image");
  const outer = await serve(302, { location: `http://127.0.0.1:${inner.port}/x` });
  const url = `http://127.0.0.1:${outer.port}/`;
  const download = httpDownload({ gate: only(outer.port), clock });
  await expect(download(url, signal)).rejects.toThrow("--allow-address");
  await expect(httpContent(url, signal, { gate: only(outer.port), clock })).rejects.toThrow("--allow-address");
  expect(inner.asked()).toBe(0);
  const open = httpDownload({ gate: only(outer.port, inner.port), clock });
  expect(await read(await open(url, signal))).toBe("image");
});

test("limits the number of redirects, and follows them to HTTP and HTTPS only", async () => {
  const loop = await serve(302, { location: "/again" });
  const gate = only(loop.port);
  const url = `http://127.0.0.1:${loop.port}/`;
  await expect(httpDownload({ gate, clock })(url, signal)).rejects.toThrow("redirects more than");
  expect(loop.asked()).toBeLessThan(10);
  const file = await serve(302, { location: "file:///etc/passwd" });
  const bad = httpDownload({ gate: only(file.port), clock })(`http://127.0.0.1:${file.port}/`, signal);
  await expect(bad).rejects.toThrow("only http and https");
});

test("rejects an image that claims to be larger than any image", async () => {
  const vast = await serve(206, { "content-range": `bytes 0-0/${2 ** 50}` }, "x");
  const url = `http://127.0.0.1:${vast.port}/`;
  await expect(httpContent(url, signal, { gate: only(vast.port), clock })).rejects.toThrow("more than");
});

test("does not show the redirect's target in the error", async () => {
  const inner = await serve(403, {});
  const outer = await serve(302, { location: `http://127.0.0.1:${inner.port}/x?token=canary` });
  const error = await httpDownload({ gate: only(outer.port, inner.port), clock })(
    `http://127.0.0.1:${outer.port}/`,
    signal,
  ).then(String, String);
  expect(error).toContain("403");
  expect(error).not.toContain("canary");
});
