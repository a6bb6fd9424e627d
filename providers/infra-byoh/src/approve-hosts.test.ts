import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { ByoHost, byoHost, enrolmentRoles, enrolmentSecret, HOST_GROUP, hostUser } from "@capstan/host-agent";
import { createCertificateAuthority, createCertificateRequest, parseCertificate } from "@capstan/pki";
import { Cache, Client, type Recorder, silentLogger, startControllers } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hostCertificateController } from "./approve-hosts.ts";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };
const HOLDER = {
  name: `system:bootstrap:${TOKEN.id}`,
  groups: ["system:bootstrappers", "system:bootstrappers:byoh", "system:authenticated"],
};
const agentOf = (name: string) => ({
  name: hostUser("default", name),
  groups: [HOST_GROUP, "system:authenticated"],
});
const STRANGER = { name: "mallory", groups: ["system:masters", "system:authenticated"] };
const CSRS = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };
const USED = "the token has been used already: make a new one with capstan host add";

let clock: VirtualClock;
let server: ApiServer;
let stop: () => Promise<void>;
let count = 0;
/** `REASON HOST: NOTE` of every event. */
let told: string[];

beforeEach(async () => {
  clock = new VirtualClock();
  const random = seededRandom(1);
  const notBeforeMs = clock.now();
  const ca = await createCertificateAuthority({ commonName: "kubernetes", notBeforeMs, validMs: 1e12, random });
  server = await createApiServer({ store: memoryStore(), clock, random, ca });
  await server.registerCrds([ByoHost.crd()]);
  const client = new Client(server.admin(), { fieldManager: "test", clock });
  const hosts = ["a", "b"].map((name) => byoHost("default", name, {}));
  for (const object of [...enrolmentRoles(), ...hosts, enrolmentSecret(TOKEN, "default", "a", clock)])
    await client.apply(object);
  const cache = new Cache(client, { clock, random });
  cache.informer(ByoHost);
  const aborter = new AbortController();
  told = [];
  const recorder: Recorder = {
    event: ({ metadata }, _type, reason, _action, note) => void told.push(`${reason} ${metadata.name}: ${note}`),
  };
  const deps = { cache, clock, random, log: silentLogger, recorder };
  const running = startControllers([hostCertificateController()], deps, aborter.signal);
  stop = async () => {
    aborter.abort(new Error("done"));
    const ended = Promise.all([running.finished, cache.stop()]);
    await clock.advance(0);
    await ended;
    await server.close();
  };
});
afterEach(() => stop());

interface Asked {
  user?: { name: string; groups: string[] };
  host?: string;
  request?: Partial<Parameters<typeof createCertificateRequest>[0]>;
  spec?: object;
}

/** Sends a request as somebody and gives back what became of it. */
async function ask({ user = HOLDER, host = "a", request = {}, spec = {} }: Asked): Promise<[string, string, string]> {
  const commonName = hostUser("default", host);
  const { csrPem } = await createCertificateRequest({ commonName, organizations: [HOST_GROUP], ...request });
  const name = `csr-${++count}`;
  const sent = {
    request: Buffer.from(csrPem).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["client auth"],
    ...spec,
  };
  const client = new Client(server.transport(user), { fieldManager: "agent", clock });
  const object: Unstructured = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: sent,
  };
  await client.create(object);
  for (let i = 0; i < 10; i++) await clock.advance(200);
  const { conditions = [], certificate } = (server.internal.get(CSRS, "", name)?.["status"] ?? {}) as {
    conditions?: { type: string; message: string }[];
    certificate?: string;
  };
  const subject =
    certificate === undefined ? "" : parseCertificate(Buffer.from(certificate, "base64").toString()).subject.commonName;
  return [conditions[0]?.type ?? "", conditions[0]?.message ?? "", subject];
}

test("a token is good for its host once, and certificates only for their own renewal", async () => {
  const good = ["Approved", "the host proved who it is", "byoh:host:default/a"];
  expect(await ask({})).toEqual(good);
  expect(await ask({})).toEqual(["Denied", USED, ""]);
  expect(told).toEqual([`HostRefused a: ${HOLDER.name} asked for this host's certificate and was refused: ${USED}`]);
  expect(await ask({ user: agentOf("a") })).toEqual(good);
});

test.each<[string, Asked, string]>([
  ["a token of another host", { host: "b" }, "the token was made for another host"],
  [
    "a renewal for another host's name",
    { user: agentOf("b") },
    "byoh:host:default/b may not ask for a certificate of host default/a",
  ],
  ["a stranger", { user: STRANGER }, "mallory may not ask for a certificate of host default/a"],
  ["a token that does not exist any more", { user: { ...HOLDER, name: "system:bootstrap:zzzzzz" } }, USED],
  [
    "a host that was removed",
    { user: agentOf("gone"), host: "gone" },
    "there is no ByoHost default/gone: add it with capstan host add",
  ],
  [
    "a further organization",
    { request: { organizations: [HOST_GROUP, "ops"] } },
    "the only organization must be byoh:hosts",
  ],
  ["no organization", { request: { organizations: [] } }, "the only organization must be byoh:hosts"],
  ["a further usage", { spec: { usages: ["client auth", "digital signature"] } }, "the only usage must be client auth"],
  ["a DNS name", { request: { dnsNames: ["api.example"] } }, "there must be no alternative names"],
  ["an address", { request: { ipAddresses: ["192.0.2.1"] } }, "there must be no alternative names"],
])("%s is refused, and leaves the token good", async (_, asked, message) => {
  expect(await ask(asked)).toEqual(["Denied", message, ""]);
  if (asked.host !== "gone") expect(told).toEqual([expect.stringContaining(`was refused: ${message}`)]);
  expect((await ask({}))[0]).toBe("Approved");
});

test("requests that are not of hosts are left to others", async () => {
  expect(await ask({ user: STRANGER, request: { commonName: "jane" } })).toEqual(["", "", ""]);
});
