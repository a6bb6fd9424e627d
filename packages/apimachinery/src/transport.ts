import type { Duplex } from "node:stream";
import type { Unstructured } from "./object.ts";

/** One API request, independent of how it travels. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute path without query, e.g. `/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters`. */
  path: string;
  query?: Record<string, string | string[] | undefined>;
  headers?: Record<string, string>;
  /** A JSON value, or bytes sent as they are. The receiver never changes nor keeps a value it is given. */
  body?: unknown;
}

/** The answer. Failures are not thrown by a transport: status and a `Status` body tell. Network failures throw. */
export interface ApiResponse {
  status: number;
  headers: Record<string, string | undefined>;
  /** Parsed JSON (in process: the server's own frozen object) or text for non-JSON endpoints. */
  body: unknown;
  /** Texts of `Warning: 299` headers. */
  warnings: string[];
  /** How long the body was, where the server is somebody else's. */
  bytes?: number;
}

export interface WatchEvent<T = Unstructured> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
  /** How long the event was, where the server is somebody else's. */
  bytes?: number;
}

/** How a client reaches an API server: over HTTPS or in process, with the same semantics. */
export interface Transport {
  request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse>;
  /** Ends when the server ends the stream; throws ApiError when the server refuses the watch before it starts. */
  watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent>;
  /** Turns a request into a connection of another protocol, where the way to the server is a connection; throws ApiError when refused. */
  upgrade?(request: ApiRequest, signal?: AbortSignal): Promise<Upgraded>;
  close(): Promise<void>;
}

/** A connection that speaks another protocol from now on. */
export interface Upgraded {
  headers: Record<string, string | undefined>;
  socket: Duplex;
}

/** Who makes a request. */
export interface UserInfo {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}
