import { createServer } from "node:http";
import { createServer as createTlsServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterEach, expect, test } from "vitest";
import { attemptProbe, probeConnection } from "./probe.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const plain = (text: string): string => text;

test("a connection is kept between attempts, and reopened when the other side has closed it", async () => {
  let connections = 0;
  let answer = 200;
  const server = createServer((_request, response) =>
    response.writeHead(answer).end("[+]ping ok\n[-]etcd failed\n[-]poststarthook/late failed: reason withheld\n"),
  );
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const probe = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz` };
  const connection = probeConnection(probe);
  closing.push(
    () => server.close(),
    () => connection.destroy(),
  );
  for (let attempt = 0; attempt < 3; attempt++) expect(await attemptProbe(probe, plain, connection)).toBeUndefined();
  expect(connections).toBe(1);
  server.closeAllConnections();
  expect(await attemptProbe(probe, plain, connection)).toBeUndefined();
  expect(connections).toBe(2);
  answer = 500;
  expect(await attemptProbe(probe, plain, connection)).toEqual({
    text: "/readyz answered 500: [-]etcd failed",
    failing: ["etcd", "poststarthook/late"],
    sharesPort: false,
    silent: false,
  });
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  expect(await attemptProbe(probe, plain, connection)).toMatchObject({
    text: expect.stringContaining("ECONNREFUSED"),
    silent: true,
  });
});

test("of several programs on one port only the answer of the expected one counts, also over a kept connection", async () => {
  const random = seededRandom(3);
  const nowMs = systemClock.now();
  const authority = await createCertificateAuthority({
    commonName: "ca",
    notBeforeMs: nowMs,
    validMs: 1e13,
    random,
  });
  const serve = async (name: string, port: number): Promise<Server> => {
    const leaf = await issueCertificate(authority, {
      commonName: name,
      dnsNames: [`${name}.internal`],
      usages: ["server"],
      nowMs,
      validMs: 1e9,
      random,
    });
    const server = createTlsServer({ cert: leaf.certPem, key: leaf.keyPem }, (_request, response) =>
      response.end("ok"),
    );
    await new Promise<void>((resolve) => {
      server.listen(port, "127.0.0.1", resolve);
    });
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return server;
  };
  const first = await serve("first", 0);
  const { port } = first.address() as AddressInfo;
  const probe = { url: `https://127.0.0.1:${port}/readyz`, servedBy: "second.internal" };
  const connection = probeConnection(probe);
  closing.push(() => connection.destroy());
  expect(await attemptProbe(probe, plain, connection)).toEqual({
    text: "does not respond yet; another program on its port does",
    failing: [],
    sharesPort: true,
    silent: false,
  });
  first.closeAllConnections();
  await new Promise((resolve) => {
    first.close(resolve);
  });
  await serve("second", port);
  expect(await attemptProbe(probe, plain, connection)).toBeUndefined();
});
