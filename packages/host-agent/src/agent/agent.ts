import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, isReason, type Random, type Transport } from "@capstan/apimachinery";
import { PAUSED_ANNOTATION, Secret, secretText } from "@capstan/capi";
import { writeFileAtomicSync } from "@capstan/os";
import {
  annotationsChanged,
  anyOf,
  Cache,
  Client,
  controller,
  done,
  generationChanged,
  httpTransport,
  type Logger,
  type ReconcileContext,
  type Result,
  requeueAfter,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { runBootstrap } from "../execute/bootstrap.ts";
import { fullDisk, type HostProbe, probeHost, type Unfit, unfitForBootstrap, unfitHost } from "../execute/checks.ts";
import { etcdMember, heldBecause } from "../execute/etcd-member.ts";
import { Footprint } from "../execute/footprint.ts";
import { type InstallPlan, installKubernetes } from "../execute/install.ts";
import { redact } from "../execute/redact.ts";
import { lookBefore, releaseHost } from "../execute/release.ts";
import { type RunCommand, runCommand } from "../execute/run-command.ts";
import { Steps } from "../execute/steps.ts";
import { ByoHost, type ByoHostStatus } from "../kinds/byo-host.ts";
import { DISCARD_MEMBER_ANNOTATION, INSTALL_KEYS } from "../protocol.ts";
import { defaultInterface, hostFacts } from "./facts.ts";
import { HostLog, sendLog } from "./host-log.ts";
import { type Credentials, type Enrolment, renewalDue, requestCertificate } from "./identity.ts";
import { watchForLoss } from "./lost-host.ts";
import type { Programs } from "./programs.ts";
import { HEARTBEAT_MS, type Progress, Reporter } from "./reporter.ts";
import { awaitLeftCommand, hasJoined } from "./take-over.ts";
import { endLeftCommand, processId, readWork, type Work, writeWork } from "./work.ts";

/** Back-off of retries, doubling up to the maximum. */
const RETRY_MS = { first: 30_000, last: 10 * 60_000 };
const SECRET_RETRY_MS = 1_000;
const INTERRUPTED_MS = 2_000;
const LOOK_MS = 1_000;
const INSTALL_TIMEOUT_MS = 30 * 60_000;

/** What an agent runs with: its identity and state directory, and replacements for the host in tests. */
export interface AgentOptions {
  identity: Enrolment & Credentials;
  stateDir: string;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Keeps containerd and the kubelet running where there is no systemd. */
  programs?: Programs;
  /** Transport to the management API; by default from the identity. */
  transport?: Transport;
  /** Replacements for the host in tests: its commands, facts, state, and its root folder. */
  run?: RunCommand;
  facts?: () => Promise<Partial<ByoHostStatus>>;
  probe?: () => Promise<HostProbe>;
  root?: string;
}

/** Runs the agent of one host: reports facts, runs the bootstrap data of the Machine that claimed the host, and cleans up after it. */
export function runAgent(options: AgentOptions, signal: AbortSignal): { finished: Promise<void> } {
  const agent = new HostAgent(options);
  return { finished: agent.run(signal) };
}

class HostAgent {
  readonly #options: AgentOptions;
  readonly #transport: Transport;
  readonly #cache: Cache;
  readonly #log: HostLog;
  readonly #reporter: Reporter;
  #credentials: Credentials;
  /** The last failure, the number of consecutive failures, and the time of the next retry. */
  #failures = { what: "", count: 0, againMs: 0 };
  /** Resolves when the current work on the host is done; work runs one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  /** What keeps an earlier machine on the host. */
  #dirt: Unfit | undefined;

  constructor(options: AgentOptions) {
    const { clock, random, log, identity, stateDir } = options;
    const { namespace, name } = identity;
    this.#options = options;
    this.#credentials = identity;
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    // Read for each request, so that a renewed certificate is used at once.
    const credentials = { get: () => Promise.resolve(this.#credentials), invalidate: () => false };
    const config = { server: identity.server, tls: { caPem: identity.caPem }, credentials };
    this.#transport = options.transport ?? httpTransport(config, { clock });
    const client = new Client(this.#transport, { fieldManager: "capstan-host-agent", clock });
    this.#cache = new Cache(client, { clock, random, log });
    this.#cache.restrict(ByoHost, { namespace, fieldSelector: `metadata.name=${name}` });
    this.#log = new HostLog({ stateDir, clock, log, send: sendLog(client, namespace, name) });
    const facts = options.facts ?? (() => hostFacts(clock));
    const certPem = (): string => this.#credentials.certPem;
    this.#reporter = new Reporter({ namespace, name, cache: this.#cache, client, clock, facts, certPem });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const left = readWork(this.#options.stateDir);
    // A control plane machine's kubeadm that an earlier agent left is waited for, see #takeOver.
    if (left !== undefined && this.#member === undefined) endLeftCommand(left);
    const reconciler = controller("byo-host-agent")
      // Its own reports must not wake it, or a failure would be retried without a pause.
      .for(ByoHost, { predicate: anyOf(generationChanged, annotationsChanged) })
      .reconcile(async (request, context) => {
        const host = context.cache.get(ByoHost, request);
        return host === undefined ? done() : await this.#alone(() => this.#reconcile(host, context));
      });
    this.#watchForLoss(signal);
    const deps = { cache: this.#cache, clock, random, log, recorder: silentRecorder };
    await startControllers([reconciler], deps, signal).finished;
    await this.#log.flush();
    await this.#cache.stop();
    await this.#transport.close();
  }

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const next = this.#last.then(act);
    this.#last = next.catch(() => undefined);
    return next;
  }

  #watchForLoss(signal: AbortSignal): void {
    const { identity, clock, random, log, stateDir, transport } = this.#options;
    const { namespace, name } = identity;
    const ask = async (): Promise<void> => {
      this.#credentials = await requestCertificate(identity, this.#credentials, { clock, random, stateDir, transport });
    };
    const hasNode = (): boolean => readWork(stateDir) !== undefined;
    const clean = (): Promise<string | undefined> => this.#alone(() => this.#clean({ mayDiscardMember: true }));
    const client = new Client(this.#transport, { fieldManager: "capstan-host-agent", clock });
    watchForLoss({ namespace, name, client, clock, log, hasNode, ask, clean }, signal);
  }

  /** One pass: cleans up if requested or if something is left, bootstraps if claimed, else only reports. */
  async #reconcile(host: ByoHost, context: ReconcileContext): Promise<Result> {
    await this.#renew();
    const { spec, status, metadata } = host;
    const release = spec?.release;
    const isReleased = status?.release?.machineUID === release?.machineUID && status?.release?.phase === "Released";
    const work = readWork(this.#options.stateDir);
    if (metadata.annotations?.[PAUSED_ANNOTATION] !== undefined) return await this.#rest(work);
    if (release !== undefined && !isReleased) return await this.#release(release.machineUID);
    const claim = spec?.machineRef;
    // A node without an owner: abandoned while the host was offline, or of a ByoHost that was removed.
    if (release === undefined && claim === undefined && work !== undefined) return await this.#cleanUnknown(host);
    if (release === undefined && claim !== undefined && spec?.bootstrapSecret !== undefined) {
      const isKnown = status?.bootstrap?.machineUID === claim.uid && status.bootstrap.phase === "Succeeded";
      const isDone = work?.machineUID === claim.uid && work.phase === "Succeeded";
      if (isDone && !isKnown) return await this.#succeeded(work);
      // A status without work on the host: an agent of before, or a state folder that was lost with a node that lives.
      if (!isDone && !(isKnown && work === undefined)) return await this.#bootstrap(host, claim.uid, work, context);
    }
    return await this.#rest(work);
  }

  async #rest(work: Work | undefined): Promise<Result> {
    await this.#reporter.write({}, unfitHost(await this.#probe(), work !== undefined));
    return requeueAfter(HEARTBEAT_MS);
  }

  async #renew(): Promise<void> {
    const { identity, clock, random, log, stateDir } = this.#options;
    try {
      const { certPem } = this.#credentials;
      if (certPem === "" || !renewalDue(identity, certPem, clock.now())) return;
      this.#credentials = await requestCertificate(identity, this.#credentials, { clock, random, stateDir });
      log.info("certificate renewed");
    } catch (error) {
      log.warn("failed to renew the certificate; retrying", { error });
    }
  }

  #probe(): Promise<HostProbe> {
    return (this.#options.probe ?? (() => probeHost(this.#options.root)))();
  }

  async #bootstrap(
    host: ByoHost,
    machineUID: string,
    work: Work | undefined,
    context: ReconcileContext,
  ): Promise<Result> {
    // A change of the host triggers an immediate retry.
    const what = `bootstrap of ${machineUID} at ${host.metadata.generation}`;
    const early = await this.#tooEarly(what);
    if (early !== undefined) return early;
    const isHeld = host.status?.bootstrap?.holdsEtcdMember === true && host.status.bootstrap.machineUID === machineUID;
    // Reported already; only a release changes it.
    if (isHeld && work !== undefined && !hasJoined(work, this.#options.root)) return await this.#rest(work);
    const data = await this.#secret(host.spec?.bootstrapSecret, context);
    const installation = host.spec?.installationSecret;
    const installer = installation === undefined ? undefined : await this.#secret(installation, context);
    const text = secretText(data, "value");
    if (text === undefined || (installation !== undefined && installer === undefined)) {
      await this.#reporter.write();
      return requeueAfter(SECRET_RETRY_MS);
    }
    const reportProblem = async (problem: string): Promise<void> => {
      const message = redact(problem);
      this.#log.write(`# failed: ${message}`);
      const holds = this.#member === undefined ? {} : { holdsEtcdMember: true };
      await this.#reporter.write({ bootstrap: { machineUID, phase: "Failed", message, ...holds, steps: steps.all() } });
    };
    const failed = async (message: string): Promise<Result> => {
      await reportProblem(message);
      return this.#again(what);
    };
    const steps = this.#steps(machineUID);
    await this.#reporter.write({ bootstrap: { machineUID, phase: "Running", steps: [] } });
    return await this.#whileClaimed(machineUID, context, async (signal) => {
      const joined = await this.#takeOver(work, machineUID, signal);
      if (signal.aborted) return done();
      // Killed or rebooted half-way: a partially joined node would make the next attempt fail.
      const dirty = work === undefined || joined ? undefined : await this.#clean();
      if (dirty !== undefined) return await failed(`cleaning up an interrupted attempt: ${dirty}`);
      if (work !== undefined && !joined) {
        // Reported, so that the manager removes the Node that this attempt may have created.
        await reportProblem(
          "the agent or the host restarted during the bootstrap; the host was cleaned and the bootstrap is retried",
        );
        return requeueAfter(INTERRUPTED_MS);
      }
      const probe = await this.#probe();
      // Without disk space the state file cannot be written either.
      const unfit = unfitHost(probe, joined) ?? fullDisk(probe);
      if (unfit !== undefined) return await failed(unfit.message);
      const problem = await this.#runMachine(machineUID, text, installer, steps, host, signal, joined).catch(
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (signal.aborted) return done();
      if (problem === undefined) return await this.#succeeded({ machineUID, phase: "Succeeded", steps: steps.all() });
      await reportProblem(problem);
      const left = await this.#clean();
      if (left !== undefined) await reportProblem(`${problem}; cleaning up: ${left}`);
      return this.#again(what);
    });
  }

  /** The folder of the etcd member on this host. */
  get #member(): string | undefined {
    return etcdMember(this.#options.root);
  }

  /**
   * Waits for the kubeadm of a control plane machine that an earlier agent left running. Returns whether it made a node of the host, so
   * that only the commands after it remain.
   */
  async #takeOver(work: Work | undefined, machineUID: string, signal: AbortSignal): Promise<boolean> {
    const { clock, stateDir, root } = this.#options;
    if (work?.machineUID !== machineUID || this.#member === undefined) return false;
    await awaitLeftCommand(work, clock, signal);
    if (signal.aborted || !hasJoined(work, root)) return false;
    writeWork(stateDir, { ...work, joined: true });
    return true;
  }

  /** Everything between a claim and a node. Returns what went wrong. */
  async #runMachine(
    machineUID: string,
    data: string,
    installer: Secret | undefined,
    steps: Steps,
    host: ByoHost,
    signal: AbortSignal,
    joined: boolean,
  ): Promise<string | undefined> {
    const { stateDir, clock, programs, root, run = runCommand } = this.#options;
    let work: Work = { machineUID, phase: "Running", ...(joined ? { joined } : {}) };
    writeWork(stateDir, work);
    const footprint = new Footprint(stateDir, root);
    if (!joined) footprint.noteBefore(await lookBefore(clock, root, run));
    const onStart = (pid: number): void => writeWork(stateDir, { ...work, command: processId(pid) });
    const common = { steps, footprint, signal, run, root };
    const onJoined = (): void => {
      work = { ...work, joined: true };
      writeWork(stateDir, work);
    };
    if (installer !== undefined && !joined) {
      const problem = await this.#install(installer, common);
      if (problem !== undefined) return problem;
    }
    const unfit = joined ? undefined : unfitForBootstrap(await this.#probe(), data);
    if (unfit !== undefined) return unfit.message;
    const noRuntime = await programs?.ensureRuntime();
    if (noRuntime !== undefined) return noRuntime;
    programs?.want("kubelet");
    const { name = "" } = host.metadata;
    const hostname = (host.status?.hostinfo?.hostname ?? name).toLowerCase();
    const result = await runBootstrap(data, {
      ...common,
      clock,
      onStart,
      onJoined,
      joined,
      metadata: {
        name,
        hostname,
        local_hostname: hostname,
        "local-hostname": hostname,
        instance_id: machineUID,
        "instance-id": machineUID,
        provider_id: host.spec?.providerID ?? "",
      },
      defaultInterface: await defaultInterface(),
    });
    return result.ok ? await this.#keepOverReboot(steps, footprint, run) : result.message;
  }

  /** systemd starts the kubelet again after a reboot only when it is enabled. */
  async #keepOverReboot(steps: Steps, footprint: Footprint, run: RunCommand): Promise<string | undefined> {
    if (this.#options.programs !== undefined) return undefined;
    const { clock } = this.#options;
    const { output } = await run("systemctl is-enabled kubelet 2>/dev/null || true", { clock, timeoutMs: 60_000 });
    if (output.trim() !== "disabled") return undefined;
    footprint.willEnable("kubelet");
    return await steps.command("enable the kubelet", ["systemctl", "enable", "kubelet"], { run, timeoutMs: 60_000 });
  }

  async #install(installer: Secret, options: Parameters<typeof installKubernetes>[1]): Promise<string | undefined> {
    const { stateDir, run = runCommand } = this.#options;
    const plan = secretText(installer, INSTALL_KEYS.plan);
    if (plan !== undefined) return await installKubernetes(JSON.parse(plan) as InstallPlan, options);
    const script = (key: string): string | undefined =>
      secretText(installer, key)?.replaceAll(/\{\{\s*\.BundleDownloadPath\s*\}\}/g, join(stateDir, "bundles"));
    const install = script(INSTALL_KEYS.install);
    if (install === undefined)
      return `Secret ${installer.metadata.name} has neither a key plan nor a key install: see the installer's status`;
    const uninstall = script(INSTALL_KEYS.uninstall);
    // Kept on the host, because the Secret may be deleted before it is needed.
    if (uninstall !== undefined) writeFileAtomicSync(this.#uninstallScript, uninstall, { mode: 0o700 });
    const file = join(stateDir, "install.sh");
    writeFileAtomicSync(file, install, { mode: 0o700 });
    return await options.steps.command("install Kubernetes", ["bash", file], { run, timeoutMs: INSTALL_TIMEOUT_MS });
  }

  get #uninstallScript(): string {
    return join(this.#options.stateDir, "uninstall.sh");
  }

  async #succeeded(work: Work): Promise<Result> {
    const { machineUID, steps = [] } = work;
    writeWork(this.#options.stateDir, work);
    await this.#reporter.write({ bootstrap: { machineUID, phase: "Succeeded", steps } });
    return requeueAfter(HEARTBEAT_MS);
  }

  async #release(machineUID: string): Promise<Result> {
    const what = `release of ${machineUID}`;
    const early = await this.#tooEarly(what);
    if (early !== undefined) return early;
    const say = (release: Progress["release"]): Promise<void> =>
      this.#reporter.write(release === undefined ? {} : { release });
    await say({ machineUID, phase: "Running" });
    const message = await this.#withHeartbeat(() => this.#clean({ mayDiscardMember: true }));
    await say(message === undefined ? { machineUID, phase: "Released" } : { machineUID, phase: "Failed", message });
    return message === undefined ? requeueAfter(HEARTBEAT_MS) : this.#again(what);
  }

  /** Records a failure; the host keeps reporting until the retry. */
  #again(what: string): Result {
    const count = this.#failures.what === what ? this.#failures.count + 1 : 1;
    const waitMs = Math.min(RETRY_MS.first * 2 ** Math.min(count - 1, 10), RETRY_MS.last);
    this.#failures = { what, count, againMs: this.#options.clock.monotonic() + waitMs };
    return requeueAfter(Math.min(waitMs, HEARTBEAT_MS));
  }

  /** Only reports while the back-off of a failure lasts. */
  async #tooEarly(what: string, unfit?: Unfit): Promise<Result | undefined> {
    const leftMs = this.#failures.what === what ? this.#failures.againMs - this.#options.clock.monotonic() : 0;
    if (leftMs <= 0) return undefined;
    await this.#reporter.write({}, unfit);
    return requeueAfter(Math.min(leftMs, HEARTBEAT_MS));
  }

  async #cleanUnknown(host: ByoHost): Promise<Result> {
    const mayDiscardMember = host.metadata.annotations?.[DISCARD_MEMBER_ANNOTATION] === "true";
    const member = mayDiscardMember ? undefined : this.#member;
    if (member !== undefined) {
      const cure = `no machine claims the host. If its cluster no longer needs the member, annotate the ByoHost with ${DISCARD_MEMBER_ANNOTATION}=true`;
      await this.#reporter.write({}, { reason: "HoldsEtcdMember", message: heldBecause(member, cure) });
      return requeueAfter(HEARTBEAT_MS);
    }
    const early = await this.#tooEarly("cleaning", this.#dirt);
    if (early !== undefined) return early;
    const cleaning = { reason: "Cleaning", message: "an earlier machine is being removed from the host" };
    await this.#reporter.write({}, cleaning);
    const problem = await this.#withHeartbeat(() => this.#clean({ mayDiscardMember }));
    if (problem === undefined) return await this.#rest(undefined);
    this.#dirt = { reason: "CleaningFailed", message: problem };
    await this.#reporter.write({}, this.#dirt);
    return this.#again("cleaning");
  }

  /** Removes the node from the host, unless it holds a member of etcd that nobody has released. */
  async #clean(options: { mayDiscardMember?: boolean } = {}): Promise<string | undefined> {
    const { clock, stateDir, programs, run, root } = this.#options;
    const work = readWork(stateDir);
    if (work !== undefined) endLeftCommand(work);
    const member = options.mayDiscardMember === true ? undefined : this.#member;
    if (member !== undefined)
      return heldBecause(member, "delete its Machine, so that the control plane replaces it and releases the host");
    const uninstall = this.#uninstallScript;
    const problem = await releaseHost({
      clock,
      stateDir,
      log: this.#log.write,
      ...(existsSync(uninstall) ? { uninstall } : {}),
      programs,
      run,
      root,
    });
    if (problem !== undefined) return redact(problem);
    rmSync(uninstall, { force: true });
    writeWork(stateDir, undefined);
    return undefined;
  }

  #steps(machineUID: string): Steps {
    return new Steps(this.#options.clock, {
      log: this.#log.write,
      onStep: (steps) => {
        const bootstrap = { machineUID, phase: "Running" as const, steps: steps.slice(-60) };
        void this.#reporter.write({ bootstrap }).catch((error: unknown) => {
          this.#options.log.warn("failed to report progress", { error });
        });
      },
    });
  }

  async #secret(
    reference: { namespace?: string; name: string } | undefined,
    context: ReconcileContext,
  ): Promise<Secret | undefined> {
    if (reference === undefined) return undefined;
    return await context.client
      .get(Secret, { namespace: reference.namespace, name: reference.name }, context.signal)
      .catch((error: unknown) => {
        // The permission to read it may be granted a moment after the claim.
        if (isReason(error, "Forbidden")) return undefined;
        throw error;
      });
  }

  /** Runs work that is aborted when the Machine releases the host; heartbeats continue meanwhile. */
  async #whileClaimed(
    machineUID: string,
    context: ReconcileContext,
    act: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const aborter = new AbortController();
    const stop = (): void => aborter.abort(new Error("the agent is stopping"));
    context.signal.addEventListener("abort", stop, { once: true });
    const { namespace, name } = this.#options.identity;
    let isOver = false;
    const look = (): void => {
      if (isOver) return;
      const spec = this.#cache.get(ByoHost, { namespace, name })?.spec;
      // A member that has started is brought to its end: the claim may be reverted.
      const isLost = spec?.machineRef?.uid !== machineUID && this.#member === undefined;
      if (spec?.release !== undefined || isLost) aborter.abort(new Error("the machine has released the host"));
      else this.#options.clock.after(LOOK_MS, look);
    };
    look();
    try {
      return await this.#withHeartbeat(() => act(aborter.signal));
    } finally {
      isOver = true;
      context.signal.removeEventListener("abort", stop);
    }
  }

  async #withHeartbeat<T>(act: () => Promise<T>): Promise<T> {
    let isOver = false;
    const beat = (): void => {
      if (isOver) return;
      void this.#reporter.write().catch(() => undefined);
      this.#options.clock.after(HEARTBEAT_MS, beat);
    };
    const cancel = this.#options.clock.after(HEARTBEAT_MS, beat);
    try {
      return await act();
    } finally {
      isOver = true;
      cancel();
    }
  }
}
