import assert from "node:assert/strict";
import { ApiError, type ApiResponse, type Transport, type Unstructured, type WatchEvent } from "@capstan/apimachinery";

/** One thing every transport must do. */
export interface TransportCase {
  readonly name: string;
  /** `transport` reaches a running API server as an administrator; `namespace` exists and is this case's own. */
  readonly run: (transport: Transport, namespace: string) => Promise<void>;
}

const path = (namespace: string, name?: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps${name === undefined ? "" : `/${name}`}`;

function configMap(name: string, data: Record<string, string> = {}): Unstructured {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

async function create(transport: Transport, namespace: string, object: Unstructured): Promise<Unstructured> {
  const response = await transport.request({ method: "POST", path: path(namespace), body: object });
  assert.equal(response.status, 201, JSON.stringify(response.body));
  return response.body as Unstructured;
}

async function take(events: AsyncIterable<WatchEvent>, count: number): Promise<WatchEvent[]> {
  const out: WatchEvent[] = [];
  for await (const event of events) {
    out.push(event);
    if (out.length === count) break;
  }
  return out;
}

function reasonOf(response: ApiResponse): unknown {
  return (response.body as { reason?: unknown }).reason;
}

/**
 * The conformance suite of transports: the in-process one, HTTP to our server and HTTP to real Kubernetes all pass it, so
 * callers cannot distinguish them. Framework free: make one test of each case.
 */
export const transportCases: readonly TransportCase[] = [
  {
    name: "a missing object is an answer with a Status, not an exception",
    async run(transport, namespace) {
      const response = await transport.request({ method: "GET", path: path(namespace, "missing") });
      assert.equal(response.status, 404);
      assert.equal(reasonOf(response), "NotFound");
      assert.equal((response.body as { details?: { name?: string } }).details?.name, "missing");
    },
  },
  {
    name: "what is created can be read, with metadata the server sets, and the body given is left alone",
    async run(transport, namespace) {
      const body = configMap("made", { key: "välue ☃\n" });
      const before = JSON.stringify(body);
      const made = await create(transport, namespace, body);
      assert.equal(JSON.stringify(body), before);
      assert.ok(made.metadata.uid !== undefined && made.metadata.resourceVersion !== undefined);
      body["data"] = { key: "changed later" };
      const read = await transport.request({ method: "GET", path: path(namespace, "made") });
      assert.equal(read.status, 200);
      assert.deepEqual((read.body as Unstructured)["data"], { key: "välue ☃\n" });
    },
  },
  {
    name: "an object of half a megabyte passes unharmed",
    async run(transport, namespace) {
      const big = "0123456789abcdef".repeat(32_768);
      await create(transport, namespace, configMap("big", { big }));
      const read = await transport.request({ method: "GET", path: path(namespace, "big") });
      assert.equal(((read.body as Unstructured)["data"] as { big: string }).big, big);
    },
  },
  {
    name: "an update with an old resourceVersion is a Conflict",
    async run(transport, namespace) {
      const made = await create(transport, namespace, configMap("contested"));
      const put = (data: object): Promise<ApiResponse> =>
        transport.request({ method: "PUT", path: path(namespace, "contested"), body: { ...made, data } });
      assert.equal((await put({ a: "1" })).status, 200);
      const second = await put({ a: "2" });
      assert.equal(second.status, 409);
      assert.equal(reasonOf(second), "Conflict");
    },
  },
  {
    name: "the content type decides what a patch means",
    async run(transport, namespace) {
      await create(transport, namespace, configMap("patched", { a: "1", b: "2" }));
      const patch = (type: string, body: unknown): Promise<ApiResponse> =>
        transport.request({
          method: "PATCH",
          path: path(namespace, "patched"),
          query: { fieldManager: "suite", force: type.includes("apply") ? "true" : undefined },
          headers: { "content-type": type },
          body,
        });
      const merged = await patch("application/merge-patch+json", { data: { a: null } });
      assert.deepEqual((merged.body as Unstructured)["data"], { b: "2" });
      const json = await patch("application/json-patch+json", [{ op: "add", path: "/data/c", value: "3" }]);
      assert.deepEqual((json.body as Unstructured)["data"], { b: "2", c: "3" });
      const applied = await patch("application/apply-patch+yaml", configMap("patched", { d: "4" }));
      assert.deepEqual((applied.body as Unstructured)["data"], { b: "2", c: "3", d: "4" });
    },
  },
  {
    name: "query parameters select, absent ones do not count",
    async run(transport, namespace) {
      const labelled = configMap("labelled");
      labelled.metadata.labels = { app: "x" };
      await create(transport, namespace, labelled);
      await create(transport, namespace, configMap("plain"));
      const list = async (query: Record<string, string | undefined>): Promise<string[]> => {
        const { body } = await transport.request({ method: "GET", path: path(namespace), query });
        return (body as { items: Unstructured[] }).items.map(({ metadata }) => metadata.name ?? "");
      };
      const all = await list({ labelSelector: undefined });
      assert.ok(all.includes("labelled") && all.includes("plain"));
      assert.deepEqual(await list({ labelSelector: "app in (x, y)" }), ["labelled"]);
      assert.deepEqual(await list({ fieldSelector: "metadata.name=plain" }), ["plain"]);
    },
  },
  {
    name: "a refusal carries the server's reason and causes",
    async run(transport, namespace) {
      const body = configMap("Not A Name");
      const response = await transport.request({ method: "POST", path: path(namespace), body });
      assert.equal(response.status, 422);
      assert.equal(reasonOf(response), "Invalid");
      const causes = (response.body as { details?: { causes?: { field?: string }[] } }).details?.causes;
      assert.equal(causes?.[0]?.field, "metadata.name");
    },
  },
  {
    name: "warnings arrive",
    async run(transport, namespace) {
      const response = await transport.request({
        method: "POST",
        path: path(namespace),
        query: { fieldValidation: "Warn" },
        body: { ...configMap("warned"), surplus: 1 },
      });
      assert.equal(response.status, 201);
      assert.deepEqual(response.warnings, ['unknown field "surplus"']);
    },
  },
  {
    name: "endpoints that are not JSON give text",
    async run(transport) {
      const response = await transport.request({ method: "GET", path: "/readyz" });
      assert.equal(response.status, 200);
      assert.equal(response.body, "ok");
    },
  },
  {
    name: "a watch gives changes after a revision, in order",
    async run(transport, namespace) {
      const first = await create(transport, namespace, configMap("watched-0"));
      const query = { watch: "true", resourceVersion: first.metadata.resourceVersion };
      const events = take(transport.watch({ method: "GET", path: path(namespace), query }), 3);
      await create(transport, namespace, configMap("watched-1"));
      await transport.request({
        method: "PATCH",
        path: path(namespace, "watched-1"),
        headers: { "content-type": "application/merge-patch+json" },
        body: { data: { a: "1" } },
      });
      await transport.request({ method: "DELETE", path: path(namespace, "watched-1") });
      assert.deepEqual(
        (await events).map(({ type, object }) => `${type} ${object.metadata.name}`),
        ["ADDED watched-1", "MODIFIED watched-1", "DELETED watched-1"],
      );
    },
  },
  {
    name: "a watch with initial events sends what is there, then a bookmark that says so",
    async run(transport, namespace) {
      for (const name of ["a", "b", "c"]) await create(transport, namespace, configMap(`initial-${name}`));
      const query = {
        watch: "true",
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
        fieldSelector: "metadata.name!=kube-root-ca.crt",
      };
      const events = await take(transport.watch({ method: "GET", path: path(namespace), query }), 4);
      assert.deepEqual(
        events.map(({ type }) => type),
        ["ADDED", "ADDED", "ADDED", "BOOKMARK"],
      );
      assert.equal(events[3]?.object.metadata.annotations?.["k8s.io/initial-events-end"], "true");
    },
  },
  {
    name: "a watch the server refuses throws its Status",
    async run(transport) {
      const watch = transport.watch({ method: "GET", path: "/apis/no.such.group/v1/things", query: { watch: "true" } });
      await assert.rejects(take(watch, 1), (error) => error instanceof ApiError && error.code === 404);
    },
  },
  {
    name: "aborting a watch closes it without an error, and leaving it early leaves the transport usable",
    async run(transport, namespace) {
      await create(transport, namespace, configMap("ended"));
      const stop = new AbortController();
      let seen = 0;
      const query = { watch: "true" };
      for await (const _ of transport.watch({ method: "GET", path: path(namespace), query }, stop.signal)) {
        seen++;
        stop.abort();
      }
      assert.ok(seen >= 1);
      await take(transport.watch({ method: "GET", path: path(namespace), query }), 1);
      assert.equal((await transport.request({ method: "GET", path: path(namespace, "ended") })).status, 200);
    },
  },
  {
    name: "an aborted request rejects",
    async run(transport, namespace) {
      const stop = new AbortController();
      stop.abort(new Error("changed my mind"));
      await assert.rejects(transport.request({ method: "GET", path: path(namespace) }, stop.signal));
    },
  },
];
