import { seededRandom, type Transport, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { ConfigMap, Secret } from "@capstan/capi";
import {
  ByoHost,
  byoHost,
  ENROLMENT_ANNOTATION,
  enrolmentRoles,
  enrolmentSecret,
  HOST_GROUP,
  hostUser,
} from "@capstan/host-agent";
import { createCertificateAuthority, createCertificateRequest, parseCertificate } from "@capstan/pki";
import { Cache, Client, type Recorder, silentLogger, startControllers } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Hosts } from "../machine/hosts.ts";
import { hostCertificateController, USED_ANNOTATION } from "./approve-hosts.ts";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };
const HOLDER = {
  name: `system:bootstrap:${TOKEN.id}`,
  groups: ["system:bootstrappers", "system:bootstrappers:byoh", "system:authenticated"],
};
const agentOf = (name: string, enrolment: string | undefined = TOKEN.id) => ({
  name: hostUser("default", name, enrolment),
  groups: [HOST_GROUP, "system:authenticated"],
});
const STRANGER = { name: "mallory", groups: ["system:masters", "system:authenticated"] };
const CSRS = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };
const USED = "the token was already used: create a new one with capstan host add";

let clock: VirtualClock;
let server: ApiServer;
let client: Client;
let stop: () => Promise<void>;
let count = 0;
/** An action of another client that runs once, after the controller has read the object of this name. */
let afterRead: { name: string; act(): Promise<unknown> } | undefined;
/** `REASON HOST: NOTE` of every event. */
let told: string[];

beforeEach(async () => {
  clock = new VirtualClock();
  const random = seededRandom(1);
  const notBeforeMs = clock.now();
  const ca = await createCertificateAuthority({ commonName: "kubernetes", notBeforeMs, validMs: 1e12, random });
  server = await createApiServer({ store: memoryStore(), clock, random, ca });
  await server.registerCrds([ByoHost.crd()]);
  client = new Client(server.admin(), { fieldManager: "test", clock });
  for (const role of enrolmentRoles()) await client.apply(role);
  await add("b");
  await client.apply(enrolmentSecret(TOKEN, await add("a"), clock));
  const cache = new Cache(new Client(interfered(server.admin()), { fieldManager: "test", clock }), { clock, random });
  cache.informer(ByoHost);
  const hosts = new Hosts();
  hosts.bind(cache);
  const aborter = new AbortController();
  told = [];
  const recorder: Recorder = {
    event: ({ metadata }, _type, reason, _action, note) => void told.push(`${reason} ${metadata.name}: ${note}`),
  };
  const deps = { cache, clock, random, log: silentLogger, recorder };
  const running = startControllers([hostCertificateController(hosts)], deps, aborter.signal);
  stop = async () => {
    aborter.abort(new Error("done"));
    const ended = Promise.all([running.finished, cache.stop()]);
    await clock.advance(0);
    await ended;
    await server.close();
  };
});
afterEach(() => stop());

function interfered(inner: Transport): Transport {
  return {
    request: async (request, signal) => {
      const response = await inner.request(request, signal);
      const due = request.method === "GET" && request.path.endsWith(`/${afterRead?.name}`) ? afterRead : undefined;
      if (due !== undefined) afterRead = undefined;
      await due?.act();
      return response;
    },
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
  };
}

const add = (name: string) => client.apply(byoHost("default", name, {}));

/** Whether a user can act as the agent of a host. */
async function canAct(user: { name: string; groups: string[] }, name = "a"): Promise<boolean> {
  const agent = new Client(server.transport(user), { fieldManager: "agent", clock });
  return await agent
    .patchStatus({ kind: ByoHost, namespace: "default", name }, { status: { agentVersion: user.name } })
    .then(
      () => true,
      () => false,
    );
}

interface Asked {
  user?: { name: string; groups: string[] };
  host?: string;
  request?: Partial<Parameters<typeof createCertificateRequest>[0]>;
  /** Instead of one that is made from `request`. */
  csrPem?: string;
  spec?: object;
}

/** `openssl req -subj "/O=byoh:hosts/CN=byoh:host:default\\/a:abcdef" -addext "subjectAltName=email:ops@example.com,URI:spiffe://example/ops"` */
const WITH_OTHER_NAMES = `-----BEGIN CERTIFICATE REQUEST-----
MIIBODCB3wIBADA6MRMwEQYDVQQKDApieW9oOmhvc3RzMSMwIQYDVQQDDBpieW9o
Omhvc3Q6ZGVmYXVsdC9hOmFiY2RlZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BLGDoVv4Fc+EX7uqOJEejMhvMWpE6AKbOGV0QjzF10IljEfIEPpLz08eezFVylJn
o/yaLpGHS6yiDiiRoYu2xRGgQzBBBgkqhkiG9w0BCQ4xNDAyMDAGA1UdEQQpMCeB
D29wc0BleGFtcGxlLmNvbYYUc3BpZmZlOi8vZXhhbXBsZS9vcHMwCgYIKoZIzj0E
AwIDSAAwRQIgDxst8nU8D8KS2K2HDLW3VAb4C+ZNXqQ5qJh4x649HlICIQC0rP8T
wZH3vVUf1iA91R/7c9GSVewTcaSvyFFFysB/2w==
-----END CERTIFICATE REQUEST-----
`;

/** Sends a request as a user and returns its outcome. */
async function ask(asked: Asked): Promise<[string, string, string]> {
  const { user = HOLDER, host = "a", request = {}, spec = {} } = asked;
  const commonName = hostUser("default", host, TOKEN.id);
  const made = await createCertificateRequest({ commonName, organizations: [HOST_GROUP], ...request });
  const { csrPem = made.csrPem } = asked;
  const name = `csr-${++count}`;
  const sent = {
    request: Buffer.from(csrPem).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["client auth"],
    ...spec,
  };
  const asker = new Client(server.transport(user), { fieldManager: "agent", clock });
  const object: Unstructured = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: sent,
  };
  await asker.create(object);
  for (let i = 0; i < 10; i++) await clock.advance(200);
  const { conditions = [], certificate } = (server.internal.get(CSRS, "", name)?.["status"] ?? {}) as {
    conditions?: { type: string; message: string }[];
    certificate?: string;
  };
  const subject =
    certificate === undefined ? "" : parseCertificate(Buffer.from(certificate, "base64").toString()).subject.commonName;
  return [conditions[0]?.type ?? "", conditions[0]?.message ?? "", subject];
}

test("a token is valid for its host once, and certificates only for their own renewal", async () => {
  const good = ["Approved", "the host proved its identity", "byoh:host:default/a:abcdef"];
  expect(await ask({})).toEqual(good);
  expect(await ask({})).toEqual(["Denied", USED, ""]);
  expect(told).toEqual([`HostRefused a: ${HOLDER.name} requested this host's certificate and was refused: ${USED}`]);
  expect(await ask({ user: agentOf("a") })).toEqual(good);
});

test.each<[string, Asked, string]>([
  ["a token of another host", { host: "b" }, "the token was created for another host"],
  [
    "a renewal for another host's name",
    { user: agentOf("b") },
    "byoh:host:default/b:abcdef may not request a certificate of host default/a",
  ],
  ["a stranger", { user: STRANGER }, "mallory may not request a certificate of host default/a"],
  [
    "a token that does not exist any more",
    {
      user: { ...HOLDER, name: "system:bootstrap:zzzzzz" },
      request: { commonName: hostUser("default", "a", "zzzzzz") },
    },
    USED,
  ],
  [
    "a host that was removed",
    { user: agentOf("gone"), host: "gone" },
    "there is no ByoHost default/gone: add it with capstan host add",
  ],
  [
    "another number than that of the token",
    { request: { commonName: "byoh:host:default/a:zzzzzz" } },
    "the request must contain the id of the agent's token: copy the current agent to the host",
  ],
  [
    "no number, as it was before there were any",
    { request: { commonName: "byoh:host:default/a" } },
    "the request must contain the id of the agent's token: copy the current agent to the host",
  ],
  [
    "a certificate of an earlier enrolment",
    { user: agentOf("a", "zzzzzz") },
    "byoh:host:default/a:zzzzzz belongs to an earlier enrolment: run the command that capstan host add a prints on the host",
  ],
  [
    "one of before there were numbers, while the host has not enrolled",
    { user: { ...agentOf("a"), name: "byoh:host:default/a" } },
    "byoh:host:default/a belongs to an earlier enrolment: run the command that capstan host add a prints on the host",
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
  ["a mail address and a URI", { csrPem: WITH_OTHER_NAMES }, "there must be no alternative names"],
  [
    "another signer",
    { spec: { signerName: "example.com/other" } },
    "the signer must be kubernetes.io/kube-apiserver-client",
  ],
])("rejects %s, and leaves the token valid", async (_, asked, message) => {
  expect(await ask(asked)).toEqual(["Denied", message, ""]);
  if (asked.host !== "gone") expect(told).toEqual([expect.stringContaining(`was refused: ${message}`)]);
  expect((await ask({}))[0]).toBe("Approved");
});

test("a token that another manager spends at the same moment is valid for one of the two requests", async () => {
  const token = { kind: Secret, namespace: "kube-system", name: `bootstrap-token-${TOKEN.id}` };
  const spent = { metadata: { annotations: { [USED_ANNOTATION]: "another" } } };
  afterRead = { name: token.name, act: () => client.patch(token, spent) };
  expect(await ask({})).toEqual(["Denied", USED, ""]);
});

test("a token that is spent lives only until its certificate is fetched", async () => {
  await ask({});
  const secret = await client.get(Secret, { namespace: "kube-system", name: `bootstrap-token-${TOKEN.id}` });
  const ends = Date.parse(Buffer.from(secret?.data?.["expiration"] ?? "", "base64").toString());
  expect(ends - clock.now()).toBeGreaterThan(0);
  expect(ends - clock.now()).toBeLessThanOrEqual(10 * 60_000);
});

test("a request that its token was spent on before the manager was killed is granted by the next one", async () => {
  const annotations = { [USED_ANNOTATION]: `csr-${count + 1}` };
  const token = { kind: Secret, namespace: "kube-system", name: `bootstrap-token-${TOKEN.id}` };
  await client.patch(token, { metadata: { annotations } });
  expect((await ask({}))[0]).toBe("Approved");
});

test("an agent cannot renew its certificate for another enrolment", async () => {
  await ask({});
  const request = { commonName: hostUser("default", "a", "zzzzzz") };
  expect(await ask({ user: agentOf("a"), request })).toEqual([
    "Denied",
    "byoh:host:default/a:abcdef may not request a certificate for byoh:host:default/a:zzzzzz",
    "",
  ]);
  expect(await canAct(agentOf("a"))).toBe(true);
});

describe("a host that was removed and added under the same name", () => {
  const TOKEN_2 = { id: "second", secret: "0123456789abcdef" };
  const EARLIER =
    "byoh:host:default/a:abcdef belongs to an earlier enrolment: run the command that capstan host add a prints on the host";

  test("rejects the certificate of the earlier one, before and after it has enrolled", async () => {
    await ask({});
    expect(await canAct(agentOf("a"))).toBe(true);
    // Without the command, which would remove the permissions as well.
    await client.delete({ kind: ByoHost, namespace: "default", name: "a" });
    for (let i = 0; i < 10; i++) await clock.advance(1000);
    const again = await add("a");
    expect(await canAct(agentOf("a"))).toBe(false);
    expect((await ask({ user: agentOf("a") })).slice(0, 2)).toEqual(["Denied", EARLIER]);

    await client.apply(enrolmentSecret(TOKEN_2, again, clock));
    const request = { commonName: hostUser("default", "a", TOKEN_2.id) };
    const user = { ...HOLDER, name: `system:bootstrap:${TOKEN_2.id}` };
    expect((await ask({ user, request }))[0]).toBe("Approved");
    expect(await canAct(agentOf("a"))).toBe(false);
    expect(await canAct(agentOf("a", TOKEN_2.id))).toBe(true);
    expect((await ask({ user: agentOf("a") })).slice(0, 2)).toEqual(["Denied", EARLIER]);
    expect((await ask({ user: agentOf("a"), request })).slice(0, 2)).toEqual(["Denied", EARLIER]);
    expect((await ask({ user: agentOf("a", TOKEN_2.id), request }))[0]).toBe("Approved");
  });

  test("rejects a token of the earlier one", async () => {
    await client.delete({ kind: ByoHost, namespace: "default", name: "a" });
    await add("a");
    expect(await ask({})).toEqual([
      "Denied",
      "the token was created for an earlier host of that name: create a new one with capstan host add",
      "",
    ]);
  });
});

test("a host that is removed and added again during a request is not enrolled with the earlier one's token", async () => {
  const replace = async (): Promise<unknown> => {
    await client.delete({ kind: ByoHost, namespace: "default", name: "a" });
    return await add("a");
  };
  afterRead = { name: "a", act: replace };
  expect((await ask({}))[0]).toBe("Denied");
  const host = await client.get(ByoHost, { namespace: "default", name: "a" });
  expect(host?.metadata.annotations?.[ENROLMENT_ANNOTATION]).toBeUndefined();
  expect(await canAct(agentOf("a"))).toBe(false);
});

test("a host that enrols again keeps working until then, and its earlier certificate is invalid afterwards", async () => {
  await ask({});
  const token = { id: "second", secret: "0123456789abcdef" };
  await client.apply(enrolmentSecret(token, await add("a"), clock));
  expect(await canAct(agentOf("a"))).toBe(true);
  const request = { commonName: hostUser("default", "a", token.id) };
  expect((await ask({ user: { ...HOLDER, name: `system:bootstrap:${token.id}` }, request }))[0]).toBe("Approved");
  expect(await canAct(agentOf("a"))).toBe(false);
});

test("restores the removed permissions of an agent when it requests a certificate", async () => {
  await ask({});
  await client.delete({
    kind: {
      group: "rbac.authorization.k8s.io",
      version: "v1",
      kind: "RoleBinding",
      plural: "rolebindings",
      namespaced: true,
    },
    namespace: "default",
    name: "byoh-host-a",
  });
  expect(await canAct(agentOf("a"))).toBe(false);
  await ask({ user: agentOf("a") });
  expect(await canAct(agentOf("a"))).toBe(true);
});

test("a host that enrolled before enrolments had numbers keeps working, and gets one when it renews", async () => {
  const old = { ...agentOf("a"), name: "byoh:host:default/a" };
  const heard = { status: { lastHeartbeatTime: "2026-01-01T00:00:00Z" } };
  await client.patchStatus({ kind: ByoHost, namespace: "default", name: "a" }, heard);
  expect((await ask({ user: old, request: { commonName: old.name } }))[2]).toBe(old.name);
  expect((await ask({ user: old }))[2]).toBe("byoh:host:default/a:abcdef");
  const host = await client.get(ByoHost, { namespace: "default", name: "a" });
  expect(host?.metadata.annotations?.[ENROLMENT_ANNOTATION]).toBe(TOKEN.id);
  expect(await canAct(agentOf("a"))).toBe(true);
  expect(await canAct(old)).toBe(false);
  expect((await ask({ user: old, request: { commonName: old.name } }))[0]).toBe("Denied");
});

test("only the agent of a host that was removed with a node on it learns so", async () => {
  const reasonOf = (): unknown => {
    const { status } = server.internal.get(CSRS, "", `csr-${count}`) as { status?: { conditions?: object[] } };
    return (status?.conditions?.[0] as { reason?: string } | undefined)?.reason;
  };
  const metadata = { namespace: "kube-system", name: "byoh-given-up-abcdef" };
  const data = { host: "default/gone" };
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data } as Unstructured);
  await ask({ user: agentOf("gone"), host: "gone" });
  expect(reasonOf()).toBe("HostGivenUp");
  // Whoever writes a ByoHost chooses its enrolment: a note about another host says nothing of this one.
  await client.patch({ kind: ConfigMap, ...metadata }, { data: { host: "tenant/gone" } });
  await ask({ user: agentOf("gone"), host: "gone" });
  expect(reasonOf()).toBe("HostRefused");
  await ask({ user: agentOf("gone", "zzzzzz"), host: "gone" });
  expect(reasonOf()).toBe("HostRefused");
  await ask({ user: STRANGER, host: "gone" });
  expect(reasonOf()).toBe("HostRefused");
});

test("ignores requests that are not from hosts", async () => {
  expect(await ask({ user: STRANGER, request: { commonName: "jane" } })).toEqual(["", "", ""]);
});
