import type { KubeList, Status } from "@capstan/apimachinery";
import { beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/server.ts";
import { decodeContinue, encodeContinue } from "./continue-token.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const ALL = "/api/v1/configmaps";

let t: TestServer;
const list = async (path: string, query: Record<string, string> = {}): Promise<KubeList> =>
  (await t.get(path, query)).body as KubeList;
const names = (page: KubeList): (string | undefined)[] => page.items.map((o) => o.metadata.name);
const add = (name: string, labels: Record<string, string> = {}): Promise<unknown> =>
  t.post(PATH, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } });

beforeEach(async () => {
  t = await startTestServer({ controllers: false });
});

describe("lists", () => {
  it("are ordered by the joined string of namespace and name", async () => {
    for (const namespace of ["a", "a-b"]) {
      await t.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
      await t.post(`/api/v1/namespaces/${namespace}/configmaps`, object);
    }
    expect((await list(ALL)).items.map((o) => o.metadata.namespace)).toEqual(["a-b", "a"]);
  });

  it("page through one revision, whatever is written meanwhile", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await add(name);
    const first = await list(PATH, { limit: "2" });
    expect(names(first)).toEqual(["a", "b"]);
    expect(first.metadata.remainingItemCount).toBe(3);
    await t.delete(`${PATH}/d`);
    await add("cc");
    const second = await list(PATH, { limit: "2", continue: first.metadata.continue ?? "" });
    expect(names(second)).toEqual(["c", "d"]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const third = await list(PATH, { limit: "2", continue: second.metadata.continue ?? "" });
    expect(names(third)).toEqual(["e"]);
    expect(third.metadata.continue).toBeUndefined();
  });

  it("fill pages after filtering and then do not count what remains", async () => {
    for (const [i, name] of ["a", "b", "c", "d"].entries()) await add(name, { odd: String(i % 2) });
    const page = await list(PATH, { limit: "1", labelSelector: "odd=1" });
    expect(names(page)).toEqual(["b"]);
    expect(page.metadata.remainingItemCount).toBeUndefined();
    expect(names(await list(PATH, { labelSelector: "odd=1", continue: page.metadata.continue ?? "" }))).toEqual(["d"]);
  });

  it("continue inconsistently with a token of revision -1", async () => {
    for (const name of ["a", "b", "c"]) await add(name);
    const token = encodeContinue({ revision: -1, start: "b" });
    expect(names(await list(PATH, { continue: token }))).toEqual(["b", "c"]);
  });

  it("show an exact revision with Exact, and with a bare limit", async () => {
    await add("a");
    const { metadata } = await list(PATH);
    await add("b");
    const resourceVersion = metadata.resourceVersion ?? "";
    expect(names(await list(PATH, { resourceVersion, resourceVersionMatch: "Exact" }))).toEqual(["a"]);
    expect(names(await list(PATH, { resourceVersion, limit: "10" }))).toEqual(["a"]);
    expect(names(await list(PATH, { resourceVersion }))).toEqual(["a", "b"]);
    expect(names(await list(PATH, { resourceVersion, resourceVersionMatch: "NotOlderThan" }))).toEqual(["a", "b"]);
  });

  it("ignore the limit where any version is accepted, as upstream's watch cache does", async () => {
    for (const name of ["a", "b"]) await add(name);
    expect(names(await list(PATH, { resourceVersion: "0", limit: "1" }))).toEqual(["a", "b"]);
  });

  it("wait for a revision to come, then answer 504", async () => {
    const pending = t.get(PATH, { resourceVersion: "99999" });
    await t.clock.advance(3000);
    const reply = await pending;
    expect(reply.status).toBe(504);
    expect((reply.body as Status).details).toMatchObject({
      causes: [{ reason: "ResourceVersionTooLarge" }],
      retryAfterSeconds: 1,
    });
  });

  it.each([
    [{ resourceVersionMatch: "Exact" }, 422],
    [{ resourceVersion: "0", resourceVersionMatch: "Exact" }, 422],
    [{ resourceVersion: "1", resourceVersionMatch: "Odd" }, 422],
    [{ sendInitialEvents: "true" }, 422],
    [{ resourceVersion: "x" }, 400],
    [{ continue: "x" }, 400],
    [{ labelSelector: "a in" }, 400],
    [{ fieldSelector: "spec.x=1" }, 400],
    [{ limit: "x" }, 400],
  ])("refuse %j", async (query, status) => {
    expect((await t.get(PATH, query)).status).toBe(status);
  });

  it("leave apiVersion and kind out of items on the wire, as typed lists do", async () => {
    await add("a");
    const { body } = await t.get(PATH, {}, { accept: "application/json" });
    expect(body).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1" });
  });
});

describe("continue tokens", () => {
  it("survive a round trip", () => {
    const token = { revision: 7, start: "ns/name\0" };
    expect(decodeContinue(encodeContinue(token))).toEqual(token);
  });

  it.each(["", "{}", '{"v":"meta.k8s.io/v1","rv":0,"start":"a"}', '{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}'])(
    "refuse %j",
    (json) => {
      expect(() => decodeContinue(Buffer.from(json).toString("base64url"))).toThrow("continue key is not valid");
    },
  );
});
