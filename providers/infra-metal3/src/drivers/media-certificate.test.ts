import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mediaCertificate } from "./media-certificate.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-media-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test("each start gets a certificate of the same authority, for the address that it serves at", async () => {
  const options = { dataDir, clock: new VirtualClock(), random: seededRandom(1) };
  const first = new X509Certificate((await mediaCertificate(options, "192.0.2.7")).certPem);
  const second = new X509Certificate((await mediaCertificate(options, "bmc.example")).certPem);
  const authority = new X509Certificate(await readFile(join(dataDir, "media/ca.crt")));
  for (const each of [first, second]) expect(each.verify(authority.publicKey)).toBe(true);
  expect(first.checkIP("192.0.2.7")).toBe("192.0.2.7");
  expect(second.checkHost("bmc.example")).toBe("bmc.example");
  expect((await stat(join(dataDir, "media/ca.key"))).mode & 0o777).toBe(0o600);
});
