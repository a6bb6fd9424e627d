import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterEach, beforeEach, expect, test } from "vitest";
import { enrolmentLine } from "../enrolment.ts";
import { identify } from "./enrol.ts";
import { renewalDue } from "./identity.ts";

const DAY = 24 * 3600_000;
const clock = new VirtualClock();
let dir: string;
let certPem: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "capstan-enrol-"));
  const random = seededRandom(1);
  const notBeforeMs = clock.now();
  const ca = await createCertificateAuthority({ commonName: "ca", notBeforeMs, validMs: 900 * DAY, random });
  const leaf = {
    commonName: "byoh:host:default/h1:aaaaaa",
    usages: ["client" as const],
    nowMs: notBeforeMs,
    validMs: 90 * DAY,
    random,
  };
  ({ certPem } = await issueCertificate(ca, leaf));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const deps = () => ({ clock, random: seededRandom(2), stateDir: dir });
/** Starts an agent's enrolment; its pauses pass at once. */
async function start(line?: string, at = clock): Promise<Awaited<ReturnType<typeof identify>>> {
  let over = false;
  const started = identify(line === undefined ? {} : { line }, { ...deps(), clock: at }, () => undefined).finally(
    () => {
      over = true;
    },
  );
  started.catch(() => undefined);
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (line !== undefined) await at.advance(100);
  }
  return await started;
}

const lineOf = (id: string) =>
  enrolmentLine({
    server: "https://127.0.0.1:1",
    caPem: "",
    namespace: "default",
    name: "h1",
    token: { id, secret: "s" },
  });
const known = (): void => {
  const identity = {
    server: "https://127.0.0.1:1",
    caPem: "",
    namespace: "default",
    name: "h1",
    tokenID: "aaaaaa",
    certPem,
    keyPem: "",
  };
  writeFileSync(join(dir, "identity.json"), JSON.stringify(identity));
};

test("a certificate is renewed when a third of its life is left, or at once if it is of before enrolments had numbers", () => {
  const enrolment = { server: "", caPem: "", namespace: "default", name: "h1", tokenID: "aaaaaa" };
  expect(renewalDue(enrolment, certPem, clock.now() + 59 * DAY)).toBe(false);
  expect(renewalDue(enrolment, certPem, clock.now() + 61 * DAY)).toBe(true);
  expect(renewalDue({ ...enrolment, tokenID: "bbbbbb" }, certPem, clock.now())).toBe(true);
});

test("a host that knows who it is needs no line, and does not use the same token twice", async () => {
  known();
  expect((await start()).name).toBe("h1");
  expect((await start(lineOf("aaaaaa"))).certPem).toBe(certPem);
  // Another token means: enrol anew. Nobody answers here.
  await expect(start(lineOf("bbbbbb"))).rejects.toThrow(/cannot be reached.*see that this host can reach/);
});

test.each([
  ["no line at all", undefined, "not enrolled yet: run the line that `capstan host add NAME` prints"],
  ["a line that was cut when it was copied", lineOf("aaaaaa").slice(0, 40), "is not complete: copy the whole line"],
  ["a line that is none", "hello", "is not complete: copy the whole line"],
])("%s is told with what to do", async (_, line, message) => {
  await expect(start(line)).rejects.toThrow(message);
});

test("an expired certificate is told with both clocks, and how to get another", async () => {
  known();
  const late = new VirtualClock(clock.now() + 91 * DAY);
  for (const line of [undefined, lineOf("aaaaaa")])
    await expect(start(line, late)).rejects.toThrow(
      /the certificate of this host ended at .* \(the clock says .*\): set the clock right, or run the line that `capstan host add h1` prints/,
    );
  await expect(start(lineOf("bbbbbb"), late)).rejects.toThrow("cannot be reached");
});

test("an enrolment that was interrupted goes on with the request it had made, since its token is good for one alone", async () => {
  const begun = (): string => readFileSync(join(dir, "request.json"), "utf8");
  await expect(start(lineOf("aaaaaa"))).rejects.toThrow("cannot be reached");
  const first = begun();
  expect(statSync(join(dir, "request.json")).mode & 0o777).toBe(0o600);
  await expect(start(lineOf("aaaaaa"))).rejects.toThrow("cannot be reached");
  expect(begun()).toBe(first);
  await expect(start(lineOf("bbbbbb"))).rejects.toThrow("cannot be reached");
  expect(begun()).not.toBe(first);
});

test("a host with a long name enrols: its request has no label, whose value could be too long", async () => {
  const asked: { metadata: { name: string; labels?: object } }[] = [];
  const resources = [{ name: "certificatesigningrequests", kind: "CertificateSigningRequest", namespaced: false }];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      if (request.method === "POST") asked.push(JSON.parse(body) as (typeof asked)[number]);
      const isList = request.url?.split("?")[0]?.endsWith("/v1") === true;
      const status = { certificate: Buffer.from(certPem).toString("base64") };
      response.writeHead(request.method === "POST" ? 201 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isList ? { kind: "APIResourceList", resources } : { ...asked[0], status }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const name = `${"rack-".repeat(12)}a`;
    const where = { server: `http://127.0.0.1:${port}`, caPem: "", namespace: "default", name };
    const identity = await start(enrolmentLine({ ...where, token: { id: "cccccc", secret: "s" } }));
    expect(identity).toMatchObject({ name, certPem });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.metadata.name).toContain(name);
    expect(asked[0]?.metadata.labels).toBeUndefined();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
