import {
  type ApiRequest,
  type ApiResponse,
  seededRandom,
  type Transport,
  type Unstructured,
  VirtualClock,
  type WatchEvent,
} from "@capstan/apimachinery";
import { type ApiServer, type ApiServerOptions, createApiServer, memoryStore } from "@capstan/apiserver";

/** A management API in memory with RBAC, and the ways an attack uses it. */
export interface ManagementApi {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  /** Sends a JSON request as a user without any other groups than `system:authenticated`. */
  as(user: string): (method: ApiRequest["method"], path: string, body?: unknown, query?: Query) => Promise<ApiResponse>;
  /** The same as a member of system:masters. */
  admin(method: ApiRequest["method"], path: string, body?: unknown, query?: Query): Promise<ApiResponse>;
  /** The first `count` events of a watch. */
  watch(user: string, path: string, query: Query, count: number): Promise<WatchEvent[]>;
  /** Gives a user a ClusterRole of its own with these rules. */
  allow(user: string, rules: readonly object[]): Promise<void>;
  close(): Promise<void>;
}

type Query = Record<string, string>;

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** Starts one. */
export async function startManagementApi(options: Partial<ApiServerOptions> = {}): Promise<ManagementApi> {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(11), ...options });
  const sender = (transport: Transport) => {
    return async (
      method: ApiRequest["method"],
      path: string,
      body?: unknown,
      query: Query = {},
    ): Promise<ApiResponse> =>
      transport.request({
        method,
        path,
        query,
        headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
        ...(body === undefined ? {} : { body }),
      });
  };
  const transportOf = (name: string): Transport => server.transport({ name, groups: ["system:authenticated"] });
  const admin = sender(server.admin());
  const created = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await admin("POST", path, body);
    if (status !== 201) throw new Error(`${path} was not created: ${JSON.stringify(answer)}`);
  };
  return {
    server,
    clock,
    admin,
    as: (user) => sender(transportOf(user)),
    watch: async (user, path, query, count) => {
      const events: WatchEvent[] = [];
      for await (const event of transportOf(user).watch({ method: "GET", path, query })) {
        events.push(event);
        if (events.length >= count) break;
      }
      return events;
    },
    allow: async (user, rules) => {
      await created(`${RBAC}/clusterroles`, { metadata: { name: user }, rules });
      await created(`${RBAC}/clusterrolebindings`, {
        metadata: { name: user },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user },
        subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
      });
    },
    close: () => server.close(),
  };
}

/** The object in an answer. */
export function objectOf(response: ApiResponse): Unstructured {
  return response.body as Unstructured;
}
