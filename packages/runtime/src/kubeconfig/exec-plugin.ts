import { spawn } from "node:child_process";
import { type Clock, isObject } from "@capstan/apimachinery";
import type { CredentialSource, Credentials } from "../transport/client-config.ts";
import type { ExecConfig } from "./types.ts";

const API_VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/** Cluster information for an exec plugin that requests it with `provideClusterInfo`. */
export interface ExecClusterInfo {
  readonly server: string;
  readonly caPem?: string | undefined;
  readonly insecure: boolean;
  readonly serverName?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly config?: unknown;
}

/** Runs a program and returns its output. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  options: { env: Record<string, string | undefined>; interactive: boolean },
) => Promise<{ code: number; stdout: string }>;

/** Credentials from an exec plugin, which runs again when they expire or the server rejects them. */
export class ExecCredentials implements CredentialSource {
  readonly #config: ExecConfig;
  readonly #cluster: ExecClusterInfo;
  readonly #clock: Clock;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #run: RunProgram;
  #current: { credentials: Credentials; expiresAt: number | undefined } | undefined;
  #pending: Promise<Credentials> | undefined;

  constructor(
    config: ExecConfig,
    cluster: ExecClusterInfo,
    deps: { clock: Clock; environment: Readonly<Record<string, string | undefined>>; run?: RunProgram | undefined },
  ) {
    if (!API_VERSIONS.includes(config.apiVersion)) {
      throw new Error(`exec plugin ${config.command}: apiVersion must be ${API_VERSIONS.join(" or ")}`);
    }
    this.#config = config;
    this.#cluster = cluster;
    this.#clock = deps.clock;
    this.#environment = deps.environment;
    this.#run = deps.run ?? runProgram;
  }

  async get(): Promise<Credentials> {
    const current = this.#current;
    if (current !== undefined && (current.expiresAt === undefined || current.expiresAt > this.#clock.now())) {
      return current.credentials;
    }
    // Requests that come meanwhile share one run of the program.
    this.#pending ??= this.#ask().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  invalidate(used: Credentials): boolean {
    if (this.#current?.credentials === used) this.#current = undefined;
    return true;
  }

  async #ask(): Promise<Credentials> {
    const { command, args, env, apiVersion, interactiveMode, installHint } = this.#config;
    const interactive = interactiveMode !== "Never" && process.stdin.isTTY === true;
    if (interactiveMode === "Always" && !interactive) {
      throw new Error(
        `exec plugin ${command} needs a terminal (interactiveMode: Always), but standard input is not a terminal`,
      );
    }
    const info = {
      apiVersion,
      kind: "ExecCredential",
      spec: { interactive, ...(this.#config.provideClusterInfo ? { cluster: this.#clusterInfo() } : {}) },
    };
    const environment = {
      ...this.#environment,
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    };
    let result: { code: number; stdout: string };
    try {
      result = await this.#run(command, args, { env: environment, interactive });
    } catch (error) {
      const hint = installHint === undefined ? "" : `\n${installHint}`;
      throw new Error(`cannot run exec plugin ${command}: ${messageOf(error)}${hint}`, { cause: error });
    }
    if (result.code !== 0) throw new Error(`exec plugin ${command} failed with exit code ${result.code}`);
    const { credentials, expiresAt } = this.#read(result.stdout);
    this.#current = { credentials, expiresAt };
    return credentials;
  }

  #clusterInfo(): object {
    const { server, caPem, insecure, serverName, proxyUrl, config } = this.#cluster;
    return {
      server,
      ...(caPem === undefined ? {} : { "certificate-authority-data": Buffer.from(caPem).toString("base64") }),
      ...(insecure ? { "insecure-skip-tls-verify": true } : {}),
      "tls-server-name": serverName,
      "proxy-url": proxyUrl,
      config,
    };
  }

  /** The answer's content never appears in an error: it holds secrets. */
  #read(stdout: string): { credentials: Credentials; expiresAt: number | undefined } {
    const { command, apiVersion } = this.#config;
    const wrong = (what: string): Error => new Error(`exec plugin ${command} ${what}`);
    let answer: unknown;
    try {
      answer = JSON.parse(stdout);
    } catch {
      throw wrong("printed something that is not JSON");
    }
    if (!isObject(answer) || answer["kind"] !== "ExecCredential") throw wrong("did not print an ExecCredential");
    if (answer["apiVersion"] !== apiVersion) {
      throw wrong(`answered in ${String(answer["apiVersion"])}, but the kubeconfig says ${apiVersion}`);
    }
    const status = answer["status"];
    if (!isObject(status)) throw wrong("printed an ExecCredential without status");
    const token = textOf(status["token"]);
    const certPem = textOf(status["clientCertificateData"]);
    const keyPem = textOf(status["clientKeyData"]);
    if (token === undefined && certPem === undefined) throw wrong("returned neither a token nor a client certificate");
    if ((certPem === undefined) !== (keyPem === undefined))
      throw wrong("returned a certificate without a key or a key without a certificate");
    const expiry = textOf(status["expirationTimestamp"]);
    const expiresAt = expiry === undefined ? undefined : Date.parse(expiry);
    return { credentials: { token, certPem, keyPem }, expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt };
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const runProgram: RunProgram = (command, args, { env, interactive }) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"] });
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, stdout: Buffer.concat(chunks).toString("utf8") }));
  });
