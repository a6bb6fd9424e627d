import { seededRandom, systemClock, systemRandom, type Transport } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { transportCases } from "../testing/transport-suite.ts";
import { fixedCredentials } from "./client-config.ts";
import { httpTransport } from "./http-transport.ts";

let server: ApiServer;
const transports: Record<string, Transport> = {};
let identity = 0;
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
  const jane = await issueCertificate(ca, { commonName: "jane", usages: ["client"], ...leaf });
  transports["renewing"] = httpTransport(
    {
      ...config,
      credentials: { get: () => Promise.resolve([admin, jane][identity] ?? admin), invalidate: () => false },
    },
    { clock: systemClock },
  );
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

test("a new client certificate is used from the next request on", async () => {
  const transport = transports["renewing"];
  const whoami = async (): Promise<unknown> => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const response = await transport?.request({ method: "POST", path, body });
    return (response?.body as { status?: { userInfo?: { username?: string } } } | undefined)?.status?.userInfo
      ?.username;
  };
  expect(await Promise.all([whoami(), whoami()])).toEqual(["admin", "admin"]);
  identity = 1;
  expect(await Promise.all([whoami(), whoami()])).toEqual(["jane", "jane"]);
});

test("a server whose certificate is not trusted is refused", async () => {
  await expect(transports["distrustful"]?.request({ method: "GET", path: "/readyz" })).rejects.toThrow(/certificate/);
});
