/**
 * The HTTPS server on a data directory: `node api-server.js DIRECTORY PORT HISTORY`. Prints READY with how to reach it. A second port reports
 * the longest stall of the event loop, in milliseconds: by the clock since the last /reset,
 * or also in processor time between /start and /stop.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { createApiServer, openDiskReserve, openLmdbStore } from "@capstan/apiserver";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { NO_STALL, type Stall, stallMeter } from "./stall-meter.ts";

const [directory = "", port = "0", history = "10000"] = process.argv.slice(2);
const DAY_MS = 86_400_000;

interface Keys {
  ca: CertificateAndKey;
  serving: CertificateAndKey;
  admin: CertificateAndKey;
}

async function keys(): Promise<Keys> {
  const file = join(directory, "keys.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Keys;
  const common = { nowMs: Date.now(), validMs: 30 * DAY_MS, random: systemRandom };
  const ca = await createCertificateAuthority({
    commonName: "faults",
    notBeforeMs: Date.now() - DAY_MS,
    validMs: 60 * DAY_MS,
    random: systemRandom,
  });
  const serving = await issueCertificate(ca, {
    ...common,
    commonName: "faults",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
  });
  const admin = await issueCertificate(ca, {
    ...common,
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
  });
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, JSON.stringify({ ca, serving, admin }), { mode: 0o600 });
  return { ca, serving, admin };
}

const reserve = openDiskReserve(join(directory, "store"));
const { ca, serving, admin } = await keys();
const api = await createApiServer({
  store: await openLmdbStore(join(directory, "store"), { clock: systemClock, reserve }),
  clock: systemClock,
  random: systemRandom,
  history: Number(history),
  log: (message, error) => console.error(message, error),
});
const listener = await api.listen({
  host: "127.0.0.1",
  port: Number(port),
  tls: { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem },
});
reserve.started();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const meter = stallMeter();
const stalls = createServer((call, response) => {
  let longest: Stall = { ...NO_STALL, clockMs: delay.max / 1e6 };
  if (call.url === "/reset") delay.reset();
  if (call.url === "/start") meter.start();
  if (call.url === "/stop") longest = meter.stop();
  response.end(JSON.stringify(longest));
});
await new Promise<void>((resolve) => stalls.listen(0, "127.0.0.1", resolve));
const endpoint = {
  port: listener.port,
  stallsPort: (stalls.address() as AddressInfo).port,
  caPem: ca.certPem,
  certPem: admin.certPem,
  keyPem: admin.keyPem,
};
console.log(`READY ${JSON.stringify(endpoint)}`);
