/** Our side of the comparison: the embedded API over LMDB, in a process of its own. `node server.js DIR` prints READY {json}. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { createApiServer, openLmdbStore } from "@capstan/apiserver";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";

const dir = process.argv[2] ?? "";
const port = Number(process.argv[3] ?? 0);
const DAY_MS = 86_400_000;

interface Keys {
  ca: { certPem: string; keyPem: string };
  serving: { certPem: string; keyPem: string };
  admin: { certPem: string; keyPem: string };
}

async function keys(): Promise<Keys> {
  const file = join(dir, "keys.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Keys;
  const common = { nowMs: Date.now(), validMs: 30 * DAY_MS, random: systemRandom };
  const ca = await createCertificateAuthority({
    commonName: "bench",
    notBeforeMs: Date.now() - DAY_MS,
    validMs: 60 * DAY_MS,
    random: systemRandom,
  });
  const serving = await issueCertificate(ca, {
    ...common,
    commonName: "bench",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
  });
  const admin = await issueCertificate(ca, {
    ...common,
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
  });
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, JSON.stringify({ ca, serving, admin }), { mode: 0o600 });
  return { ca, serving, admin };
}

const { ca, serving, admin } = await keys();
const store = await openLmdbStore(join(dir, "store"), { clock: systemClock });
const api = await createApiServer({
  store,
  clock: systemClock,
  random: systemRandom,
  log: (message, error) => console.error(message, error),
});
const listener = await api.listen({
  host: "127.0.0.1",
  port,
  tls: { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem },
});
const endpoint = {
  server: `https://127.0.0.1:${listener.port}`,
  caPem: ca.certPem,
  certPem: admin.certPem,
  keyPem: admin.keyPem,
};
console.log(`READY ${JSON.stringify(endpoint)}`);
process.on("SIGTERM", () => void api.close().then(() => process.exit(0)));
