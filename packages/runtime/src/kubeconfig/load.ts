import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { type ClientConfig, type CredentialSource, fixedCredentials } from "../transport/client-config.ts";
import { checkCluster, checkUser } from "./check.ts";
import { ExecCredentials, type RunProgram } from "./exec-plugin.ts";
import { FileCredentials, readFileOrData } from "./file-credentials.ts";
import { inClusterConfig } from "./in-cluster.ts";
import { keepTokens } from "./keep-tokens.ts";
import { OidcCredentials } from "./oidc-provider.ts";
import { mergeKubeconfigs, parseKubeconfig } from "./parse.ts";
import { proxyFromEnvironment } from "./proxy.ts";
import type { AuthProviderConfig, Kubeconfig, KubeconfigCluster, KubeconfigUser } from "./types.ts";

/** Which kubeconfig and context to load. */
export interface LoadOptions {
  readonly clock: Clock;
  /** This file and no other; it must exist. */
  readonly path?: string | undefined;
  /** Another context than the current one. */
  readonly context?: string | undefined;
  /** Another namespace than the context's. */
  readonly namespace?: string | undefined;
  /** KUBECONFIG, proxies, and what exec plugins inherit; by default the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly home?: string | undefined;
  readonly run?: RunProgram | undefined;
  /** Where a pod has its service account, unless at the usual place. */
  readonly serviceAccountDir?: string | undefined;
}

/**
 * Loads the configuration that kubectl would use: an explicit file, else the merged files of KUBECONFIG, else `~/.kube/config`, else the
 * pod's service account.
 */
export async function loadKubeconfig(options: LoadOptions): Promise<ClientConfig> {
  const environment = options.environment ?? process.env;
  const { files, explicit } = kubeconfigFiles(options, environment);
  const loaded: Kubeconfig[] = [];
  for (const file of files) {
    const text = await readIfThere(file, explicit);
    if (text !== undefined) loaded.push(parseKubeconfig(await parseYamlText(text, file), file));
  }
  const merged = mergeKubeconfigs(loaded);
  if (merged.contexts.size === 0 && merged.clusters.size === 0 && !explicit) {
    const inside = await inClusterConfig({
      clock: options.clock,
      environment,
      directory: options.serviceAccountDir,
    });
    if (inside !== undefined) return inside;
    throw new Error(`no kubeconfig found (tried ${files.join(", ")}): set KUBECONFIG or specify a file`);
  }
  return await resolveContext(merged, options, environment);
}

/** How long a kubeconfig in a Secret may be: one cluster, its authorities and one user. */
const MAX_TEXT_BYTES = 256 * 1024;

/**
 * Parses a kubeconfig text, such as a Cluster's kubeconfig Secret holds; file names in it are rejected. With a gate it is untrusted: only
 * addresses that the gate allows are dialled, and responses are limited more tightly.
 */
export async function kubeconfigFromText(
  text: string,
  options: Pick<LoadOptions, "clock" | "context"> & { readonly gate?: DialGate | undefined },
): Promise<ClientConfig> {
  const config = parseKubeconfig(await foreignYaml(text, options.clock), "kubeconfig");
  for (const [name, user] of config.users) {
    // A Secret may come from anywhere: it must not make this process read files or run programs.
    const reads = [user.certificate, user.key].some((source) => source !== undefined && "path" in source);
    if (reads || user.tokenFile !== undefined || user.exec !== undefined || user.authProvider !== undefined) {
      throw new Error(
        `kubeconfig: user "${name}" names a file, a program or an issuer; only embedded credentials are accepted here`,
      );
    }
  }
  for (const [name, cluster] of config.clusters) {
    if (cluster.ca !== undefined && "path" in cluster.ca) {
      throw new Error(`kubeconfig: cluster "${name}" names a file; embed certificate-authority-data`);
    }
  }
  const { gate } = options;
  const found = await resolveContext(config, options, {});
  return gate === undefined ? found : { ...found, gate };
}

function kubeconfigFiles(
  options: LoadOptions,
  environment: Readonly<Record<string, string | undefined>>,
): { files: string[]; explicit: boolean } {
  if (options.path !== undefined) return { files: [options.path], explicit: true };
  const list = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (list.length > 0) return { files: [...new Set(list)], explicit: false };
  return { files: [join(options.home ?? homedir(), ".kube", "config")], explicit: false };
}

async function readIfThere(file: string, must: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (!must && error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`kubeconfig ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function parseYamlText(text: string, file: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (error) {
    throw notYaml(error, file);
  }
}

/** A Secret's text is parsed where it cannot block the event loop. */
async function foreignYaml(text: string, clock: Clock): Promise<unknown> {
  const { readForeignYaml } = await import("@capstan/apimachinery/foreign");
  try {
    return await readForeignYaml(text, { clock, maxBytes: MAX_TEXT_BYTES });
  } catch (error) {
    throw notYaml(error, "kubeconfig");
  }
}

/** Only the first line: the rest of a parser's message quotes the file, which holds secrets. */
function notYaml(error: unknown, file: string): Error {
  const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  return new Error(`${file} is not valid YAML: ${reason.replace(/:\s*$/, "")}`);
}

async function resolveContext(
  config: Kubeconfig,
  options: Pick<LoadOptions, "clock" | "context" | "namespace" | "run">,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ClientConfig> {
  const name = options.context ?? config.currentContext;
  if (name === undefined) throw new Error("the kubeconfig has no current-context: choose one with --context");
  const context = config.contexts.get(name);
  if (context === undefined) {
    throw new Error(`context "${name}" does not exist; there are: ${[...config.contexts.keys()].join(", ") || "none"}`);
  }
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined || cluster.server === "") {
    throw new Error(`context "${name}" names cluster "${context.cluster}", which does not exist or has no server`);
  }
  const user = context.user === "" ? undefined : config.users.get(context.user);
  if (context.user !== "" && user === undefined) {
    throw new Error(`context "${name}" names user "${context.user}", which does not exist`);
  }
  checkCluster(context.cluster, cluster);
  if (user !== undefined) checkUser(context.user, user);
  const caPem = await authorityOf(context.cluster, cluster);
  const server = withScheme(cluster, user);
  return {
    server,
    tls: { caPem, insecure: cluster.insecure, serverName: cluster.tlsServerName },
    credentials:
      user === undefined
        ? undefined
        : await userCredentials(context.user, user, { ...cluster, caPem }, options, environment),
    impersonate: user?.impersonate,
    proxyUrl: checkedProxy(cluster.proxyUrl) ?? proxyFromEnvironment(server, environment),
    namespace: options.namespace ?? context.namespace,
  };
}

/** The CA bundle. A text without a certificate would trust no server and show up as an untrusted server. */
async function authorityOf(name: string, { ca }: KubeconfigCluster): Promise<string | undefined> {
  const pem = await readFileOrData(ca);
  if (pem === undefined || pem.includes("-----BEGIN CERTIFICATE-----")) return pem;
  const where = ca !== undefined && "path" in ca ? ca.path : "certificate-authority-data";
  throw new Error(`kubeconfig cluster "${name}": ${where} contains no certificate in PEM format`);
}

/** An address without a scheme is HTTPS when anything is said about TLS, and HTTP otherwise, as client-go has it. */
function withScheme({ server, ca, insecure }: KubeconfigCluster, user: KubeconfigUser | undefined): string {
  if (server.includes("://")) return server;
  const secure = ca !== undefined || insecure || user?.certificate !== undefined;
  return `${secure ? "https" : "http"}://${server}`;
}

function checkedProxy(proxyUrl: string | undefined): string | undefined {
  if (proxyUrl === undefined) return undefined;
  // The address may hold a password, so errors name its scheme alone.
  if (!URL.canParse(proxyUrl)) throw new Error("proxy-url is not an address like socks5://proxy.example:1080");
  const scheme = new URL(proxyUrl).protocol.replace(":", "");
  if (!["http", "https", "socks5"].includes(scheme))
    throw new Error(`proxy-url: unsupported scheme "${scheme}", must be http, https, or socks5`);
  return proxyUrl;
}

async function userCredentials(
  name: string,
  user: KubeconfigUser,
  cluster: KubeconfigCluster & { caPem: string | undefined },
  options: Pick<LoadOptions, "clock" | "run">,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CredentialSource> {
  const { token, tokenFile, basic, certificate, key, exec, authProvider } = user;
  const hasOwn = [token, tokenFile, basic, certificate].some((part) => part !== undefined);
  if (exec !== undefined && !hasOwn) {
    const info = {
      server: cluster.server,
      caPem: cluster.caPem,
      insecure: cluster.insecure,
      serverName: cluster.tlsServerName,
      proxyUrl: cluster.proxyUrl,
      config: cluster.execConfig,
    };
    return new ExecCredentials(exec, info, { clock: options.clock, environment, run: options.run });
  }
  if (!hasOwn && authProvider !== undefined) return await providerCredentials(name, authProvider, options.clock);
  return hasOwn
    ? new FileCredentials({ token, tokenFile, basic, certificate, key }, options.clock)
    : fixedCredentials({});
}

async function providerCredentials(
  name: string,
  provider: AuthProviderConfig,
  clock: Clock,
): Promise<CredentialSource> {
  if (provider.name !== "oidc")
    throw new Error(`auth-provider "${provider.name}" was removed from Kubernetes: use an exec plugin instead`);
  const { "idp-certificate-authority-data": data = "", "idp-certificate-authority": file = "" } = provider.config;
  const caPem =
    data !== "" ? Buffer.from(data, "base64").toString("utf8") : file !== "" ? await readFile(file, "utf8") : undefined;
  return new OidcCredentials(provider, {
    clock,
    caPem,
    keep: (tokens) => keepTokens(provider.file, name, { ...tokens }),
  });
}
