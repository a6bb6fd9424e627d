import {
  type ApiRequest,
  type ApiResponse,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
  type WatchEvent,
} from "@capstan/apimachinery";
import { type ApiServer, type ApiServerOptions, createApiServer } from "../api-server.ts";
import { memoryStore } from "../store/memory-store.ts";

/** A server in memory with virtual time, and short ways to talk to it. */
export interface TestServer {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  readonly admin: Transport;
  readonly failures: unknown[];
  get(path: string, query?: ApiRequest["query"], headers?: Record<string, string>): Promise<ApiResponse>;
  post(path: string, body: unknown, query?: ApiRequest["query"]): Promise<ApiResponse>;
  put(path: string, body: unknown, query?: ApiRequest["query"]): Promise<ApiResponse>;
  patch(path: string, type: string, body: unknown, query?: ApiRequest["query"]): Promise<ApiResponse>;
  delete(path: string, body?: unknown, query?: ApiRequest["query"]): Promise<ApiResponse>;
  /** Collects events until stopped. */
  watch(path: string, query?: ApiRequest["query"]): { events: WatchEvent[]; stop(): void; done: Promise<void> };
}

/** Starts one. */
export async function startTestServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const clock = new VirtualClock();
  const failures: unknown[] = [];
  const server = await createApiServer({
    store: memoryStore(),
    clock,
    random: seededRandom(7),
    log: (_message, error) => failures.push(error),
    ...options,
  });
  const admin = server.admin();
  const send = (
    method: ApiRequest["method"],
    path: string,
    body: unknown,
    query: ApiRequest["query"],
    headers: Record<string, string>,
  ): Promise<ApiResponse> =>
    admin.request({
      method,
      path,
      headers,
      query,
      body,
    });
  const json = { "content-type": "application/json" };
  return {
    server,
    clock,
    admin,
    failures,
    get: (path, query, headers = {}) => send("GET", path, undefined, query, headers),
    post: (path, body, query) => send("POST", path, body, query, json),
    put: (path, body, query) => send("PUT", path, body, query, json),
    patch: (path, type, body, query) => send("PATCH", path, body, query, { "content-type": type }),
    delete: (path, body, query) => send("DELETE", path, body, query, json),
    watch: (path, query = {}) => {
      const events: WatchEvent[] = [];
      const abort = new AbortController();
      const done = (async () => {
        for await (const event of admin.watch({ method: "GET", path, query }, abort.signal)) events.push(event);
      })();
      return { events, stop: () => abort.abort(), done };
    },
  };
}

/** A small CRD `widgets.example.test` with status and scale; `change` may alter it. */
export function widgetCrd(change?: (crd: Unstructured) => void): Unstructured {
  const crd: Unstructured = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.test" },
    spec: {
      group: "example.test",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wg"] },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  properties: {
                    size: { type: "integer", minimum: 0 },
                    colour: { type: "string", default: "red" },
                    replicas: { type: "integer" },
                    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  },
                },
                status: {
                  type: "object",
                  properties: {
                    ready: { type: "boolean" },
                    replicas: { type: "integer" },
                    selector: { type: "string" },
                  },
                },
              },
            },
          },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.replicas",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.selector",
            },
          },
        },
      ],
    },
  };
  change?.(crd);
  return crd;
}

/** The object in a response. */
export function objectOf(response: ApiResponse): Unstructured {
  return response.body as Unstructured;
}
