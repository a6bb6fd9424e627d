import { execFileSync } from "node:child_process";
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import { seededRandom } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import {
  buildKubeconfig,
  type CertificateAndKey,
  createCertificateAuthority,
  createCertificateRequest,
  createKeyPair,
  createServiceAccountKey,
  isSignedBy,
  issueCertificate,
  type KeyAlgorithm,
  PkiError,
  parseCertificate,
  parseCertificateRequest,
  publicKeyPin,
  signCertificateRequest,
} from "./index.ts";

const NOW = Date.UTC(2027, 2, 4, 5, 6, 7);
const YEAR = 365 * 86_400_000;
const testdata = (name: string): string => readFileSync(new URL(`./testdata/${name}`, import.meta.url), "utf8");
const authority = (algorithm?: KeyAlgorithm): Promise<CertificateAndKey> =>
  createCertificateAuthority({
    commonName: "kubernetes",
    algorithm,
    notBeforeMs: NOW,
    validMs: 10 * YEAR,
    random: seededRandom(1),
  });
const hasOpenssl = ((): boolean => {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
})();

/** Runs openssl with the given texts as files named by their index. */
function openssl(args: (file: (i: number) => string) => string[], ...texts: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), "pki-"));
  try {
    texts.forEach((text, i) => writeFileSync(join(dir, String(i)), text));
    return execFileSync(
      "openssl",
      args((i) => join(dir, String(i))),
      { encoding: "utf8", stdio: "pipe" },
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe("keys", () => {
  it.each<KeyAlgorithm>(["ECDSA-P256", "ECDSA-P384", "RSA-2048"])(
    "%s are written as OpenSSL writes them",
    async (kind) => {
      const { privateKeyPem, publicKeyPem } = await createKeyPair(kind);
      const key = createPrivateKey(privateKeyPem);
      const type = kind.startsWith("RSA") ? "pkcs1" : "sec1";
      expect(privateKeyPem).toBe(key.export({ type, format: "pem" }));
      expect(publicKeyPem).toBe(createPublicKey(key).export({ type: "spki", format: "pem" }));
    },
  );

  it("identify the signer of a certificate", async () => {
    const [ours, theirs] = await Promise.all([authority(), authority("RSA-2048")]);
    const options = {
      commonName: "x",
      usages: ["client"] as const,
      nowMs: NOW,
      validMs: YEAR,
      random: seededRandom(2),
    };
    for (const ca of [ours, theirs]) {
      const { certPem } = await issueCertificate(ca, options);
      expect([ours, theirs].map((by) => isSignedBy(certPem, parseCertificate(by.certPem)))).toEqual([
        ca === ours,
        ca === theirs,
      ]);
    }
  });
});

describe("certificate authorities", () => {
  it.each<KeyAlgorithm>(["ECDSA-P256", "ECDSA-P384", "RSA-2048"])(
    "%s: self-signed, usable as a CA",
    async (algorithm) => {
      const ca = await authority(algorithm);
      const read = new X509Certificate(ca.certPem);
      expect(read.ca).toBe(true);
      expect(read.subject).toBe("CN=kubernetes");
      expect(read.verify(read.publicKey)).toBe(true);
      expect(read.checkPrivateKey(createPrivateKey(ca.keyPem))).toBe(true);
      expect(read.subjectAltName).toBe("DNS:kubernetes");
      expect(Date.parse(read.validTo)).toBe(NOW + 10 * YEAR);
    },
  );

  it("draws serial numbers from the given source", async () => {
    const [a, b] = [await authority(), await authority()];
    expect(parseCertificate(a.certPem).serialNumber).toBe(parseCertificate(b.certPem).serialNumber);
    expect(a.keyPem).not.toBe(b.keyPem);
  });

  it("writes dates from 2050 on as GeneralizedTime", async () => {
    const ca = await createCertificateAuthority({
      commonName: "far",
      notBeforeMs: NOW,
      validMs: 40 * YEAR,
      random: seededRandom(2),
    });
    expect(Date.parse(new X509Certificate(ca.certPem).validTo)).toBe(NOW + 40 * YEAR);
    expect(parseCertificate(ca.certPem).notAfterMs).toBe(NOW + 40 * YEAR);
  });

  it("refuses a key that belongs to another certificate, and a leaf as CA", async () => {
    const [ca, other] = [await authority(), await authority()];
    const leaf = { commonName: "x", usages: ["client"] as const, nowMs: NOW, validMs: YEAR, random: seededRandom(3) };
    await expect(issueCertificate({ certPem: ca.certPem, keyPem: other.keyPem }, leaf)).rejects.toThrow(
      /does not belong/,
    );
    await expect(issueCertificate(await issueCertificate(ca, leaf), leaf)).rejects.toThrow(/basic constraints/);
  });
});

describe("leaf certificates", () => {
  const options = {
    commonName: "kube-apiserver",
    organizations: ["system:masters", "Größe"],
    dnsNames: ["kubernetes", "*.default.svc"],
    ipAddresses: ["10.96.0.1", "::1", "fd00:0:0:1::5", "::ffff:10.0.0.1"],
    usages: ["server", "client"] as const,
    nowMs: NOW,
    validMs: YEAR,
    random: seededRandom(4),
  };

  it("round-trips every field, and node reads the same", async () => {
    const ca = await authority();
    const leaf = await issueCertificate(ca, options);
    expect(parseCertificate(leaf.certPem)).toMatchObject({
      subject: { commonName: "kube-apiserver", organizations: expect.arrayContaining(["system:masters", "Größe"]) },
      issuer: { commonName: "kubernetes", organizations: [] },
      notAfterMs: NOW + YEAR,
      notBeforeMs: NOW,
      isCA: false,
      dnsNames: ["kubernetes", "*.default.svc"],
      ipAddresses: ["10.96.0.1", "::1", "fd00:0:0:1::5", "::ffff:a00:1"],
      usages: ["server", "client"],
      authorityKeyId: parseCertificate(ca.certPem).subjectKeyId,
    });
    const read = new X509Certificate(leaf.certPem);
    expect(read.verify(new X509Certificate(ca.certPem).publicKey)).toBe(true);
    expect(read.checkIssued(new X509Certificate(ca.certPem))).toBe(true);
    expect(read.checkIP("10.96.0.1")).toBe("10.96.0.1");
    expect(read.checkIP("fd00:0:0:1::5")).toBeTruthy();
    expect(read.checkHost("a.default.svc")).toBe("*.default.svc");
  });

  it("starts five minutes early but not before its CA, and never outlives it", async () => {
    const ca = await authority();
    const late = parseCertificate((await issueCertificate(ca, { ...options, nowMs: NOW + 9.5 * YEAR })).certPem);
    expect(late.notAfterMs).toBe(NOW + 10 * YEAR);
    expect(late.notBeforeMs).toBe(NOW + 9.5 * YEAR - 300_000);
  });

  it.each(["kubeadm-rsa-ca", "kubeadm-ecdsa-ca"])("issues from %s made by kubeadm", async (name) => {
    const ca = { certPem: testdata(`${name}.crt`), keyPem: testdata(`${name}.key`) };
    const leaf = await issueCertificate(ca, options);
    expect(new X509Certificate(leaf.certPem).checkIssued(new X509Certificate(ca.certPem))).toBe(true);
    expect(new X509Certificate(leaf.certPem).verify(new X509Certificate(ca.certPem).publicKey)).toBe(true);
  });

  it("accepts a CA key in PKCS#8 and one with EC PARAMETERS before it", async () => {
    const ca = await authority();
    const pkcs8 = createPrivateKey(ca.keyPem).export({ type: "pkcs8", format: "pem" }).toString();
    const parameters = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${ca.keyPem}`;
    for (const keyPem of [pkcs8, parameters])
      expect(parseCertificate((await issueCertificate({ certPem: ca.certPem, keyPem }, options)).certPem).isCA).toBe(
        false,
      );
  });

  it.runIf(hasOpenssl).each<KeyAlgorithm>(["ECDSA-P256", "ECDSA-P384", "RSA-2048"])(
    "openssl verifies %s chains strictly",
    async (algorithm) => {
      const ca = await authority(algorithm);
      const leaf = await issueCertificate(ca, { ...options, algorithm });
      const at = String(NOW / 1000 + 60);
      const out = openssl(
        (f) => ["verify", "-x509_strict", "-attime", at, "-purpose", "sslserver", "-CAfile", f(0), f(1)],
        ca.certPem,
        leaf.certPem,
      );
      expect(out).toContain("OK");
    },
  );

  it("serves TLS with mutual authentication", async () => {
    const ca = await authority();
    const server = await issueCertificate(ca, { ...options, dnsNames: ["localhost"] });
    const client = await issueCertificate(ca, { ...options, commonName: "admin", usages: ["client"] });
    // Validity is compared with the real clock here, so both sides trust without looking at dates: only the chain counts.
    const listener = createServer({
      cert: server.certPem,
      key: server.keyPem,
      ca: ca.certPem,
      requestCert: true,
      rejectUnauthorized: false,
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const address = listener.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const peer = new Promise<string>((resolve) =>
      listener.once("secureConnection", (socket: TLSSocket) => resolve(String(socket.getPeerCertificate().subject.CN))),
    );
    const socket = connect({
      host: "127.0.0.1",
      port: address.port,
      servername: "localhost",
      ca: ca.certPem,
      cert: client.certPem,
      key: client.keyPem,
      rejectUnauthorized: false,
    });
    expect(await peer).toBe("admin");
    socket.destroy();
    listener.close();
  });
});

describe("certificate requests", () => {
  it("are made, read and signed", async () => {
    const ca = await authority();
    const { csrPem, keyPem } = await createCertificateRequest({
      commonName: "system:node:n1",
      organizations: ["system:nodes"],
      dnsNames: ["n1"],
      ipAddresses: ["10.0.0.9"],
    });
    expect(await parseCertificateRequest(csrPem)).toMatchObject({
      commonName: "system:node:n1",
      organizations: ["system:nodes"],
      dnsNames: ["n1"],
      ipAddresses: ["10.0.0.9"],
      otherNames: 0,
      keyType: "ec",
    });
    const certPem = await signCertificateRequest(ca, csrPem, {
      usages: ["client"],
      nowMs: NOW,
      validMs: YEAR,
      random: seededRandom(5),
    });
    const read = new X509Certificate(certPem);
    expect(read.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(parseCertificate(certPem)).toMatchObject({
      subject: { commonName: "system:node:n1", organizations: ["system:nodes"] },
      usages: ["client"],
      dnsNames: ["n1"],
    });
  });

  it("from openssl are read", async () => {
    expect(await parseCertificateRequest(testdata("openssl-rsa.csr"))).toMatchObject({
      commonName: "system:node:n1",
      organizations: ["system:nodes"],
      dnsNames: ["n1.example"],
      ipAddresses: ["10.0.0.1", "fd00::1"],
      keyType: "rsa",
    });
  });

  it("with a foreign signature are refused", async () => {
    const { csrPem } = await createCertificateRequest({ commonName: "a" });
    const der = Buffer.from(csrPem.replace(/-----[^-]+-----|\n/g, ""), "base64");
    der[der.indexOf(Buffer.from("a"), 10)] = 0x62; // the common name
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    await expect(parseCertificateRequest(forged)).rejects.toThrow(PkiError);
  });

  it.runIf(hasOpenssl)("are verified by openssl", async () => {
    const { csrPem } = await createCertificateRequest({ commonName: "a", dnsNames: ["b"], algorithm: "ECDSA-P384" });
    const text = openssl((f) => ["req", "-in", f(0), "-verify", "-noout", "-text"], csrPem);
    expect(text).toContain("DNS:b");
  });
});

it("any damaged certificate is a PkiError, never a crash", async () => {
  const { certPem } = await authority();
  const der = Buffer.from(certPem.replace(/-----[^-]+-----|\n/g, ""), "base64");
  const wrap = (bytes: Buffer): string =>
    `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64")}\n-----END CERTIFICATE-----`;
  for (let at = 0; at < der.length; at++) {
    for (const damaged of [
      der.subarray(0, at),
      Buffer.concat([der.subarray(0, at), Buffer.of(0xff), der.subarray(at + 1)]),
    ]) {
      try {
        parseCertificate(wrap(damaged));
      } catch (error) {
        expect(error).toBeInstanceOf(PkiError);
      }
    }
  }
});

it("the pin is what kubeadm prints", () => {
  // openssl x509 -pubkey | openssl pkey -pubin -outform der | sha256sum
  expect(publicKeyPin(testdata("kubeadm-rsa-ca.crt"))).toBe(
    "sha256:1b4c03f03e8f1f3f0a3be2374ad504375e8e21af15e7c9a214fc1effad5e1a37",
  );
});

it("service-account keys are PEM pairs", async () => {
  const pair = await createServiceAccountKey("ECDSA-P256");
  expect(pair.privateKeyPem).toContain("BEGIN EC PRIVATE KEY");
  expect(pair.publicKeyPem).toContain("BEGIN PUBLIC KEY");
});

describe("kubeconfig", () => {
  it("holds everything inline, in kubeadm's names", () => {
    const text = buildKubeconfig({
      server: "https://[::1]:6443",
      caPem: "CA",
      clusterName: "c1",
      userName: "c1-admin",
      clientCertPem: "CERT",
      clientKeyPem: "KEY",
    });
    expect(text).toBe(`apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: "https://[::1]:6443"
  name: c1
contexts:
- context:
    cluster: c1
    user: c1-admin
  name: c1-admin@c1
current-context: c1-admin@c1
kind: Config
preferences: {}
users:
- name: c1-admin
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
`);
  });

  it("quotes what YAML would read otherwise, and takes a token", () => {
    const text = buildKubeconfig({
      server: "https://h",
      caPem: "",
      clusterName: "true",
      userName: "1e3",
      token: "abc: d",
      namespace: "no",
    });
    expect(text).toContain('name: "true"');
    expect(text).toContain('user: "1e3"');
    expect(text).toContain('token: "abc: d"');
    expect(text).toContain('namespace: "no"');
    expect(text).not.toContain("certificate-authority-data");
  });

  it("refuses a certificate without its key", () => {
    expect(() =>
      buildKubeconfig({ server: "s", caPem: "", clusterName: "c", userName: "u", clientCertPem: "x" }),
    ).toThrow(PkiError);
  });
});
