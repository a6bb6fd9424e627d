import {
  type OwnerReference,
  type Random,
  seededRandom,
  settle,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer } from "../../api-server.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { InternalApi, ResourceKey } from "../../types.ts";
import type { Controller, ControllerDeps } from "../deps.ts";

export const CONFIG_MAPS: ResourceKey = { group: "", plural: "configmaps" };
export const NAMESPACES: ResourceKey = { group: "", plural: "namespaces" };

/** A real server in memory and one controller on it, in virtual time. */
export interface Harness {
  server: ApiServer;
  api: InternalApi;
  clock: VirtualClock;
  random: Random;
  controller: Controller;
  errors: unknown[];
  /** Writes of any kind so far. */
  writes: () => number;
  /** Lets everything run that is ready. */
  settled: () => Promise<void>;
}

/** Starts a server without its own controllers, and `start` on it. */
export async function harness(
  start: (api: InternalApi, deps: ControllerDeps) => Controller,
  options: { rootCaPem?: string; prepare?: (api: InternalApi) => Promise<void> } = {},
): Promise<Harness> {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const errors: unknown[] = [];
  const log = (_: string, error: unknown): void => void errors.push(error);
  const server = await createApiServer({
    store: memoryStore(),
    clock,
    random,
    log,
    controllers: false,
    auth: { authorization: "AlwaysAllow" },
  });
  const api = server.internal;
  await options.prepare?.(api);
  let writes = 0;
  const ca = options.rootCaPem === undefined ? {} : { rootCaPem: options.rootCaPem };
  const controller = start(api, { clock, random, registry: server.registry, log, ...ca });
  api.watch(undefined, () => void writes++);
  await settle();
  return { server, api, clock, random, controller, errors, writes: () => writes, settled: () => settle() };
}

/** A ConfigMap for creating. */
export function configMap(name: string, metadata: Partial<Unstructured["metadata"]> = {}): Unstructured {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", ...metadata } };
}

/** A reference to an object that exists. */
export function ownedBy(owner: Unstructured, extra: Partial<OwnerReference> = {}): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    ...extra,
  };
}
