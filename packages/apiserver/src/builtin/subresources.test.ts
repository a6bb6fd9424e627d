import { ApiError, deepCopy, type Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import type { InternalApi, ResourceKey, ResourceType, SubresourceHandler } from "../types.ts";
import { withSubresource } from "./define.ts";
import { builtinTypes } from "./index.ts";

/** Objects in a map: just enough of the server for the handlers of subresources. */
function fakeApi(objects: Unstructured[]): InternalApi & { deleted: string[] } {
  const deleted: string[] = [];
  const kindOf = (type: ResourceKey): string => typeOf(type.plural).kind;
  const find = (type: ResourceKey, namespace: string, name: string): Unstructured | undefined =>
    objects.find(
      (o) => o.kind === kindOf(type) && o.metadata.name === name && (o.metadata.namespace ?? "") === namespace,
    );
  return {
    deleted,
    get: find,
    list: (type, namespace) =>
      objects.filter((o) => o.kind === kindOf(type) && (namespace === undefined || o.metadata.namespace === namespace)),
    create: (_type, object) => Promise.resolve(object),
    update: (type, namespace, name, _manager, change) => {
      const object = find(type, namespace, name);
      if (object === undefined) return Promise.resolve(undefined);
      const copy = deepCopy(object);
      if (change(copy) !== false) Object.assign(object, copy);
      return Promise.resolve(object);
    },
    delete: (_type, _namespace, name, options) => {
      if (options?.dryRun !== true) deleted.push(name);
      return Promise.resolve();
    },
    watch: () => () => {},
  };
}

function typeOf(plural: string): ResourceType {
  return builtinTypes().find((t) => t.plural === plural) as ResourceType;
}

type Request = Parameters<SubresourceHandler>[0];

async function call(plural: string, name: string, request: Pick<Request, "api" | "name"> & Partial<Request>) {
  const handle = typeOf(plural).subresources.find((s) => s.name === name)?.handle;
  if (handle === undefined) throw new Error(`${plural}/${name} has no handler`);
  const user = { name: "admin", groups: [] };
  return handle({ user, namespace: "", body: eviction("a"), dryRun: false, nowMs: 0, ...request });
}

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => undefined,
    (e: unknown) => e,
  );
  if (!(error instanceof ApiError)) throw new Error("was not refused");
  return error;
}

const pod = (name: string, ready = true, phase = "Running"): Unstructured => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels: { app: "x" } },
  status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
});

const budget = (spec: object, status?: object): Unstructured => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "b", namespace: "default", generation: 1 },
  spec: { selector: { matchLabels: { app: "x" } }, ...spec },
  status,
});

const eviction = (name: string): Unstructured => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });

const evict = (objects: Unstructured[], more: Partial<Request> = {}) => {
  const api = fakeApi(objects);
  const body = eviction("a");
  return { api, answer: call("pods", "eviction", { api, name: "a", namespace: "default", body, ...more }) };
};

describe("pods/eviction", () => {
  it("deletes a pod that no budget protects", async () => {
    const { api, answer } = evict([pod("a")]);
    expect(await answer).toMatchObject({ status: 201, object: { kind: "Status", status: "Success" } });
    expect(api.deleted).toEqual(["a"]);
  });

  it.each([
    ["minAvailable 1 of 2", { minAvailable: 1 }, [pod("a"), pod("b")], true],
    ["minAvailable 2 of 2", { minAvailable: 2 }, [pod("a"), pod("b")], false],
    ["minAvailable 50% of 3, rounded up", { minAvailable: "50%" }, [pod("a"), pod("b"), pod("c", false)], false],
    ["maxUnavailable 1, one down already", { maxUnavailable: 1 }, [pod("a"), pod("b", false)], false],
    ["maxUnavailable 1", { maxUnavailable: 1 }, [pod("a"), pod("b")], true],
  ])(
    "counts pods itself where no controller maintains the budget's status: %s",
    async (_title, spec, pods, allowed) => {
      const { api, answer } = evict([...pods, budget(spec)]);
      if (allowed) await answer;
      else {
        const error = await refusal(answer);
        expect(error.status).toMatchObject({
          code: 429,
          reason: "TooManyRequests",
          message: "Cannot evict pod as it would violate the pod's disruption budget.",
          details: { causes: [{ reason: "DisruptionBudget" }] },
        });
      }
      expect(api.deleted).toEqual(allowed ? ["a"] : []);
    },
  );

  it("uses and decrements a status that a controller maintains", async () => {
    const kept = budget({ minAvailable: 1 }, { observedGeneration: 1, disruptionsAllowed: 1 });
    const { api, answer } = evict([pod("a"), kept]);
    await answer;
    expect(kept.status).toMatchObject({ disruptionsAllowed: 0 });
    const second = call("pods", "eviction", { api, name: "a", namespace: "default", body: eviction("a") });
    expect((await refusal(second)).code).toBe(429);
  });

  it("evicts finished and pending pods, and changes nothing on a dry run", async () => {
    const done = evict([pod("a", false, "Succeeded"), budget({ minAvailable: 5 })]);
    await done.answer;
    expect(done.api.deleted).toEqual(["a"]);
    const dry = evict([pod("a")], { dryRun: true });
    await dry.answer;
    expect(dry.api.deleted).toEqual([]);
    const inBody = evict([pod("a")], { body: { ...eviction("a"), deleteOptions: { dryRun: ["All"] } } });
    await inBody.answer;
    expect(inBody.api.deleted).toEqual([]);
  });

  it("refuses what does not exist or is ambiguous", async () => {
    expect((await refusal(evict([]).answer)).code).toBe(404);
    const two = [
      budget({ minAvailable: 0 }),
      { ...budget({ minAvailable: 0 }), metadata: { name: "c", namespace: "default" } },
    ];
    expect((await refusal(evict([pod("a"), ...two]).answer)).code).toBe(500);
  });
});

describe("certificatesigningrequests/approval", () => {
  const request = (): Unstructured => ({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "r", resourceVersion: "4" },
    spec: { username: "bob" },
    status: {},
  });
  const approved = [{ type: "Approved", status: "True", reason: "Ok", message: "" }];

  it("is the only way to approve, and status the only way to issue", () => {
    const { strategy } = typeOf("certificatesigningrequests");
    const old = request();
    const fields = (object: Unstructured, subresource: string): string[] =>
      (strategy.validateUpdate?.(object, old, subresource) ?? [])
        .map((e) => e.field)
        .filter((f) => f.startsWith("status"));
    const decided = { ...request(), status: { conditions: approved } };
    expect(fields(decided, "")).toEqual(["status.conditions"]);
    expect(fields(decided, "approval")).toEqual([]);
    const issued = { ...request(), status: { certificate: "eA==" } };
    expect(fields(issued, "")).toEqual(["status.certificate"]);
    expect(fields(issued, "status")).toEqual([]);
    const late = { ...request(), status: { conditions: [{ ...approved[0], message: "changed" }] } };
    strategy.prepareForUpdate?.(late, decided, "status", 0);
    expect(late.status).toMatchObject(decided.status);
    expect(fields(decided, "status")).toEqual(["status.conditions"]);
  });
});

describe("withSubresource", () => {
  it("adds a handler without touching the shared type", () => {
    const handle: SubresourceHandler = () => Promise.reject(new Error("not called"));
    const type = withSubresource(typeOf("serviceaccounts"), "token", handle);
    expect(type.subresources[0]?.handle).toBe(handle);
    expect(typeOf("serviceaccounts").subresources[0]?.handle).toBeUndefined();
    expect(type.schema).toBe(typeOf("serviceaccounts").schema);
  });
});
