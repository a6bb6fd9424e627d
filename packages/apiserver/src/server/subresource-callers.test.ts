import type { ApiResponse, Unstructured, UserInfo } from "@capstan/apimachinery";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectOf, startTestServer, type TestServer, widgetCrd } from "../testing/server.ts";

/** Every subresource write is the caller's: admission sees the caller, and the request's options count. */
const bob: UserInfo = { name: "bob", groups: ["system:masters", "system:authenticated"] };
const NS = "/api/v1/namespaces/default";
let test: TestServer;
let admitted: string[];

beforeEach(async () => {
  admitted = [];
  test = await startTestServer({
    controllers: false,
    admission: [
      {
        name: "Recorder",
        handles: () => true,
        validate: ({ attributes: { user, resource, subresource }, operation, dryRun, object }) => {
          if (subresource === "" && operation === "CREATE") return;
          const kind = object?.kind ?? "";
          admitted.push(`${user.name} ${operation} ${resource}/${subresource} ${kind}${dryRun ? " dry run" : ""}`);
        },
      },
    ],
  });
  await test.server.registerCrds([widgetCrd()]);
  admitted.length = 0;
});
afterEach(() => test.server.close());

const create = async (path: string, object: object): Promise<Unstructured> => {
  const answer = await test.post(path, object);
  expect(answer.status).toBe(201);
  return objectOf(answer);
};
const send = (
  method: "POST" | "PUT" | "PATCH",
  path: string,
  body: unknown,
  query: Record<string, string> = {},
): Promise<ApiResponse> =>
  test.server.transport(bob).request({
    method,
    path,
    query,
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    body,
  });
const at = async (path: string): Promise<Unstructured> => objectOf(await test.get(path));
const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
const evict = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };

describe("pods/eviction", () => {
  it("is admitted as the caller's creation of an Eviction and not as a deletion by the server", async () => {
    await create(`${NS}/pods`, pod);
    expect((await send("POST", `${NS}/pods/p/eviction`, evict)).status).toBe(201);
    expect(admitted).toEqual(["bob CREATE pods/eviction Eviction"]);
    expect((await test.get(`${NS}/pods/p`)).status).toBe(404);
  });

  it.each([
    ["the parameter", { dryRun: "All" }, {}],
    ["the body's delete options", {}, { dryRun: ["All"] }],
  ])("keeps the pod on a dry run requested by %s", async (_where, query: Record<string, string>, deleteOptions) => {
    await create(`${NS}/pods`, pod);
    expect((await send("POST", `${NS}/pods/p/eviction`, { ...evict, deleteOptions }, query)).status).toBe(201);
    expect((await test.get(`${NS}/pods/p`)).status).toBe(200);
  });

  it.each([{}, { dryRun: "All" }])("keeps a pod that is not the one of the preconditions (%o)", async (query) => {
    await create(`${NS}/pods`, pod);
    const body = { ...evict, deleteOptions: { preconditions: { uid: "another" } } };
    expect((await send("POST", `${NS}/pods/p/eviction`, body, query as Record<string, string>)).status).toBe(409);
    expect((await test.get(`${NS}/pods/p`)).status).toBe(200);
  });
});

describe("pods/eviction with options in the body", () => {
  const dryRun = ["all"];

  it("deletes nothing where the body asks for an unknown dry run, or the parameter contradicts it", async () => {
    await create(`${NS}/pods`, pod);
    const body = { ...evict, deleteOptions: { dryRun } };
    const unknown = await send("POST", `${NS}/pods/p/eviction`, body);
    expect(`${unknown.status} ${String(objectOf(unknown)["message"])}`).toBe(
      '422 DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["all"]: supported values: "All"',
    );
    const answer = await send("POST", `${NS}/pods/p/eviction`, body, { dryRun: "All" });
    expect(`${answer.status} ${String(objectOf(answer)["message"])}`).toBe(
      "500 Non-matching dry-run options in request and content: [All] and [all]",
    );
    expect((await test.get(`${NS}/pods/p`)).status).toBe(200);
  });

  it("keeps the pod for its dependents when they are to go first", async () => {
    await create(`${NS}/pods`, pod);
    const body = { ...evict, deleteOptions: { propagationPolicy: "Foreground" } };
    expect((await send("POST", `${NS}/pods/p/eviction`, body)).status).toBe(201);
    expect((await at(`${NS}/pods/p`)).metadata.finalizers).toEqual(["foregroundDeletion"]);
  });
});

describe("pods/binding", () => {
  const bind = (metadata: object, query: Record<string, string> = {}): Promise<ApiResponse> =>
    send(
      "POST",
      `${NS}/pods/p/binding`,
      { apiVersion: "v1", kind: "Binding", metadata: { name: "p", ...metadata }, target: { kind: "Node", name: "n" } },
      query,
    );

  it("is admitted as the caller's creation of a Binding and not as a change by the server", async () => {
    await create(`${NS}/pods`, pod);
    expect((await bind({})).status).toBe(201);
    expect(admitted).toEqual(["bob CREATE pods/binding Binding"]);
    expect(await at(`${NS}/pods/p`)).toMatchObject({ spec: { nodeName: "n" } });
  });

  it.each([
    { query: {}, keys: "/registry/pods" },
    { query: { dryRun: "All" }, keys: "/pods" },
  ])("refuses a pod that is not the one of the Binding ($query)", async ({ query, keys }) => {
    const { metadata } = await create(`${NS}/pods`, pod);
    const other = await bind({ uid: "another" }, query as Record<string, string>);
    expect(`${other.status} ${String(objectOf(other)["message"])}`).toBe(
      `409 Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: ${keys}/default/p, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: another, UID in object meta: ${metadata.uid}`,
    );
    expect((await bind({ uid: metadata.uid, resourceVersion: "1" }, query as Record<string, string>)).status).toBe(409);
    expect((await at(`${NS}/pods/p`))["spec"]).not.toHaveProperty("nodeName");
    const { uid, resourceVersion } = metadata;
    expect((await bind({ uid, resourceVersion })).status).toBe(201);
  });

  it("refuses a pod that is not ready to be scheduled", async () => {
    await create(`${NS}/pods`, { ...pod, spec: { ...pod.spec, schedulingGates: [{ name: "example.test/wait" }] } });
    expect((await bind({})).status).toBe(409);
  });
});

describe("serviceaccounts/token", () => {
  const path = `${NS}/serviceaccounts/robot/token`;
  const token = (metadata: object, spec: object = {}): object => ({
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata,
    spec,
  });

  it("is admitted as the caller's creation of a TokenRequest", async () => {
    await create(`${NS}/serviceaccounts`, { metadata: { name: "robot" } });
    expect((await send("POST", path, token({}))).status).toBe(201);
    expect(admitted).toEqual(["bob CREATE serviceaccounts/token TokenRequest"]);
  });

  it("issues nothing for another account of the name, nor for a pod of another account", async () => {
    await create(`${NS}/serviceaccounts`, { metadata: { name: "robot" } });
    await create(`${NS}/pods`, pod);
    expect((await send("POST", path, token({ uid: "another" }))).status).toBe(409);
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "p" };
    const answer = await send("POST", path, token({}, { boundObjectRef }));
    expect(`${answer.status} ${String(objectOf(answer)["message"])}`).toBe(
      '400 cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    );
  });
});

describe("namespaces/finalize", () => {
  const path = "/api/v1/namespaces/team";

  it("changes finalizers and neither the status nor, on a dry run, anything", async () => {
    const namespace = await create("/api/v1/namespaces", { metadata: { name: "team" } });
    const body = { ...namespace, spec: { finalizers: ["example.test/x"] }, status: { phase: "Terminating" } };
    expect((await send("PUT", `${path}/finalize`, body, { dryRun: "All" })).status).toBe(200);
    expect(await at(path)).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
    expect((await send("PUT", `${path}/finalize`, body)).status).toBe(200);
    expect(await at(path)).toMatchObject({ spec: { finalizers: ["example.test/x"] }, status: { phase: "Active" } });
    expect(admitted).toEqual([
      "bob UPDATE namespaces/finalize Namespace dry run",
      "bob UPDATE namespaces/finalize Namespace",
    ]);
  });
});

describe("status and scale", () => {
  const widgets = "/apis/example.test/v1/namespaces/default/widgets";

  it("of custom resources honour a dry run, the field manager and resourceVersions", async () => {
    await create(widgets, {
      apiVersion: "example.test/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { replicas: 1 },
    });
    const before = await at(`${widgets}/w`);
    const scaled = { spec: { replicas: 5 } };
    await send("PATCH", `${widgets}/w/scale`, scaled, { dryRun: "All" });
    await send("PATCH", `${widgets}/w/status`, { status: { ready: true } }, { dryRun: "All" });
    const stale = { metadata: { resourceVersion: "1" } };
    expect((await send("PATCH", `${widgets}/w/scale`, { ...scaled, ...stale })).status).toBe(409);
    expect((await send("PATCH", `${widgets}/w/status`, { status: { ready: true }, ...stale })).status).toBe(409);
    expect(await at(`${widgets}/w`)).toEqual(before);
    await send("PATCH", `${widgets}/w/scale`, scaled, { fieldManager: "scaler" });
    await send("PATCH", `${widgets}/w/status`, { status: { ready: true } }, { fieldManager: "reporter" });
    const { managedFields = [] } = (await at(`${widgets}/w`)).metadata;
    expect(managedFields.map(({ manager, subresource }) => [manager, subresource])).toEqual(
      expect.arrayContaining([
        ["scaler", "scale"],
        ["reporter", "status"],
      ]),
    );
    expect(new Set(admitted.map((line) => line.split(" ")[0]))).toEqual(new Set(["bob"]));
  });

  it("of built-in kinds refuse another UID, and unknown fields under strict validation", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const labels = { app: "x" };
    await create(deployments, {
      metadata: { name: "d" },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: pod.spec },
      },
    });
    const scale = (metadata: object, spec: object): object => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d", ...metadata },
      spec,
    });
    const put = (body: object, query = {}): Promise<ApiResponse> => send("PUT", `${deployments}/d/scale`, body, query);
    expect((await put(scale({ uid: "another" }, { replicas: 5 }))).status).toBe(409);
    const strict = await put(scale({}, { replicas: 5, replica: 6 }), { fieldValidation: "Strict" });
    expect(strict.status).toBe(400);
    expect(String(objectOf(strict)["message"])).toContain('unknown field "spec.replica"');
    expect(await at(`${deployments}/d`)).toMatchObject({ spec: { replicas: 1 } });
  });
});

describe("scale patches", () => {
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  const labels = { app: "x" };

  beforeEach(async () => {
    const template = { metadata: { labels }, spec: pod.spec };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    const answer = await send("POST", deployments, { metadata: { name: "d" }, spec }, { fieldManager: "owner" });
    expect(answer.status).toBe(201);
  });
  const apply = (replicas: number, query: Record<string, string>): Promise<ApiResponse> =>
    test.server.transport(bob).request({
      method: "PATCH",
      path: `${deployments}/d/scale`,
      query,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas } },
    });

  it("concern a Scale that says which pods are scaled, as autoscalers expect", async () => {
    expect(await at(`${deployments}/d/scale`)).toMatchObject({ status: { replicas: 0, selector: "app=x" } });
  });

  it("refuse unknown fields under strict validation", async () => {
    const body = { spec: { replica: 6 } };
    const strict = await send("PATCH", `${deployments}/d/scale`, body, { fieldValidation: "Strict" });
    expect(strict.status).toBe(422);
    expect(String(objectOf(strict)["message"])).toContain('unknown field "spec.replica"');
    expect((await send("PATCH", `${deployments}/d/scale`, body)).warnings).toEqual(['unknown field "spec.replica"']);
  });

  it("that are applied do not take the replicas from another manager, unless forced", async () => {
    const refused = await apply(5, { fieldManager: "scaler" });
    expect(refused.status).toBe(409);
    expect(await at(`${deployments}/d`)).toMatchObject({ spec: { replicas: 1 } });
    expect((await apply(5, { fieldManager: "scaler", force: "true", dryRun: "All" })).status).toBe(200);
    expect(await at(`${deployments}/d`)).toMatchObject({ spec: { replicas: 1 } });
    const forced = await apply(5, { fieldManager: "scaler", force: "true" });
    expect(objectOf(forced)).toMatchObject({ kind: "Scale", spec: { replicas: 5 } });
    const { metadata, spec } = await at(`${deployments}/d`);
    expect(spec).toMatchObject({ replicas: 5 });
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: "scaler", operation: "Apply", subresource: "scale" }),
    );
  });
});

describe("certificatesigningrequests/approval", () => {
  it("belongs to the field manager of the request", async () => {
    const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const request = Buffer.from("-----BEGIN CERTIFICATE REQUEST-----").toString("base64");
    const spec = { request, signerName: "example.test/signer", usages: ["client auth"] };
    await create(path, { metadata: { name: "r" }, spec });
    const status = { conditions: [{ type: "Denied", status: "True", reason: "No", message: "" }] };
    const answer = await send("PATCH", `${path}/r/approval`, { status }, { fieldManager: "judge" });
    expect(answer.status).toBe(200);
    const { managedFields = [] } = objectOf(answer).metadata;
    expect(managedFields.map(({ manager, subresource }) => [manager, subresource])).toContainEqual([
      "judge",
      "approval",
    ]);
    expect(admitted).toEqual(["bob UPDATE certificatesigningrequests/approval CertificateSigningRequest"]);
  });
});
