import type { Duplex } from "node:stream";
import type { Unstructured } from "./object.ts";

/** An API request, independent of the transport that sends it. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute path without query, e.g. `/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters`. */
  path: string;
  query?: Record<string, string | string[] | undefined>;
  headers?: Record<string, string>;
  /** A JSON value, or bytes that are sent unchanged. The receiver neither modifies nor keeps the value. */
  body?: unknown;
}

/** The response to an API request. A transport returns error responses, with a `Status` as body, and throws only on network failures. */
export interface ApiResponse {
  status: number;
  headers: Record<string, string | undefined>;
  /** Parsed JSON (in process: the server's own frozen object) or text for non-JSON endpoints. */
  body: unknown;
  /** Texts of `Warning: 299` headers. */
  warnings: string[];
  /** Length of the body as received; set only for servers whose address comes from an object, such as workload clusters. */
  bytes?: number;
}

/** metav1.WatchEvent: one change in a watch stream, a bookmark, or a Status that reports an error. */
export interface WatchEvent<T = Unstructured> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
  /** Length of the event as received; set only for servers whose address comes from an object, such as workload clusters. */
  bytes?: number;
}

/** How a client reaches an API server: over HTTPS or in process, with the same semantics. */
export interface Transport {
  request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse>;
  /** Returns when the server closes the stream; throws ApiError when the server rejects the watch. */
  watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent>;
  /** Upgrades a request to another protocol; missing where the transport has no network connection. Throws ApiError when rejected. */
  upgrade?(request: ApiRequest, signal?: AbortSignal): Promise<Upgraded>;
  close(): Promise<void>;
}

/** A connection that was upgraded to another protocol, such as WebSocket. */
export interface Upgraded {
  headers: Record<string, string | undefined>;
  socket: Duplex;
}

/** The user that makes a request, as authentication or an access review determines it. */
export interface UserInfo {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}
