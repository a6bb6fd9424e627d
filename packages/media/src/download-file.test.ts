import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { request as ask, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { parseAddressRange } from "@capstan/apimachinery/foreign";
import { openDialGate, proxyFromEnvironment, systemDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { downloadFile, fetchText } from "./download-file.ts";
import { Fetcher } from "./fetcher.ts";
import { FileServer, sha256 } from "./testing/file-server.ts";

let mirror: FileServer;
let fetcher: Fetcher;
let scratch: string;
let file: string;
const bytes = Buffer.from(`#!/bin/sh\n${"x".repeat(5000)}\n`);

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "capstan-download-"));
  file = join(scratch, "parts/kube-apiserver");
  await mkdir(join(scratch, "parts"));
  fetcher = new Fetcher({ proxyFor: () => undefined });
  mirror = new FileServer();
  mirror.put("/kube-apiserver", bytes);
  await mirror.open();
});

afterEach(async () => {
  await fetcher.close();
  await mirror.close();
  await rm(scratch, { recursive: true, force: true });
});

const get = (url = `${mirror.base}/kube-apiserver`, through = fetcher): Promise<void> =>
  downloadFile({ fetcher: through, url, file, digest: sha256(bytes) });
const arrived = async (): Promise<boolean> => (await readFile(file)).equals(bytes);

test("downloads everything again from a server that does not resume", async () => {
  mirror.resumes = false;
  await writeFile(`${file}.part`, bytes.subarray(0, 1000));
  await get();
  expect(await arrived()).toBe(true);
});

describe("an interrupted transfer", () => {
  const interrupt = async (etag: string): Promise<void> => {
    mirror.etags.set("/kube-apiserver", etag);
    mirror.cuts.set("/kube-apiserver", 1000);
    const progress = (received: number): void => void (received >= 1000 && mirror.endConnection());
    const options = {
      fetcher,
      url: `${mirror.base}/kube-apiserver`,
      file,
      digest: sha256(bytes),
      onProgress: progress,
    };
    await expect(downloadFile(options)).rejects.toMatchObject({ problem: "interrupted" });
  };
  const requests = (): unknown[] => seen.splice(0);
  const seen: unknown[] = [];
  beforeEach(() => {
    seen.length = 0;
    mirror.instead = ({ headers }) => {
      seen.push([headers.range, headers["if-range"]]);
      return false;
    };
  });

  test("resumes where it stopped if the file is the same, and leaves nothing but the file", async () => {
    await interrupt('"v1"');
    requests();
    await get();
    expect(requests()).toEqual([["bytes=1000-", '"v1"']]);
    expect(await arrived()).toBe(true);
    expect(await readdir(join(scratch, "parts"))).toEqual(["kube-apiserver"]);
  });

  test("starts over in the same request if the file has changed", async () => {
    await interrupt('"v1"');
    requests();
    mirror.etags.set("/kube-apiserver", '"v2"');
    await get();
    expect(requests()).toEqual([["bytes=1000-", '"v1"']]);
    expect(await arrived()).toBe(true);
  });

  test("sends no condition for a weak version, which does not promise the same bytes", async () => {
    await interrupt('W/"v1"');
    requests();
    await get();
    expect(requests()).toEqual([["bytes=1000-", undefined]]);
    expect(await arrived()).toBe(true);
  });
});

test.each(["kube-apiserver.part", "kube-apiserver.part.etag"])(
  "a link at %s is replaced, not followed",
  async (name) => {
    const victim = join(scratch, "victim");
    await writeFile(victim, "precious");
    await symlink(victim, join(scratch, "parts", name));
    mirror.etags.set("/kube-apiserver", '"v1"');
    await get();
    expect(await arrived()).toBe(true);
    expect(await readFile(victim, "utf8")).toBe("precious");
  },
);

describe("limits", () => {
  test("a file of a stated size beyond the limit is refused before it is transferred", async () => {
    const options = { fetcher, url: `${mirror.base}/kube-apiserver`, file, digest: sha256(bytes), maxBytes: 1000 };
    await expect(downloadFile(options)).rejects.toMatchObject({ problem: "limit" });
    expect(await readdir(join(scratch, "parts"))).toEqual([]);
  });

  test("a file of unknown size is refused where it exceeds the limit", async () => {
    mirror.instead = (_request, response) => {
      response.write(bytes);
      response.end();
      return true;
    };
    const options = { fetcher, url: `${mirror.base}/kube-apiserver`, file, digest: sha256(bytes), maxBytes: 1000 };
    await expect(downloadFile(options)).rejects.toMatchObject({ problem: "limit" });
    expect(await readdir(join(scratch, "parts"))).toEqual([]);
  });

  test("aborts a transfer that takes too long and keeps what arrived for the next attempt", async () => {
    const clock = new VirtualClock();
    mirror.cuts.set("/kube-apiserver", 1000);
    const late = downloadFile({
      fetcher,
      url: `${mirror.base}/kube-apiserver`,
      file,
      digest: sha256(bytes),
      within: { clock, ms: 60_000 },
      onProgress: (received) => void (received >= 1000 && clock.advance(60_000)),
    });
    await expect(late).rejects.toMatchObject({ problem: "limit", message: expect.stringContaining("within 60 s") });
    expect((await readFile(`${file}.part`)).length).toBe(1000);
    await get();
    expect(await arrived()).toBe(true);
  });
});

test("does not download a part again that is already complete", async () => {
  await writeFile(`${file}.part`, bytes);
  await get();
  expect(mirror.asked).toEqual([`/kube-apiserver bytes=${bytes.length}-`]);
  expect(await arrived()).toBe(true);
});

test.each([
  ["another file's", Buffer.from("another release".repeat(50))],
  ["damaged by a power cut", Buffer.alloc(1000)],
  ["longer than the file", Buffer.alloc(20_000)],
])("downloads again in the same run a part that is %s", async (_what, part) => {
  await writeFile(`${file}.part`, part);
  await get();
  expect(mirror.asked).toEqual([`/kube-apiserver bytes=${part.length}-`, "/kube-apiserver"]);
  expect(await arrived()).toBe(true);
});

test("requests the whole file from a server that resumes at another offset than requested", async () => {
  await writeFile(`${file}.part`, bytes.subarray(0, 1000));
  mirror.instead = (request, response) => {
    if (request.headers.range === undefined) return false;
    response.writeHead(206, { "content-range": `bytes 500-${bytes.length - 1}/${bytes.length}` });
    response.end(bytes.subarray(500));
    return true;
  };
  await get();
  expect(await arrived()).toBe(true);
});

test("trusts a file under its final name only if its checksum matches", async () => {
  await writeFile(file, bytes.subarray(0, 10));
  await get();
  expect(await arrived()).toBe(true);
  mirror.asked.length = 0;
  await get();
  expect(mirror.asked, "whole").toEqual([]);
});

test("requests a file with a wrong checksum once and leaves no part", async () => {
  mirror.files.set("/kube-apiserver", Buffer.from("something else"));
  await expect(get()).rejects.toThrow(/checksum [0-9a-f]{64} is not the expected/);
  expect(mirror.asked).toEqual(["/kube-apiserver"]);
  await expect(readFile(`${file}.part`)).rejects.toThrow("ENOENT");
});

test("distinguishes a failing server from an unreachable one", async () => {
  await expect(get(`${mirror.base}/nothing`)).rejects.toMatchObject({ problem: "missing" });
  mirror.instead = (_request, response) => (response.writeHead(503).end(), true);
  await expect(get()).rejects.toThrow("/kube-apiserver answered 503");
  const { base } = mirror;
  await mirror.close();
  await expect(get(`${base}/kube-apiserver`)).rejects.toMatchObject({
    message: expect.stringMatching(/^cannot reach .*ECONNREFUSED/),
    problem: "unreachable",
  });
  await mirror.open();
});

test("follows redirects without the password, up to a limit", async () => {
  const passwords: (string | undefined)[] = [];
  const other = new FileServer();
  other.put("/cdn", bytes);
  other.instead = (request) => (passwords.push(request.headers.authorization), false);
  await other.open();
  mirror.instead = (request, response) => {
    passwords.push(request.headers.authorization);
    response.writeHead(302, { location: request.url === "/round" ? "/round" : `${other.base}/cdn` }).end();
    return true;
  };
  await get(`${mirror.base.replace("//", "//ann:s%40cret@")}/kube-apiserver`);
  expect(passwords).toEqual([`Basic ${Buffer.from("ann:s@cret").toString("base64")}`, undefined]);
  expect(await arrived()).toBe(true);
  await expect(fetchText(fetcher, `${mirror.base}/round`)).rejects.toThrow("redirects too many times");
  await other.close();
});

test("shows the password of a URL in no message", async () => {
  const url = `${mirror.base.replace("//", "//ann:secret@")}/nothing`;
  for (const attempt of [() => get(url), () => fetchText(fetcher, url)])
    await expect(attempt()).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+\/nothing does not exist \(404\)$/);
  await mirror.close();
  await expect(get(url)).rejects.toThrow(/^cannot reach http:\/\/127\.0\.0\.1:\d+\/nothing: /);
  await mirror.open();
});

test("rejects an invalid URL", async () => {
  await expect(get("mirror.example.org/kube-apiserver")).rejects.toThrow("is not a valid URL");
  await expect(get("file:///etc/passwd")).rejects.toThrow("is not a valid URL");
});

test("uses the environment's proxy except for hosts in NO_PROXY", async () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    const to = new URL(request.url ?? "");
    ask(`${mirror.base}${to.pathname}`, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = `http://ann:pw@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const env = { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: "straight.invalid" };
  const proxied = new Fetcher({ proxyFor: (url) => proxyFromEnvironment(url, env) });
  await get("http://mirror.invalid/kube-apiserver", proxied);
  expect(await arrived()).toBe(true);
  const authorization = `Basic ${Buffer.from("ann:pw").toString("base64")}`;
  expect(asked).toEqual([`GET http://mirror.invalid/kube-apiserver ${authorization}`]);
  await expect(fetchText(proxied, "https://mirror.invalid/x")).rejects.toThrow(
    /^cannot reach https:\/\/mirror\.invalid\/x through the proxy 127\.0\.0\.1:\d+: .*403/,
  );
  expect(asked.at(-1)).toBe("CONNECT mirror.invalid:443");
  await expect(fetchText(proxied, "http://straight.invalid/x")).rejects.toThrow(/cannot reach/);
  expect(asked).toHaveLength(2);
  await proxied.close();
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

describe("behind a dial gate", () => {
  test("dials what the gate allows, with SHA-512 too", async () => {
    const guarded = new Fetcher({ proxyFor: () => "http://127.0.0.1:1", gate: openDialGate() });
    const digest = createHash("sha512").update(bytes).digest("hex");
    await downloadFile({ fetcher: guarded, url: `${mirror.base}/kube-apiserver`, file, digest });
    await guarded.close();
    expect(await arrived()).toBe(true);
  });

  test.each([
    ["an address", (base: string): string => base],
    ["a name that resolves to one", (base: string): string => base.replace("127.0.0.1", "localhost")],
  ])("refuses %s of the management host", async (_what, urlOf) => {
    const guarded = new Fetcher({ proxyFor: () => undefined, gate: systemDialGate() });
    await expect(get(`${urlOf(mirror.base)}/kube-apiserver`, guarded)).rejects.toMatchObject({ problem: "address" });
    await guarded.close();
    expect(mirror.asked).toEqual([]);
  });

  test("refuses such an address as the target of a redirect", async () => {
    const guarded = new Fetcher({
      proxyFor: () => undefined,
      gate: systemDialGate([parseAddressRange(`127.0.0.1/32:${new URL(mirror.base).port}`) ?? []].flat()),
    });
    mirror.instead = (_request, response) => {
      response.writeHead(302, { location: "http://127.0.0.1:9/secret" }).end();
      return true;
    };
    await expect(get(undefined, guarded)).rejects.toMatchObject({ problem: "address" });
    await guarded.close();
  });
});

test("refuses a checksum that is neither SHA-256 nor SHA-512", async () => {
  const url = `${mirror.base}/kube-apiserver`;
  await expect(downloadFile({ fetcher, url, file, digest: "abc" })).rejects.toMatchObject({ problem: "checksum" });
});
