import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { buildKubeconfig, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { enrolmentLine } from "../enrolment.ts";
import { type EnrolOptions, identify } from "./enrol.ts";
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
  return await startWith(line === undefined ? {} : { line }, at);
}

async function startWith(
  options: EnrolOptions,
  at = clock,
  say: (text: string) => void = () => undefined,
): Promise<Awaited<ReturnType<typeof identify>>> {
  let over = false;
  const started = identify(options, { ...deps(), clock: at }, say).finally(() => {
    over = true;
  });
  started.catch(() => undefined);
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (Object.keys(options).length > 0) await at.advance(100);
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

test("a certificate is renewed when a third of its lifetime is left, or at once if it has no enrolment ID", () => {
  const enrolment = { server: "", caPem: "", namespace: "default", name: "h1", tokenID: "aaaaaa" };
  expect(renewalDue(enrolment, certPem, clock.now() + 59 * DAY)).toBe(false);
  expect(renewalDue(enrolment, certPem, clock.now() + 61 * DAY)).toBe(true);
  expect(renewalDue({ ...enrolment, tokenID: "bbbbbb" }, certPem, clock.now())).toBe(true);
});

test("an enrolled host needs no token, and does not use the same token twice", async () => {
  known();
  expect((await start()).name).toBe("h1");
  expect((await start(lineOf("aaaaaa"))).certPem).toBe(certPem);
  // A different token means a new enrolment. No server answers here.
  await expect(start(lineOf("bbbbbb"))).rejects.toThrow(/cannot be reached.*check that this host can reach/);
});

test.each([
  ["no token at all", undefined, "not enrolled yet: run the command that `capstan host add NAME` prints"],
  ["a truncated token", lineOf("aaaaaa").slice(0, 40), "is incomplete: copy the whole command"],
  ["an invalid token", "hello", "is incomplete: copy the whole command"],
])("reports %s with what to do", async (_, line, message) => {
  await expect(start(line)).rejects.toThrow(message);
});

test("an expired certificate is reported with both clocks, and how to get another", async () => {
  known();
  const late = new VirtualClock(clock.now() + 91 * DAY);
  for (const line of [undefined, lineOf("aaaaaa")])
    await expect(start(line, late)).rejects.toThrow(
      /the certificate of this host expired at .* \(the clock shows .*\): correct the clock, or run the command that `capstan host add h1` prints/,
    );
  await expect(start(lineOf("bbbbbb"), late)).rejects.toThrow("cannot be reached");
});

test("an interrupted enrolment continues with its earlier request, because a token is valid for one request", async () => {
  const begun = (): string => readFileSync(join(dir, "request.json"), "utf8");
  await expect(start(lineOf("aaaaaa"))).rejects.toThrow("cannot be reached");
  const first = begun();
  expect(statSync(join(dir, "request.json")).mode & 0o777).toBe(0o600);
  await expect(start(lineOf("aaaaaa"))).rejects.toThrow("cannot be reached");
  expect(begun()).toBe(first);
  await expect(start(lineOf("bbbbbb"))).rejects.toThrow("cannot be reached");
  expect(begun()).not.toBe(first);
});

/** A management API that keeps what it is given and issues every certificate; what was written, as `METHOD kind name`. */
async function managementApi(): Promise<{ url: string; written: string[]; close: () => void }> {
  const resource = (name: string, kind: string, namespaced: boolean) => ({ name, kind, namespaced });
  const resources = [
    resource("certificatesigningrequests", "CertificateSigningRequest", false),
    resource("byohosts", "ByoHost", true),
    resource("secrets", "Secret", true),
    resource("configmaps", "ConfigMap", true),
    resource("roles", "Role", true),
    resource("rolebindings", "RoleBinding", true),
    resource("clusterroles", "ClusterRole", false),
    resource("clusterrolebindings", "ClusterRoleBinding", false),
  ];
  const objects = new Map<string, object>();
  const written: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      const path = request.url?.split("?")[0] ?? "";
      const send = (code: number, object: object): void => {
        response.writeHead(code, { "content-type": "application/json" });
        response.end(JSON.stringify(object));
      };
      if (/^\/api(s\/[^/]+)?\/[^/]+$/.test(path)) return send(200, { kind: "APIResourceList", resources });
      if (request.method === "POST" || request.method === "PATCH") {
        const given = JSON.parse(body) as { kind: string; metadata: { name: string } };
        const status = { certificate: Buffer.from(certPem).toString("base64") };
        const { kind, metadata } = given;
        written.push(`${request.method} ${kind} ${metadata.name}`);
        const kept = { ...given, metadata: { ...metadata, uid: "u", resourceVersion: "1" }, status };
        objects.set(request.method === "POST" ? `${path}/${metadata.name}` : path, kept);
        return send(201, kept);
      }
      const found = request.method === "GET" ? objects.get(path) : undefined;
      if (found !== undefined) return send(200, found);
      const details = { name: path.split("/").at(-1) };
      return send(404, { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404, details });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, written, close };
}

describe("the kubeconfig of someone who may add hosts, as agents of 2022 took it", () => {
  const kubeconfigOf = (server: string): string => {
    const file = join(dir, "management-cluster.conf");
    const user = {
      caPem: certPem,
      clusterName: "kind-kind",
      userName: "kind-kind",
      clientCertPem: "c",
      clientKeyPem: "k",
    };
    writeFileSync(file, buildKubeconfig({ server, ...user }));
    return file;
  };

  test("registers the host in the namespace, enrols it once and asks to remove the file", async () => {
    const api = await managementApi();
    try {
      const kubeconfig = kubeconfigOf(api.url);
      const said: string[] = [];
      const options = { kubeconfig, namespace: "metal3", name: "control-plane1" };
      const identity = await startWith(options, clock, (text) => said.push(text));
      expect(identity).toMatchObject({ namespace: "metal3", name: "control-plane1", server: api.url, certPem });
      expect(api.written).toEqual([
        "PATCH ClusterRole capstan:byoh-enrol",
        "PATCH ClusterRoleBinding capstan:byoh-enrol",
        "PATCH ClusterRoleBinding capstan:byoh-renew",
        "PATCH ByoHost control-plane1",
        `PATCH Secret bootstrap-token-${identity.tokenID}`,
        expect.stringMatching(/^POST CertificateSigningRequest byoh-metal3-control-plane1-/),
      ]);
      expect(said.join("")).toContain(`needs ${kubeconfig} no longer: remove that file`);
      // A service restarts with its original arguments, with or without the file.
      const again = () => startWith(options);
      expect(await again()).toMatchObject({ name: "control-plane1", tokenID: identity.tokenID });
      rmSync(kubeconfig);
      expect(await again()).toMatchObject({ name: "control-plane1", tokenID: identity.tokenID });
      expect(api.written).toHaveLength(6);
      await expect(startWith({ ...options, name: "other" })).rejects.toThrow(/ENOENT/);
    } finally {
      api.close();
    }
  });

  test("an API that cannot be reached or refuses is named with what the file must be", async () => {
    const options = { kubeconfig: kubeconfigOf("http://127.0.0.1:1"), name: "h1" };
    await expect(startWith(options)).rejects.toThrow(
      /must be the kubeconfig of a user who may create ByoHosts in default and Secrets in kube-system/,
    );
  });
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
