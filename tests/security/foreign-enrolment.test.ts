import type { Unstructured } from "@capstan/apimachinery";
import { seededRandom } from "@capstan/apimachinery";
import { conditionsOf } from "@capstan/capi";
import { enrolmentSecret, HOST_GROUP, hostUser } from "@capstan/host-agent";
import { BootstrapKubeconfig } from "@capstan/infra-byoh";
import { simulatedHosts } from "@capstan/manager";
import { createCertificateAuthority, createCertificateRequest } from "@capstan/pki";
import { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Plane } from "../simulation/plane.ts";
import { TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Attack: a tenant that may enrol hosts of its own asks about the hosts and tokens of another namespace. */
const VICTIM = "victim";
const CSRS = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };

let plane: Plane;
let mallory: Client;
beforeEach(async () => {
  plane = await Plane.start({ own: 1, metal: 0, namespace: VICTIM });
  mallory = await tenantOf(plane);
});
afterEach(() => plane.close());

/** A kubeconfig with a token for a host of the tenant. */
async function enrol(name: string): Promise<BootstrapKubeconfig> {
  const times = { notBeforeMs: plane.clock.now(), validMs: 1e9 };
  const { certPem } = await createCertificateAuthority({ commonName: "ca", ...times, random: seededRandom(3) });
  await mallory.create<Unstructured>({
    apiVersion: BootstrapKubeconfig.apiVersion,
    kind: BootstrapKubeconfig.kind,
    metadata: { namespace: TENANT, name },
    spec: {
      apiserver: "https://10.0.0.1:6443",
      "certificate-authority-data": Buffer.from(certPem).toString("base64"),
    },
  });
  await plane.pass(5_000);
  return await read(name);
}

async function read(name: string): Promise<BootstrapKubeconfig> {
  const made = await mallory.get(BootstrapKubeconfig, { namespace: TENANT, name });
  if (made === undefined) throw new Error(`there is no BootstrapKubeconfig ${name}`);
  return made;
}

test("whether a host exists in another namespace is not revealed to who holds a token", async () => {
  const id = (await enrol("mine")).status?.tokenID ?? "";
  expect(id).not.toBe("");
  const groups = ["system:bootstrappers", "system:bootstrappers:byoh", "system:authenticated"];
  const holder = new Client(plane.server.transport({ name: `system:bootstrap:${id}`, groups }), {
    fieldManager: "agent",
    clock: plane.clock,
  });
  const ask = async (host: string): Promise<string> => {
    const commonName = hostUser(VICTIM, host, id);
    const { csrPem } = await createCertificateRequest({ commonName, organizations: [HOST_GROUP] });
    await holder.create<Unstructured>({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: `ask-${host}` },
      spec: {
        request: Buffer.from(csrPem).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
      },
    });
    await plane.pass(5_000);
    const [condition] = conditionsOf({ status: plane.server.internal.get(CSRS, "", `ask-${host}`)?.["status"] });
    return `${condition?.type}: ${condition?.message}`.replaceAll(host, "HOST");
  };
  const there = await ask("own-1");
  expect(there).toContain("Denied");
  expect(there).toBe(await ask("nowhere"));
});

test("whether a token of another namespace exists is not revealed", async () => {
  const [host] = simulatedHosts(VICTIM, { byoh: 1 });
  if (host === undefined) throw new Error("there is no host");
  await plane.client.apply(enrolmentSecret({ id: "abcdef", secret: "0123456789abcdef" }, host, plane.clock));
  const probe = async (name: string, tokenID: string): Promise<string> => {
    await enrol(name);
    const expiresAt = new Date(plane.clock.now() + 3600_000).toISOString().replace(/\.\d+Z$/, "Z");
    await mallory.patchStatus(
      { kind: BootstrapKubeconfig, namespace: TENANT, name },
      { status: { tokenID, expiresAt, bootstrapKubeconfigData: "x" } },
    );
    await plane.pass(30_000);
    const { status } = await read(name);
    return JSON.stringify([status?.bootstrapKubeconfigData, status?.conditions?.map(({ reason }) => reason)]);
  };
  expect(await probe("one", "abcdef")).toBe(await probe("two", "zzzzzz"));
});
