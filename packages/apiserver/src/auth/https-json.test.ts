import { createServer, type Server } from "node:https";
import { seededRandom, settle, VirtualClock } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, beforeAll, expect, it } from "vitest";
import { httpsJson } from "./https-json.ts";

let ca: CertificateAndKey;
let leaf: CertificateAndKey;
let server: Server;
let base: string;
let asked = 0;
beforeAll(async () => {
  const times = { notBeforeMs: Date.UTC(2020, 0), validMs: 3e12, random: seededRandom(1) };
  ca = await createCertificateAuthority({ commonName: "idp", ...times });
  leaf = await issueCertificate(ca, {
    commonName: "idp",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    nowMs: times.notBeforeMs,
    validMs: times.validMs,
    random: seededRandom(2),
  });
  server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (req, res) => {
    asked++;
    if (req.url === "/keys?x=1") res.end(`{"keys":[]}`);
    else if (req.url === "/big") res.end("x".repeat(2_000_000));
    else if (req.url !== "/hang") res.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  base = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it("reads JSON from a server with a certificate of its CA", async () => {
  const clock = new VirtualClock();
  expect(await httpsJson(clock, ca.certPem)(`${base}/keys?x=1`)).toEqual({ keys: [] });
  await expect(httpsJson(clock)(`${base}/keys`)).rejects.toThrow(/certificate/);
  expect(clock.nextTimer()).toBeUndefined();
});

it("trusts a bundle that holds the serving certificate itself, as Go does", async () => {
  expect(await httpsJson(new VirtualClock(), leaf.certPem)(`${base}/keys?x=1`)).toEqual({ keys: [] });
});

it("rejects errors, oversized responses and plain http", async () => {
  const read = httpsJson(new VirtualClock(), ca.certPem);
  await expect(read(`${base}/other`)).rejects.toThrow(/status 503/);
  await expect(read(`${base}/big`)).rejects.toThrow();
  await expect(read("http://127.0.0.1/x")).rejects.toThrow(/no https URL/);
});

it("gives up after ten seconds", async () => {
  const clock = new VirtualClock();
  const before = asked;
  const result = httpsJson(clock, ca.certPem)(`${base}/hang`).catch((error: unknown) => String(error));
  while (asked === before) await settle();
  await clock.advance(10_000);
  expect(await result).toContain("did not answer within 10 s");
});
