import { seededRandom, systemClock, systemRandom, type Transport } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { transportCases } from "../testing/transport-suite.ts";
import { fixedCredentials } from "./client-config.ts";
import { httpTransport } from "./http-transport.ts";

let server: ApiServer;
const transports: Record<string, Transport> = {};
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const day = { notBeforeMs: systemClock.now(), validMs: 86_400_000, random: systemRandom };
  const ca = await createCertificateAuthority({ commonName: "test-ca", ...day });
  const leaf = { nowMs: systemClock.now(), validMs: 86_400_000, random: systemRandom };
  const serving = await issueCertificate(ca, {
    commonName: "api",
    dnsNames: ["api.test"],
    usages: ["server"],
    ...leaf,
  });
  const admin = await issueCertificate(ca, {
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    ...leaf,
  });
  server = await createApiServer({
    store: memoryStore(),
    clock: systemClock,
    random: seededRandom(1),
  });
  const tls = { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem };
  const listener = await server.listen({ host: "127.0.0.1", port: 0, tls });
  const config = {
    server: `https://127.0.0.1:${listener.port}`,
    tls: { caPem: ca.certPem, serverName: "api.test" },
    credentials: fixedCredentials({ certPem: admin.certPem, keyPem: admin.keyPem }),
  };
  transports["in process"] = server.admin();
  transports["over HTTPS"] = httpTransport(config, { clock: systemClock });
  const stranger = httpTransport({ ...config, tls: {} }, { clock: systemClock });
  transports["distrustful"] = stranger;
  closing.push(...Object.values(transports).map((transport) => () => transport.close()), () => server.close());
});
afterAll(async () => {
  for (const close of closing) await close();
});

describe.each(["in process", "over HTTPS"])("the embedded API %s", (name) => {
  test.each(transportCases.map((one, index) => ({ ...one, index })))("$name", async ({ run, index }) => {
    const transport = transports[name];
    if (transport === undefined) throw new Error("not started");
    const namespace = `suite-${name.replace(" ", "-").toLowerCase()}-${index}`;
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    expect((await transport.request({ method: "POST", path: "/api/v1/namespaces", body })).status).toBe(201);
    await run(transport, namespace);
  });
});

test("a server whose certificate is not trusted is refused", async () => {
  await expect(transports["distrustful"]?.request({ method: "GET", path: "/readyz" })).rejects.toThrow(/certificate/);
});
