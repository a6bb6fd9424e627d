import { ApiError, seededRandom, settle, type Unstructured, type UserInfo, VirtualClock } from "@capstan/apimachinery";
import {
  type CertificateAndKey,
  createCertificateAuthority,
  createCertificateRequest,
  parseCertificate,
} from "@capstan/pki";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AdmissionRequest, ResourceType } from "../types.ts";
import { bootstrapRbac } from "./bootstrap-rbac.ts";
import { certificateAdmission } from "./certificate-admission.ts";
import { startCertificateController } from "./certificate-controller.ts";
import { createRbacAuthorizer } from "./rbac-authorizer.ts";
import { RBAC_GROUP, Resources } from "./resources.ts";
import { ask, tinyApi } from "./testing/tiny-api.ts";

const NODE_TOKENS = "system:bootstrappers:kubeadm:default-node-token";
const b64 = (s: string): string => Buffer.from(s).toString("base64");
let ca: CertificateAndKey;
let clock: VirtualClock;
let api: ReturnType<typeof tinyApi>;
let controller: ReturnType<typeof startCertificateController>;
beforeAll(async () => {
  ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: Date.UTC(2025, 0, 1),
    validMs: 3e11,
    random: seededRandom(1),
  });
});
beforeEach(() => {
  clock = new VirtualClock();
  api = tinyApi();
  for (const object of bootstrapRbac()) api.put(object);
  const bind = (name: string, role: string, group: string): void => {
    api.put({
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { kind: "ClusterRole", name: `system:certificates.k8s.io:certificatesigningrequests:${role}` },
      subjects: [{ kind: "Group", name: group }],
    });
  };
  bind("a", "nodeclient", NODE_TOKENS);
  bind("b", "selfnodeclient", "system:nodes");
  controller = startCertificateController(api, {
    authorizer: createRbacAuthorizer(api),
    ca: () => ca,
    clock,
    random: seededRandom(2),
    log: (_, error) => {
      throw error;
    },
  });
});

const node = { commonName: "system:node:n1", organizations: ["system:nodes"] };
const kubelet: UserInfo = { name: "system:bootstrap:abcdef", groups: [NODE_TOKENS, "system:authenticated"] };

async function submit(
  request: Parameters<typeof createCertificateRequest>[0],
  o: { signer?: string; usages?: string[]; user?: UserInfo; expirationSeconds?: number; status?: object } = {},
): Promise<Record<string, unknown>> {
  const { csrPem } = await createCertificateRequest(request);
  const user = o.user ?? kubelet;
  api.put({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "csr" },
    spec: {
      request: b64(csrPem),
      signerName: o.signer ?? "kubernetes.io/kube-apiserver-client-kubelet",
      usages: o.usages ?? ["digital signature", "client auth"],
      username: user.name,
      groups: user.groups,
      expirationSeconds: o.expirationSeconds,
    },
    status: o.status ?? {},
  });
  while (!controller.idle()) await settle();
  return (api.get(Resources.certificateSigningRequests, "", "csr")?.["status"] ?? {}) as Record<string, unknown>;
}
const certificateOf = (status: Record<string, unknown>) =>
  parseCertificate(Buffer.from(String(status["certificate"]), "base64").toString());
const APPROVED = { conditions: [{ type: "Approved", status: "True", reason: "X", message: "y" }] };

describe("kubelet client requests", () => {
  it("of bootstrapping nodes are approved and signed", async () => {
    const status = await submit(node);
    expect(status["conditions"]).toMatchObject([
      {
        type: "Approved",
        reason: "AutoApproved",
        message: "Auto approving kubelet client certificate after SubjectAccessReview.",
      },
    ]);
    expect(certificateOf(status)).toMatchObject({
      subject: { commonName: "system:node:n1", organizations: ["system:nodes"] },
      usages: ["client"],
      notBeforeMs: clock.now() - 300_000,
      notAfterMs: clock.now() + 8760 * 3_600_000,
    });
  });

  it("of nodes that renew their own are approved", async () => {
    const user = { name: "system:node:n1", groups: ["system:nodes"] };
    const status = await submit(node, { user });
    expect(status["conditions"]).toMatchObject([
      { message: "Auto approving self kubelet client certificate after SubjectAccessReview." },
    ]);
  });

  it.each<[string, Parameters<typeof submit>]>([
    ["another requester", [node, { user: { name: "bob", groups: ["devs"] } }]],
    ["another node's renewal", [node, { user: { name: "system:node:n2", groups: ["system:nodes"] } }]],
    ["names", [{ ...node, dnsNames: ["n1"] }, {}]],
    ["another organization", [{ ...node, organizations: ["system:masters"] }, {}]],
    ["another usage", [node, { usages: ["client auth", "server auth"] }]],
    ["another signer", [node, { signer: "kubernetes.io/kube-apiserver-client" }]],
  ])("with %s wait for an administrator", async (_, args) => {
    expect(await submit(...args)).toEqual({});
  });
});

describe("approved requests", () => {
  it("for clients are signed for the time asked", async () => {
    const status = await submit(
      { commonName: "jane", organizations: ["devs"] },
      {
        signer: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
        expirationSeconds: 3600,
        status: APPROVED,
      },
    );
    expect(certificateOf(status)).toMatchObject({
      subject: { commonName: "jane" },
      notAfterMs: clock.now() + 3_600_000,
    });
  });

  it("for serving are signed with their names", async () => {
    const status = await submit(
      { ...node, dnsNames: ["n1"], ipAddresses: ["10.0.0.1"] },
      { signer: "kubernetes.io/kubelet-serving", usages: ["server auth"], status: APPROVED },
    );
    expect(certificateOf(status)).toMatchObject({ usages: ["server"], dnsNames: ["n1"], ipAddresses: ["10.0.0.1"] });
  });

  it("fail with the reason when their signer rejects them", async () => {
    const o = { signer: "kubernetes.io/kube-apiserver-client", usages: ["server auth"], status: APPROVED };
    expect((await submit({ commonName: "jane" }, o))["conditions"]).toMatchObject([
      { type: "Approved" },
      {
        type: "Failed",
        reason: "SignerValidationFailure",
        message: "invalid usage for client certificate: server auth",
      },
    ]);
  });

  it("stay when they are denied or of other signers", async () => {
    const denied = { conditions: [...APPROVED.conditions, { type: "Denied", status: "True" }] };
    expect(await submit(node, { status: denied })).toEqual(denied);
    expect(await submit(node, { signer: "example.com/x", status: APPROVED })).toEqual(APPROVED);
  });
});

describe("admission", () => {
  const bob: UserInfo = { name: "bob", groups: [] };
  const check = async (
    object: Unstructured,
    subresource: string,
    oldObject?: Unstructured,
  ): Promise<string | undefined> => {
    const plugin = certificateAdmission(createRbacAuthorizer(api));
    const attributes = ask(bob, "update", `certificates.k8s.io/certificatesigningrequests/${subresource}`, `/csr`);
    const request: AdmissionRequest = {
      attributes,
      operation: oldObject === undefined ? "CREATE" : "UPDATE",
      type: {} as ResourceType,
      object,
      oldObject,
      dryRun: false,
      options: {},
      warn: () => {},
    };
    try {
      await plugin.validate?.(request);
      return undefined;
    } catch (error) {
      return error instanceof ApiError ? error.message : String(error);
    }
  };
  const csr = (spec: object, status: object = {}): Unstructured => ({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "csr" },
    spec,
    status,
  });

  it("keeps system:masters out of client certificates", async () => {
    const { csrPem } = await createCertificateRequest({ commonName: "x", organizations: ["system:masters"] });
    expect(await check(csr({ request: b64(csrPem), signerName: "kubernetes.io/kube-apiserver-client" }), "")).toBe(
      `certificatesigningrequests.certificates.k8s.io "csr" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
    );
  });

  it("asks for approve and sign on the signer", async () => {
    const old = csr({ signerName: "kubernetes.io/kube-apiserver-client" });
    const prefix = `certificatesigningrequests.certificates.k8s.io "csr" is forbidden: user not permitted to`;
    expect(await check(old, "approval", old)).toBe(
      `${prefix} approve requests with signerName "kubernetes.io/kube-apiserver-client"`,
    );
    expect(await check({ ...old, status: { certificate: "YQ==" } }, "status", old)).toBe(
      `${prefix} sign requests with signerName "kubernetes.io/kube-apiserver-client"`,
    );
    expect(await check(old, "status", old)).toBeUndefined();
    api.put({
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "approvers" },
      roleRef: { kind: "ClusterRole", name: "system:certificates.k8s.io:kube-apiserver-client-approver" },
      subjects: [{ kind: "User", name: "bob" }],
    });
    expect(await check(old, "approval", old)).toBeUndefined();
  });
});
