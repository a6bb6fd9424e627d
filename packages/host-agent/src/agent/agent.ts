import { type Clock, formatTime, isReason, type Random } from "@capstan/apimachinery";
import { type ConditionInput, Secret, secretText, withTransitionTimes } from "@capstan/capi";
import {
  Cache,
  Client,
  type Controller,
  controller,
  done,
  httpTransport,
  type Logger,
  type ReconcileContext,
  type Result,
  requeueAfter,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { runBootstrap } from "../execute/bootstrap.ts";
import { releaseHost } from "../execute/release.ts";
import { ByoHost, type ByoHostStatus } from "../kinds/byo-host.ts";
import { AGENT_VERSION } from "../protocol.ts";
import { defaultInterface, hostFacts } from "./facts.ts";
import { type Credentials, type Enrolment, renewalDue, requestCertificate } from "./identity.ts";

const HEARTBEAT_MS = 60_000;
const RETRY_MS = 30_000;

export interface AgentOptions {
  identity: Enrolment & Credentials;
  stateDir: string;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Receives the full output of what is run, secrets left out. */
  output: (text: string) => void;
}

/** The agent of one host: reports facts, runs the bootstrap data of the machine that claimed the host, cleans up after it. */
export function runAgent(options: AgentOptions, signal: AbortSignal): { finished: Promise<void> } {
  const { clock, random, log } = options;
  let credentials: Credentials = options.identity;
  const transport = httpTransport(
    {
      server: options.identity.server,
      tls: { caPem: options.identity.caPem },
      // Read for each request, so that a renewed certificate is used at once.
      credentials: { get: () => Promise.resolve(credentials), invalidate: () => false },
    },
    { clock },
  );
  const client = new Client(transport, { fieldManager: "capstan-host-agent", clock });
  const cache = new Cache(client, { clock, random, log });
  const { namespace, name } = options.identity;
  cache.restrict(ByoHost, { namespace, fieldSelector: `metadata.name=${name}` });
  const host: HostController = {
    renew: async () => {
      if (!renewalDue(credentials.certPem, clock.now())) return;
      credentials = await requestCertificate(options.identity, credentials, {
        clock,
        random,
        stateDir: options.stateDir,
      });
      log.info("certificate renewed");
    },
    output: options.output,
  };
  const running = startControllers(
    [hostController(host)],
    { cache, clock, random, log, recorder: silentRecorder },
    signal,
  );
  return {
    finished: running.finished.then(async () => {
      await cache.stop();
      await transport.close();
    }),
  };
}

interface HostController {
  renew(): Promise<void>;
  output(text: string): void;
}

function hostController(host: HostController): Controller {
  return controller("byo-host-agent")
    .for(ByoHost)
    .reconcile(async (request, context) => {
      const object = context.cache.get(ByoHost, request);
      if (object === undefined) return done();
      return await reconcileHost(object, host, context);
    });
}

/** One step: clean up if asked to, bootstrap if claimed, else just say that all is well. */
async function reconcileHost(object: ByoHost, host: HostController, context: ReconcileContext): Promise<Result> {
  const { spec, status } = object;
  await host.renew().catch((error: unknown) => context.log.warn("the certificate could not be renewed", { error }));
  const release = spec?.release;
  if (
    release !== undefined &&
    !(status?.release?.machineUID === release.machineUID && status.release.phase === "Released")
  )
    return await release_(object, release.machineUID, host, context);
  const claim = spec?.machineRef;
  if (
    release === undefined &&
    claim !== undefined &&
    spec?.bootstrapSecret !== undefined &&
    !isBootstrapped(status, claim.uid)
  )
    return await bootstrap(object, claim.uid, host, context);
  await report(object, {}, context);
  return requeueAfter(HEARTBEAT_MS);
}

function isBootstrapped(status: ByoHost["status"], machineUID: string): boolean {
  return status?.bootstrap?.machineUID === machineUID && status.bootstrap.phase === "Succeeded";
}

async function bootstrap(
  object: ByoHost,
  machineUID: string,
  host: HostController,
  context: ReconcileContext,
): Promise<Result> {
  const reference = object.spec?.bootstrapSecret;
  const key = { namespace: reference?.namespace, name: reference?.name ?? "" };
  const data = secretText(
    await context.client.get(Secret, key).catch((error: unknown) => {
      // The right to read it may come a moment after the claim.
      if (isReason(error, "Forbidden")) return undefined;
      throw error;
    }),
    "value",
  );
  if (data === undefined) {
    await report(object, {}, context);
    return requeueAfter(1000);
  }
  await report(object, { bootstrap: { machineUID, phase: "Running", steps: [] } }, context);
  const { clock } = context;
  const result = await runBootstrap(data, {
    clock,
    metadata: {
      name: object.metadata.name ?? "",
      local_hostname: object.status?.hostinfo?.hostname ?? object.metadata.name ?? "",
      provider_id: object.spec?.providerID ?? "",
    },
    defaultInterface: await defaultInterface(),
    log: host.output,
    signal: context.signal,
  });
  if (context.signal.aborted) return done();
  const message = result.ok ? {} : { message: result.message };
  await report(
    object,
    { bootstrap: { machineUID, phase: result.ok ? "Succeeded" : "Failed", ...message, steps: result.steps } },
    context,
  );
  if (result.ok) return requeueAfter(HEARTBEAT_MS);
  // A node that joined half-way would refuse the next try.
  await releaseHost({ clock, log: host.output });
  return requeueAfter(RETRY_MS);
}

async function release_(
  object: ByoHost,
  machineUID: string,
  host: HostController,
  context: ReconcileContext,
): Promise<Result> {
  await report(object, { release: { machineUID, phase: "Running" } }, context);
  const problem = await releaseHost({ clock: context.clock, log: host.output });
  if (problem !== undefined) {
    await report(object, { release: { machineUID, phase: "Failed", message: problem } }, context);
    return requeueAfter(RETRY_MS);
  }
  await report(object, { release: { machineUID, phase: "Released" } }, context);
  return requeueAfter(HEARTBEAT_MS);
}

/** Writes what this host is and does; the agent owns all of status. */
async function report(
  object: ByoHost,
  progress: Pick<ByoHostStatus, "bootstrap" | "release">,
  context: ReconcileContext,
): Promise<void> {
  const { machineID, ...facts } = await hostFacts();
  const kept = {
    ...(object.status?.bootstrap === undefined ? {} : { bootstrap: object.status.bootstrap }),
    ...(object.status?.release === undefined ? {} : { release: object.status.release }),
  };
  const next = { ...kept, ...progress };
  const live =
    context.cache.get(ByoHost, { namespace: object.metadata.namespace, name: object.metadata.name ?? "" }) ?? object;
  const before = live.status?.conditions ?? [];
  const last = Date.parse(live.status?.lastHeartbeatTime ?? "");
  // Another heartbeat within the minute would only be noise.
  const now = context.clock.now();
  const beat =
    Number.isNaN(last) || now - last >= HEARTBEAT_MS - 5000 || Object.keys(progress).length > 0
      ? formatTime(now)
      : live.status?.lastHeartbeatTime;
  const status: ByoHostStatus = {
    ...facts,
    ...(machineID === undefined ? {} : { machineID }),
    agentVersion: AGENT_VERSION,
    ...(beat === undefined ? {} : { lastHeartbeatTime: beat }),
    ...next,
    conditions: withTransitionTimes([ready(next, object)], before, now, object.metadata.generation),
  };
  const { namespace, name } = object.metadata;
  await context.client.ensure(
    { apiVersion: ByoHost.apiVersion, kind: ByoHost.kind, metadata: { namespace, name }, status } as ByoHost,
    live,
    { subresource: "status" },
  );
}

function ready(progress: Pick<ByoHostStatus, "bootstrap" | "release">, object: ByoHost): ConditionInput {
  const type = "Ready";
  const failed = findProblem(progress, object);
  return failed === undefined
    ? { type, status: "True", reason: "AgentRunning", message: "" }
    : { type, status: "False", reason: failed.reason, message: failed.message };
}

function findProblem(
  progress: Pick<ByoHostStatus, "bootstrap" | "release">,
  object: ByoHost,
): { reason: string; message: string } | undefined {
  if (object.spec?.release !== undefined && progress.release?.phase === "Failed")
    return { reason: "ReleaseFailed", message: progress.release.message ?? "" };
  if (object.spec?.machineRef !== undefined && progress.bootstrap?.phase === "Failed")
    return { reason: "BootstrapFailed", message: progress.bootstrap.message ?? "" };
  return undefined;
}
