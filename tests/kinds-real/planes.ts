import { ApiError, systemClock, systemRandom, type Transport, type Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { installKinds, KINDS, kindRules, PROVIDERS, serveKinds } from "@capstan/manager";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { startKubeApiserver } from "../real-kubernetes/index.ts";

/** An API that serves our kinds. */
export interface Plane {
  readonly client: Client;
  readonly transport: Transport;
  stop(): Promise<void>;
}

const deps = { clock: systemClock, random: systemRandom };

/** Real kube-apiserver with our webhooks. */
export async function realPlane(): Promise<Plane> {
  const real = await startKubeApiserver();
  const config = await loadKubeconfig({ clock: systemClock, path: real.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const client = new Client(transport, { fieldManager: "kinds-real", clock: systemClock });
  const servedBy = await serveKinds({ listen: { host: "127.0.0.1", port: 0 } }, client, KINDS, deps);
  await installKinds(PROVIDERS, client, systemClock, servedBy);
  return {
    client,
    transport,
    stop: async () => {
      await servedBy.close();
      await transport.close();
      await real.stop();
    },
  };
}

/** The embedded API with the same rules in process. */
export async function embeddedPlane(): Promise<Plane> {
  let running: ApiServer | undefined;
  const api = await createApiServer({ store: memoryStore(), ...deps, ...kindRules(KINDS, () => running) });
  running = api;
  const transport = api.admin();
  const client = new Client(transport, { fieldManager: "kinds-real", clock: systemClock });
  await installKinds(PROVIDERS, client, systemClock, await serveKinds("in-process", client, KINDS, deps));
  return { client, transport, stop: () => api.close() };
}

/** What a plane answered, without what differs by nature. */
export type Outcome = { object: unknown } | { code: number; problems: readonly string[] };

/** Runs a request and reduces its result to what must be equal everywhere. */
export async function outcomeOf(request: () => Promise<Unstructured | undefined>): Promise<Outcome> {
  try {
    return { object: comparable(await request()) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, causes } = { code: error.code, causes: error.status.details?.causes };
    const problems = causes?.map(({ field, message }) => `${field}: ${message}`) ?? [error.message];
    return { code, problems: problems.toSorted() };
  }
}

function comparable(object: Unstructured | undefined): unknown {
  if (object === undefined) return undefined;
  const { uid: _u, resourceVersion: _r, creationTimestamp: _c, managedFields: _m, ...metadata } = object.metadata;
  return { ...object, metadata };
}
