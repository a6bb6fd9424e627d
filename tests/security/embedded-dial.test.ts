import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { seededRandom, type Transport, VirtualClock } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { type Credentials, fixedCredentials, openDialGate } from "@capstan/runtime";
import { type EmbeddedCluster, EmbeddedClusters } from "@capstan/workloads";
import { afterEach, beforeEach, expect, it } from "vitest";

/**
 * Attacker: a tenant that has seen the certificate of another tenant's cluster administrator (certificates are public: they are in logs,
 * CSRs and TLS handshakes), but not its key. A kubeconfig Secret that names the victim's Embedded cluster makes the manager dial it in
 * process, where no TLS handshake asks for the key. The prize is a Secret in the victim's cluster.
 */
const SECRETS = "/api/v1/namespaces/default/secrets";
const HOUR_MS = 3_600_000;
const random = seededRandom(3);
let clusters: EmbeddedClusters;
let victim: EmbeddedCluster;
let ca: CertificateAndKey;
let admin: CertificateAndKey;
let nowMs: number;

beforeEach(async () => {
  const clock = new VirtualClock();
  nowMs = clock.now();
  clusters = new EmbeddedClusters({ clock, random, log: () => undefined, gate: openDialGate() });
  const times = { notBeforeMs: nowMs - HOUR_MS, validMs: 9 * HOUR_MS };
  ca = await createCertificateAuthority({ commonName: "kubernetes", ...times, random });
  const leaf = { nowMs, validMs: HOUR_MS, random };
  admin = await issueCertificate(ca, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    ...leaf,
  });
  const serving = (name: string): Promise<CertificateAndKey> =>
    issueCertificate(ca, { commonName: "kube-apiserver", dnsNames: [name], usages: ["server"], ...leaf });
  victim = await clusters.ensure("victim/cluster", { ca, serving });
  await victim.server.admin().request({
    method: "POST",
    path: SECRETS,
    headers: { "content-type": "application/json" },
    body: { metadata: { name: "loot" }, stringData: { password: "hunter2" } },
  });
});
afterEach(() => clusters.close());

function dial(credentials: Credentials): Transport {
  const transport = clusters.dial({
    server: `https://127.0.0.1:6443${victim.path}`,
    tls: { caPem: ca.certPem },
    credentials: fixedCredentials(credentials),
  });
  if (transport === undefined) throw new Error("the cluster is not known");
  return transport;
}

async function stolen(credentials: Credentials): Promise<string> {
  try {
    return JSON.stringify((await dial(credentials).request({ method: "GET", path: `${SECRETS}/loot` })).body);
  } catch (error) {
    return (error as Error).message;
  }
}

const LOOT = Buffer.from("hunter2").toString("base64");
const REFUSED = "the private key of the client certificate is missing or belongs to another certificate";

/** The attacker's own scalar with the victim's public point: tools that compare public keys take it for the victim's key. */
function forgedKey(certPem: string): string {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  const { x, y } = createPublicKey(certPem).export({ format: "jwk" });
  const { d } = own;
  const scalar = Buffer.from(d ?? "", "base64url");
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x ?? "", "base64url"), Buffer.from(y ?? "", "base64url")]);
  // ECPrivateKey (RFC 5915): version 1, the scalar, the curve and a public key that nobody compares with the scalar.
  const der = Buffer.concat([
    Buffer.from("30770201010420", "hex"),
    scalar,
    Buffer.from("a00a06082a8648ce3d030107a144034200", "hex"),
    point,
  ]);
  const pem = `-----BEGIN EC PRIVATE KEY-----\n${der.toString("base64")}\n-----END EC PRIVATE KEY-----\n`;
  expect(createPublicKey(createPrivateKey(pem)).export({ format: "jwk" })).toMatchObject({ x, y });
  return pem;
}

it("refuses an administrator's certificate without a key", async () => {
  const answer = await stolen({ certPem: admin.certPem });
  expect(answer).not.toContain(LOOT);
  expect(answer).toBe(REFUSED);
});

it("refuses it with the key of another certificate", async () => {
  const other = await issueCertificate(ca, { commonName: "x", usages: ["client"], nowMs, validMs: HOUR_MS, random });
  expect(await stolen({ certPem: admin.certPem, keyPem: other.keyPem })).toBe(REFUSED);
});

it("refuses it with a key that only carries its public part", async () => {
  expect(await stolen({ certPem: admin.certPem, keyPem: forgedKey(admin.certPem) })).toBe(REFUSED);
});

it("refuses a serving certificate as a client's, even with its key", async () => {
  const serving = await issueCertificate(ca, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["server"],
    nowMs,
    validMs: HOUR_MS,
    random,
  });
  expect(await stolen(serving)).not.toContain(LOOT);
});

it("lets the administrator in", async () => {
  expect(await stolen(admin)).toContain(LOOT);
});
