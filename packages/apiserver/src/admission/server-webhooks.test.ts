import { createServer, type Server } from "node:https";
import { type ApiResponse, seededRandom, type Unstructured } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/server.ts";

/** Sets label `seen` on everything; denies objects named `bad`. */
let ca: CertificateAndKey;
let leaf: CertificateAndKey;
let hook: Server;
let url: string;
let test: TestServer;
beforeAll(async () => {
  const times = { notBeforeMs: Date.UTC(2020, 0), validMs: 3e12 };
  ca = await createCertificateAuthority({ commonName: "hooks", ...times, random: seededRandom(1) });
  leaf = await issueCertificate(ca, {
    commonName: "hook",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    nowMs: times.notBeforeMs,
    validMs: times.validMs,
    random: seededRandom(2),
  });
  hook = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    req.on("end", () => {
      const { request } = JSON.parse(body) as { request: { uid: string; name?: string } };
      const patch = [{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }];
      const response = req.url?.startsWith("/mutate")
        ? { allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }
        : { allowed: request.name !== "bad", status: { message: "a bad name" }, warnings: ["looked at"] };
      res.end(
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid: request.uid, ...response },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  const address = hook.address();
  url = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});
afterAll(() => {
  hook.closeAllConnections();
  hook.close();
});
beforeEach(async () => {
  test = await startTestServer({ controllers: false });
});
afterEach(() => test.server.close());

const configure = (kind: "mutating" | "validating", more: object = {}): Promise<ApiResponse> =>
  test.post(`/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
    metadata: { name: kind },
    webhooks: [
      {
        name: `${kind}.example.com`,
        clientConfig: {
          url: `${url}/${kind === "mutating" ? "mutate" : "validate"}`,
          caBundle: Buffer.from(ca.certPem).toString("base64"),
        },
        rules: [{ operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        ...more,
      },
    ],
  });
const create = (name: string): Promise<ApiResponse> =>
  test.post("/api/v1/namespaces/default/configmaps", { metadata: { name }, data: { a: "1" } });

it("webhooks mutate, deny and warn in a whole server", async () => {
  expect((await configure("mutating")).status).toBe(201);
  expect((await configure("validating")).status).toBe(201);
  const made = await create("good");
  expect(made).toMatchObject({ status: 201, warnings: ["looked at"] });
  expect((made.body as Unstructured).metadata.labels).toEqual({ seen: "yes" });
  const refused = await create("bad");
  expect(refused.body).toMatchObject({
    code: 400,
    message: `admission webhook "validating.example.com" denied the request: a bad name`,
  });
  expect((await test.get("/api/v1/namespaces/default/configmaps/bad")).status).toBe(404);
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/validating";
  expect((await test.delete(path)).status).toBe(200);
  expect((await create("bad")).status).toBe(201);
});

it("a caBundle may hold the webhook's serving certificate itself", async () => {
  const caBundle = Buffer.from(leaf.certPem).toString("base64");
  await configure("validating", { clientConfig: { url: `${url}/validate`, caBundle } });
  expect(await create("good")).toMatchObject({ status: 201, warnings: ["looked at"] });
});

it("match conditions are CEL", async () => {
  const matchConditions = [
    { name: "named", expression: `object.metadata.name == "bad" && request.operation == "CREATE"` },
  ];
  expect((await configure("validating", { matchConditions })).status).toBe(201);
  expect((await create("good")).warnings).toEqual([]);
  expect((await create("bad")).status).toBe(400);
});

it.each([
  ["the user's own permissions", `authorizer.requestResource.check("create").allowed()`, 400],
  [
    "a ServiceAccount's",
    `authorizer.serviceAccount("default", "stranger").path("/metrics").check("get").allowed()`,
    201,
  ],
  [
    "what all users may do",
    `authorizer.serviceAccount("default", "stranger").path("/version").check("get").allowed()`,
    400,
  ],
  [
    "what RBAC does not grant",
    `authorizer.serviceAccount("default", "stranger").group("").resource("secrets").namespace("default").check("get").allowed()`,
    201,
  ],
])("match conditions check %s", async (_what, expression, status) => {
  await configure("validating", { matchConditions: [{ name: "asked", expression }] });
  expect((await create("bad")).status).toBe(status);
});

it.each(["Fail", "Ignore"])(
  "fails match conditions that exceed the cost limit together: policy %s",
  async (failurePolicy) => {
    const numbers = "[1,2,3,4,5,6,7,8,9,10]";
    const dear = [..."abcdef"].reduce((inner, name) => `${numbers}.all(${name}, ${inner})`, "true");
    const matchConditions = ["false", dear, dear, dear].map((expression, i) => ({ name: `c${i}`, expression }));
    await configure("validating", { failurePolicy, matchConditions });
    const { status, body } = await create("bad");
    expect(status).toBe(failurePolicy === "Fail" ? 403 : 201);
    if (failurePolicy === "Fail") expect(JSON.stringify(body)).toContain("running out of cost budget");
  },
);

it("validates match conditions of a large configuration like those of a small one", async () => {
  const matchConditions = Array.from({ length: 60 }, (_, i) => ({
    name: `c${i}`,
    expression: `object.metadata.name != "${"x".repeat(600)}${i}"`,
  }));
  const bad = { name: "bad", expression: "object.metadata.name" };
  const refused = await configure("validating", { matchConditions: [...matchConditions, bad] });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain("webhooks[0].matchConditions[60].expression");
  expect((await configure("validating", { matchConditions })).status).toBe(201);
  expect((await create("bad")).status).toBe(400);
});

it("denies with the real server's message when a match condition fails", async () => {
  const matchConditions = [{ name: "x", expression: `object.data.zzz == "1"` }];
  await configure("validating", { matchConditions });
  expect((await create("c")).body).toMatchObject({
    code: 403,
    message: `configmaps "c" is forbidden: expression 'object.data.zzz == "1"' resulted in error: no such key: zzz`,
  });
});
