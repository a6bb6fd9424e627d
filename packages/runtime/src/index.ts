export { Cache, type CacheListOptions, type CacheOptions } from "./cache/cache.ts";
export { IndexedStore, type IndexFunction } from "./cache/indexed-store.ts";
export { Informer, type InformerDeps } from "./cache/informer.ts";
export type { InformerHandler } from "./cache/informer-state.ts";
export type { InformerScope } from "./cache/reflector.ts";
export { compareResourceVersions } from "./cache/resource-version.ts";
export { Client, type ClientConfiguration, isConflict } from "./client/client.ts";
export type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  ListResult,
  Patch,
  PatchOptions,
  Ref,
  Target,
  WatchOptions,
  WriteObserver,
  WriteOptions,
} from "./client/options.ts";
export { NoMatchError, RestMapper } from "./client/rest-mapper.ts";
export { ControllerBuilder, controller, ownerRequests, requestFor } from "./controller/builder.ts";
export { Controller, RunningController } from "./controller/controller.ts";
export { ensureStatusIfPresent } from "./controller/ensure-status-if-present.ts";
export { FairScheduler } from "./controller/fair-scheduler.ts";
export { inParallel } from "./controller/in-parallel.ts";
export {
  allOf,
  annotationsChanged,
  anyOf,
  generationChanged,
  ignoreStatus,
  labelsChanged,
  objectsWhere,
  type Predicate,
} from "./controller/predicate.ts";
export { done, type Result, requeueAfter, soonest, TerminalError } from "./controller/result.ts";
export { type RunningControllers, startControllers } from "./controller/start-controllers.ts";
export type { StatusDeferral } from "./controller/status-deferral.ts";
export type {
  ControllerDefinition,
  ControllerDeps,
  MapFunction,
  Reconcile,
  ReconcileContext,
  Request,
  Source,
  Watch,
} from "./controller/types.ts";
export { openDialGate, systemDialGate } from "./dial/system-gate.ts";
export { EventKind, type EventObject, type EventReference } from "./events/event-kind.ts";
export { EventRecorder, type EventRecorderOptions } from "./events/event-recorder.ts";
export { type Recorder, silentRecorder } from "./events/recorder.ts";
export {
  apiVersionOf,
  type Kind,
  type KindRef,
  keyOf,
  keyText,
  kindId,
  kindRef,
  kindText,
  type ObjectKey,
  type ObjectOf,
  parseKey,
} from "./kind.ts";
export { type ExecClusterInfo, ExecCredentials, type RunProgram } from "./kubeconfig/exec-plugin.ts";
export { inClusterConfig } from "./kubeconfig/in-cluster.ts";
export { kubeconfigFromText, type LoadOptions, loadKubeconfig } from "./kubeconfig/load.ts";
export { proxyFromEnvironment } from "./kubeconfig/proxy.ts";
export { fencedTransport } from "./leader/fenced-transport.ts";
export { type LeaderElectionOptions, LeaderElector, LeadershipLostError } from "./leader/leader-elector.ts";
export { Lease, type LeaseObject, type LeaseSpec } from "./leader/lease-kind.ts";
export { type LogFields, type Logger, silentLogger } from "./log/logger.ts";
export { createLogger, type LoggerOptions } from "./log/pino-logger.ts";
export { redact, redactText } from "./log/redact.ts";
export { measuredTransport } from "./metrics/measured-transport.ts";
export { createMetrics, type Metrics } from "./metrics/prometheus.ts";
export type { ControllerMetrics, ReconcileOutcome, RuntimeMetrics } from "./metrics/types.ts";
export { type Changes, changesBetween } from "./patch/changes.ts";
export { createIfAbsent } from "./patch/create-if-absent.ts";
export { ensureFinalizer, hasFinalizer, releaseFinalizer } from "./patch/finalizers.ts";
export { type WriteChangesOptions, writeChanges } from "./patch/write-changes.ts";
export { type RetryLimiter, type RetryOptions, retryLimiter } from "./queue/rate-limit.ts";
export {
  PRIORITY_LOW,
  PRIORITY_NORMAL,
  type QueueObserver,
  WorkQueue,
  type WorkQueueOptions,
} from "./queue/work-queue.ts";
export { resourcePath } from "./resource-path.ts";
export type { Endpoint, EndpointAddress, EndpointTls } from "./server/http-endpoint.ts";
export { type Access, type CheckAccess, listenForMetrics } from "./server/metrics-endpoint.ts";
export { type Check, listenForProbes, type ProbeOptions } from "./server/probes.ts";
export { reviewedAccess } from "./server/reviewed-access.ts";
export {
  type ClientConfig,
  type CredentialSource,
  type Credentials,
  fixedCredentials,
  type Impersonation,
  type TlsConfig,
} from "./transport/client-config.ts";
export { firstAnswer, type Way, type WayOptions } from "./transport/first-answer.ts";
export { httpTransport } from "./transport/http-transport.ts";
export { LineSplitter } from "./transport/line-splitter.ts";
export { nodeAgents } from "./transport/node-agents.ts";
export { openWebSocket } from "./transport/websocket.ts";
