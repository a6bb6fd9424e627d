import { seededRandom } from "@capstan/apimachinery";
import { createCertificateAuthority, createCertificateRequest, parseCertificate } from "@capstan/pki";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ManagementApi, objectOf, startManagementApi } from "./management-api.ts";

/**
 * Attacker: a user that may create CertificateSigningRequests and write their `approval`, but has no permission for any signer. The
 * prize is a client certificate of a group that is bound to cluster-admin.
 */
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SIGNER = "kubernetes.io/kube-apiserver-client";
const APPROVED = { conditions: [{ type: "Approved", status: "True", reason: "Attack", message: "" }] };

let api: ManagementApi;
beforeEach(async () => {
  const random = seededRandom(1);
  const ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: Date.UTC(2020, 0, 1),
    validMs: 1e12,
    random,
  });
  api = await startManagementApi({ ca });
  const rule = { apiGroups: ["certificates.k8s.io"] };
  const writesApproval = [
    { ...rule, resources: ["certificatesigningrequests"], verbs: ["create", "get"] },
    { ...rule, resources: ["certificatesigningrequests/approval"], verbs: ["update", "patch"] },
  ];
  await api.allow("mallory", writesApproval);
  const approves = { ...rule, resources: ["signers"], resourceNames: ["kubernetes.io/*"], verbs: ["approve"] };
  await api.allow("approver", [...writesApproval, approves]);
  await api.allow("reporter", [{ ...rule, resources: ["certificatesigningrequests/status"], verbs: ["patch"] }]);
});
afterEach(() => api.close());

async function request(name: string): Promise<void> {
  const { csrPem } = await createCertificateRequest({ commonName: "mallory", organizations: ["cluster-admins"] });
  const answer = await api.as("mallory")("POST", CSRS, {
    metadata: { name },
    spec: {
      request: Buffer.from(csrPem).toString("base64"),
      signerName: SIGNER,
      usages: ["client auth"],
    },
  });
  expect(answer.status).toBe(201);
}

async function certificateOf(name: string): Promise<string | undefined> {
  const { certificate } = (objectOf(await api.admin("GET", `${CSRS}/${name}`)).status ?? {}) as {
    certificate?: string;
  };
  return certificate;
}

/** Returns when the signer has signed a request that an approver approved: by then it has seen everything before it. */
async function signerHasCaughtUp(): Promise<void> {
  await request("honest");
  expect((await api.as("approver")("PATCH", `${CSRS}/honest/approval`, { status: APPROVED })).status).toBe(200);
  const query = { fieldSelector: "metadata.name=honest" };
  for await (const { object } of api.server.admin().watch({ method: "GET", path: CSRS, query })) {
    const { certificate } = ((object as { status?: object }).status ?? {}) as { certificate?: string };
    if (certificate === undefined) continue;
    const { subject } = parseCertificate(Buffer.from(certificate, "base64").toString());
    expect(subject.organizations).toEqual(["cluster-admins"]);
    return;
  }
}

it.each(["PUT", "PATCH"] as const)("issues no certificate for an approval by %s without `approve`", async (method) => {
  await request("stolen");
  const current = objectOf(await api.admin("GET", `${CSRS}/stolen`));
  const body = method === "PUT" ? { ...current, status: APPROVED } : { status: APPROVED };
  const answer = await api.as("mallory")(method, `${CSRS}/stolen/approval`, body);
  await signerHasCaughtUp();
  expect(await certificateOf("stolen")).toBeUndefined();
  expect(answer.status).toBe(403);
  expect(objectOf(answer)["message"]).toBe(
    `certificatesigningrequests.certificates.k8s.io "stolen" is forbidden: user not permitted to approve requests with signerName "${SIGNER}"`,
  );
});

it("issues no certificate for an approval that is a dry run", async () => {
  await request("tried");
  const answer = await api.as("approver")("PATCH", `${CSRS}/tried/approval`, { status: APPROVED }, { dryRun: "All" });
  expect(objectOf(answer).status).toMatchObject(APPROVED);
  await signerHasCaughtUp();
  expect(await certificateOf("tried")).toBeUndefined();
  expect(objectOf(await api.admin("GET", `${CSRS}/tried`)).status).toEqual({});
});

it("keeps the request, and its certificate, whatever an approver writes besides the decision", async () => {
  await request("changed");
  const current = objectOf(await api.admin("GET", `${CSRS}/changed`));
  const spec = { ...(current["spec"] as object), username: "kubernetes-admin", groups: ["system:masters"] };
  const status = { ...APPROVED, certificate: Buffer.from("forged").toString("base64") };
  const answer = await api.as("approver")("PUT", `${CSRS}/changed/approval`, { ...current, spec, status });
  expect(answer.status).toBe(200);
  expect(objectOf(answer)["spec"]).toEqual(current["spec"]);
  expect(objectOf(answer).status).not.toHaveProperty("certificate");
  expect(objectOf(answer).status).toMatchObject(APPROVED);
});

it("refuses a decision about a request that has changed since", async () => {
  await request("seen");
  const body = { metadata: { resourceVersion: "1" }, status: APPROVED };
  expect((await api.as("approver")("PATCH", `${CSRS}/seen/approval`, body)).status).toBe(409);
  await signerHasCaughtUp();
  expect(await certificateOf("seen")).toBeUndefined();
});

it("lets only a signer's signer mark a request as failed", async () => {
  await request("spoiled");
  const failed = { conditions: [{ type: "Failed", status: "True", reason: "Attack", message: "" }] };
  const answer = await api.as("reporter")("PATCH", `${CSRS}/spoiled/status`, { status: failed });
  expect(objectOf(await api.admin("GET", `${CSRS}/spoiled`)).status).toEqual({});
  expect(answer.status).toBe(403);
});
