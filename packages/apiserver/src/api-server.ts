import { type Clock, type Random, type Transport, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { compileCondition } from "./admission/match-condition.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { webhookAdmission } from "./admission/webhook-admission.ts";
import { webhookClient } from "./admission/webhook-client.ts";
import { type AuditSink, createAudit } from "./audit/audit.ts";
import type { AuditPolicy } from "./audit/audit-policy.ts";
import { certificateAdmission } from "./auth/certificate-admission.ts";
import { startCertificateController } from "./auth/certificate-controller.ts";
import { rbacAdmission } from "./auth/escalation.ts";
import { createRbacAuthorizer } from "./auth/rbac-authorizer.ts";
import { type AuthOptions, createAuthentication } from "./authentication.ts";
import { createDefaultObjects, seedObjects } from "./bootstrap.ts";
import { builtinTypes } from "./builtin/index.ts";
import type { Controller } from "./controllers/deps.ts";
import { startControllers } from "./controllers/start.ts";
import { startCrdCleanup } from "./crd/crd-cleanup.ts";
import { CRD_KEY } from "./crd/crd-object.ts";
import { CrdRegistry } from "./crd/crd-registry.ts";
import { crdType } from "./crd/crd-type.ts";
import { registerCrds } from "./crd/register.ts";
import { conversionWebhook } from "./crd/webhook-converter.ts";
import { createDiscovery } from "./discovery/discovery.ts";
import { servedPaths } from "./discovery/documents.ts";
import { createMetrics, METRICS_CONTENT_TYPE, type ObjectCount } from "./metrics/metrics.ts";
import { createOpenApi } from "./openapi/openapi.ts";
import type { RegistryCore } from "./registry/core.ts";
import { RegistryInternalApi } from "./registry/internal-api.ts";
import { TypeRegistry } from "./registry/type-registry.ts";
import { documentPath, healthPaths, rootPath, textPath, versionPath } from "./server/fixed-paths.ts";
import { HttpHandler, type HttpRequest, type HttpServerResponse } from "./server/http-handler.ts";
import { InProcessTransport } from "./server/in-process.ts";
import { type Listener, type ListenOptions, listen } from "./server/listen.ts";
import { handleCall, type PathHandler, type PipelineDeps } from "./server/pipeline.ts";
import { prefixOf } from "./store/keys.ts";
import { openObjectStore } from "./store/object-store.ts";
import type { ObjectStore } from "./store/object-store.types.ts";
import type { Store } from "./store/store.ts";
import type { AdmissionPlugin, Authorizer, Converter, InternalApi, ResourceRegistry } from "./types.ts";

/** How an API server is made. */
export interface ApiServerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Logs internal failures, without secrets. */
  readonly log?: (message: string, error: unknown) => void;
  /** In-process conversion between versions of CRDs' objects. */
  readonly converters?: readonly Converter[];
  /** In-process admission, run after the server's own steps and before webhooks. */
  readonly admission?: readonly AdmissionPlugin[];
  readonly auth?: AuthOptions;
  /** Garbage collection, namespaces, default ServiceAccounts, certificate signing and the like; default true. */
  readonly controllers?: boolean;
  /** The cluster's authority: published as kube-root-ca.crt, and, with its key, signs CertificateSigningRequests. */
  readonly ca?: { readonly certPem: string; readonly keyPem?: string };
  /** How many changes watches and exact lists can go back; default 10,000. */
  readonly history?: number;
  /** Checks the addresses of webhooks; set when users who register them must not reach what this process can reach. */
  readonly gate?: DialGate;
  /** More figures for /metrics, in Prometheus' text format: those of other components of the process. */
  readonly moreMetrics?: () => Promise<string>;
  /** Records requests in kube-apiserver's audit format. */
  readonly audit?: { readonly sink: AuditSink; readonly policy?: AuditPolicy };
}

/** A running API server. */
export interface ApiServer {
  /** Requests in process as `user`, under its permissions; without one as whom their headers say. */
  transport(user?: UserInfo): Transport;
  /** Requests in process as a member of system:masters. */
  admin(): Transport;
  /** Serves HTTPS; may be called more than once. */
  listen(options: ListenOptions): Promise<Listener>;
  /** Serves one HTTP request; `prefix` is cut from its path when many servers share a listener. */
  handle(request: HttpRequest, response: HttpServerResponse, prefix?: string): void;
  readonly internal: InternalApi;
  readonly registry: ResourceRegistry;
  /** Whether the server's own controllers have nothing to do. */
  idle(): boolean;
  /** Creates or updates CRDs and returns when all are served. Idempotent. */
  registerCrds(crds: readonly Unstructured[]): Promise<void>;
  /** Stores objects of built-in kinds as far as they are missing; cheap for the same frozen objects in many servers. */
  seed(objects: readonly Unstructured[]): Promise<void>;
  close(): Promise<void>;
}

/** Built-in types are immutable and shared by all servers of the process. */
const BUILTIN = builtinTypes();

/** How long running requests may take to finish when the listener belongs to another component. */
const MOUNTED_GRACE_MS = 5_000;

const ADMIN: UserInfo = Object.freeze({ name: "system:admin", groups: ["system:masters", "system:authenticated"] });

/** The controllers of the built-in kinds, with certificate signing if there is an authority to sign with. */
function startBuiltinControllers(
  options: ApiServerOptions,
  api: InternalApi,
  registry: ResourceRegistry,
  authorizer: Authorizer,
  log: (message: string, error: unknown) => void,
): Controller {
  const { clock, random, ca } = options;
  const rootCaPem = ca?.certPem;
  const all = startControllers(api, {
    clock,
    random,
    registry,
    log,
    rootCaPem,
  });
  const keyPem = ca?.keyPem;
  if (ca === undefined || keyPem === undefined) return all;
  const signing = startCertificateController(api, {
    authorizer,
    ca: () => ({ certPem: ca.certPem, keyPem }),
    clock,
    random,
    log,
  });
  return {
    idle: () => all.idle(),
    stop: () => {
      all.stop();
      signing.stop();
    },
  };
}

/** How many objects of each resource are stored. */
function* objectCounts(store: ObjectStore, types: ResourceRegistry): Iterable<ObjectCount> {
  const seen = new Set<string>();
  for (const { group, plural: resource, storedAs, strategy } of types.types()) {
    const prefix = prefixOf(group, resource);
    if (storedAs !== undefined || strategy.createOnly !== undefined || seen.has(prefix)) continue;
    seen.add(prefix);
    yield { group, resource, count: store.count(prefix) };
  }
}

/** For simulated clusters: everything is allowed, and rules reviews still report RBAC's rules. */
function allowAll(rbac: Authorizer): Authorizer {
  return {
    authorize: () => ({ allowed: true, reason: "" }),
    rulesFor: (user, namespace) => rbac.rulesFor(user, namespace),
  };
}

/** Opens the store and puts a server together. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random } = options;
  const log = options.log ?? (() => {});
  const store = await openObjectStore(options.store, {
    clock,
    ring: options.history,
    onError: (error) => log("the store reported a failure", error),
  });
  const types = new TypeRegistry(BUILTIN);
  const admission: AdmissionPlugin[] = [];
  const core: RegistryCore = {
    store,
    types,
    clock,
    random,
    admission,
    committed: (type) => {
      if (type.group === CRD_KEY.group && type.plural === CRD_KEY.plural) crds.sync();
    },
    internal: () => internal,
  };
  const internal = new RegistryInternalApi(core);
  const client = webhookClient({ clock, api: internal, gate: options.gate });
  const crds = new CrdRegistry(store, types, options.converters ?? [], conversionWebhook(client, random));
  const rbac = createRbacAuthorizer(internal);
  const authorizer = options.auth?.authorization === "AlwaysAllow" ? allowAll(rbac) : rbac;
  const authentication = createAuthentication({
    options: options.auth ?? {},
    api: internal,
    authorizer: () => authorizer,
    clock,
    random,
  });
  types.setOwn([crdType(store, clock), ...authentication.types]);
  crds.sync();
  const webhooks = webhookAdmission({
    api: internal,
    registry: types,
    clock,
    random,
    authorizer,
    compile: compileCondition,
    client,
  });
  const audit =
    options.audit === undefined
      ? undefined
      : createAudit(options.audit.sink, {
          clock,
          random,
          policy: options.audit.policy,
        });
  admission.push(
    ...(audit === undefined ? [] : [audit.plugin]),
    namespaceLifecycle(internal),
    rbacAdmission(rbac),
    certificateAdmission(authorizer),
    ...(options.admission ?? []),
    webhooks,
  );
  await createDefaultObjects({ store, api: internal, clock, random }, options.auth?.authorization !== "AlwaysAllow");
  const controllers =
    options.controllers === false ? undefined : startBuiltinControllers(options, internal, types, authorizer, log);
  const cleanup = startCrdCleanup({ store, api: internal, types, clock, log });
  const metrics = createMetrics({ clock, objects: () => objectCounts(store, types) });

  const paths: PathHandler[] = [
    versionPath,
    healthPaths([
      { name: "ping", check: () => undefined },
      { name: "store", check: () => options.store.problem?.() },
    ]),
    documentPath(createDiscovery(types), /^\/apis(\/[^/]+)?\/?$/),
    documentPath(createOpenApi(types, clock), /^\/openapi\//),
    textPath("/metrics", METRICS_CONTENT_TYPE, async () => metrics.text() + ((await options.moreMetrics?.()) ?? "")),
    ...authentication.paths,
    rootPath(() => servedPaths(types)),
  ];
  const deps: PipelineDeps = {
    core,
    authenticator: authentication.authenticator,
    authorizer,
    paths,
    observers: audit === undefined ? [metrics.observer] : [metrics.observer, audit.observer],
    onError: (error, call) => log(`${call.method} ${call.path} failed`, error),
  };
  const handle: ConstructorParameters<typeof InProcessTransport>[0] = (call) => handleCall(deps, call);
  const httpDeps = { clock, random, handle, onError: (error: unknown) => log("a connection failed", error) };
  const mounted = new HttpHandler(httpDeps);
  const transports = new Set<Transport>();
  const transport = (user?: UserInfo): Transport => {
    const made = new InProcessTransport(handle, user, () => transports.delete(made));
    transports.add(made);
    return made;
  };
  const listeners = new Set<Listener>();
  return {
    transport,
    admin: () => transport(ADMIN),
    listen: async (where) => {
      const listener = await listen(new HttpHandler(httpDeps), where, clock);
      listeners.add(listener);
      return listener;
    },
    handle: (request, response, prefix) => mounted.serve(request, response, prefix),
    internal,
    registry: types,
    idle: () => controllers?.idle() ?? true,
    registerCrds: (objects) => registerCrds(internal, types, objects),
    seed: (objects) => seedObjects({ store, api: internal, clock, random }, types, objects),
    close: async () => {
      controllers?.stop();
      cleanup.stop();
      for (const made of transports) await made.close();
      await mounted.close(MOUNTED_GRACE_MS);
      await Promise.all([...listeners].map((listener) => listener.close()));
      rbac.close();
      await authentication.close();
      await webhooks.close();
      await client.close();
      await store.close();
    },
  };
}
