import { dirname, isAbsolute, join } from "node:path";
import { isObject, type JsonObject } from "@capstan/apimachinery";
import type {
  AuthProviderConfig,
  ExecConfig,
  FileOrData,
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigUser,
} from "./types.ts";

/** Parses the content of one kubeconfig file. Relative paths are resolved against the file, as in kubectl. */
export function parseKubeconfig(value: unknown, file: string): Kubeconfig {
  if (value === null || value === undefined) return emptyKubeconfig();
  if (!isObject(value)) throw new Error(`${file} is not a kubeconfig: the top level must be a mapping`);
  const reader = new Reader(file);
  return {
    currentContext: optional(reader.text(value, "current-context", "current-context")),
    clusters: reader.named(value, "clusters", "cluster", (entry, path) => reader.cluster(entry, path)),
    users: reader.named(value, "users", "user", (entry, path) => reader.user(entry, path)),
    contexts: reader.named(value, "contexts", "context", (entry, path) => reader.context(entry, path)),
  };
}

/** A kubeconfig with nothing in it. */
function emptyKubeconfig(): Kubeconfig {
  return { currentContext: undefined, clusters: new Map(), users: new Map(), contexts: new Map() };
}

/** Merges kubeconfigs as kubectl does: the first file to set a name or the current context wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = <T>(pick: (config: Kubeconfig) => ReadonlyMap<string, T>): Map<string, T> => {
    const out = new Map<string, T>();
    for (const config of configs) for (const [name, entry] of pick(config)) if (!out.has(name)) out.set(name, entry);
    return out;
  };
  return {
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: merge((config) => config.clusters),
    users: merge((config) => config.users),
    contexts: merge((config) => config.contexts),
  };
}

function optional(text: string): string | undefined {
  return text === "" ? undefined : text;
}

class Reader {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  named<T>(
    config: JsonObject,
    list: string,
    field: string,
    read: (entry: JsonObject, path: string) => T,
  ): Map<string, T> {
    const out = new Map<string, T>();
    const entries = config[list] ?? [];
    if (!Array.isArray(entries)) throw this.#wrong(list, "must be a list");
    entries.forEach((entry: unknown, index) => {
      const path = `${list}[${index}]`;
      if (!isObject(entry)) throw this.#wrong(path, "must be a mapping");
      const name = this.text(entry, "name", `${path}.name`);
      const body = entry[field] ?? {};
      if (!isObject(body)) throw this.#wrong(`${path}.${field}`, "must be a mapping");
      if (!out.has(name)) out.set(name, read(body, `${path}.${field}`));
    });
    return out;
  }

  cluster(entry: JsonObject, path: string): KubeconfigCluster {
    return {
      server: this.text(entry, "server", `${path}.server`),
      tlsServerName: optional(this.text(entry, "tls-server-name", `${path}.tls-server-name`)),
      insecure: entry["insecure-skip-tls-verify"] === true,
      ca: this.#fileOrData(entry, "certificate-authority", path),
      proxyUrl: optional(this.text(entry, "proxy-url", `${path}.proxy-url`)),
      execConfig: execExtension(entry),
    };
  }

  user(entry: JsonObject, path: string): KubeconfigUser {
    const tokenFile = this.text(entry, "tokenFile", `${path}.tokenFile`);
    const username = this.text(entry, "username", `${path}.username`);
    const password = this.text(entry, "password", `${path}.password`);
    return {
      certificate: this.#fileOrData(entry, "client-certificate", path),
      key: this.#fileOrData(entry, "client-key", path),
      token: optional(this.text(entry, "token", `${path}.token`)),
      tokenFile: tokenFile === "" ? undefined : this.#resolve(tokenFile),
      basic: username === "" && password === "" ? undefined : { username, password },
      exec:
        entry["exec"] === undefined || entry["exec"] === null ? undefined : this.#exec(entry["exec"], `${path}.exec`),
      authProvider: this.#authProvider(entry["auth-provider"], `${path}.auth-provider`),
      impersonate: this.#impersonate(entry, path),
    };
  }

  context(entry: JsonObject, path: string): KubeconfigContext {
    return {
      cluster: this.text(entry, "cluster", `${path}.cluster`),
      user: this.text(entry, "user", `${path}.user`),
      namespace: optional(this.text(entry, "namespace", `${path}.namespace`)),
    };
  }

  text(entry: JsonObject, key: string, path: string): string {
    const value = entry[key];
    if (value === undefined || value === null) return "";
    if (typeof value !== "string") throw this.#wrong(path, "must be a text (put it in quotes)");
    return value;
  }

  #texts(entry: JsonObject, key: string, path: string): string[] {
    const value = entry[key];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value) || !value.every((item): item is string => typeof item === "string")) {
      throw this.#wrong(path, "must be a list of texts");
    }
    return value;
  }

  #fileOrData(entry: JsonObject, key: string, path: string): FileOrData | undefined {
    const data = this.text(entry, `${key}-data`, `${path}.${key}-data`);
    // Data wins over the file, as with client-go.
    if (data !== "") return { data: this.#decoded(data, `${path}.${key}-data`) };
    const file = this.text(entry, key, `${path}.${key}`);
    return file === "" ? undefined : { path: this.#resolve(file) };
  }

  /** Node would decode invalid base64 partially, and TLS would then report a trust problem. */
  #decoded(base64: string, path: string): string {
    const text = base64.replace(/\s+/g, "");
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") !== text) throw this.#wrong(path, "is not base64");
    return bytes.toString("utf8");
  }

  #exec(value: unknown, path: string): ExecConfig {
    if (!isObject(value)) throw this.#wrong(path, "must be a mapping");
    const command = this.text(value, "command", `${path}.command`);
    const env = (value["env"] ?? []) as unknown;
    if (!Array.isArray(env)) throw this.#wrong(`${path}.env`, "must be a list");
    return {
      apiVersion: this.text(value, "apiVersion", `${path}.apiVersion`),
      // A bare name is looked up in PATH; anything with a slash is a file, relative to the kubeconfig.
      command: command.includes("/") ? this.#resolve(command) : command,
      args: this.#texts(value, "args", `${path}.args`),
      env: env.map((item: unknown, index) => {
        if (!isObject(item)) throw this.#wrong(`${path}.env[${index}]`, "must be a mapping");
        return {
          name: this.text(item, "name", `${path}.env[${index}].name`),
          value: this.text(item, "value", `${path}.env[${index}].value`),
        };
      }),
      installHint: optional(this.text(value, "installHint", `${path}.installHint`)),
      provideClusterInfo: value["provideClusterInfo"] === true,
      interactiveMode: this.text(value, "interactiveMode", `${path}.interactiveMode`),
    };
  }

  #authProvider(value: unknown, path: string): AuthProviderConfig | undefined {
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw this.#wrong(path, "must be a mapping");
    const given = value["config"] ?? {};
    if (!isObject(given)) throw this.#wrong(`${path}.config`, "must be a mapping");
    const config = Object.fromEntries(
      Object.keys(given).map((key) => [key, this.text(given, key, `${path}.config.${key}`)]),
    );
    return { name: this.text(value, "name", `${path}.name`), config, file: this.#file };
  }

  #impersonate(entry: JsonObject, path: string): KubeconfigUser["impersonate"] {
    const user = this.text(entry, "as", `${path}.as`);
    const uid = optional(this.text(entry, "as-uid", `${path}.as-uid`));
    const groups = this.#texts(entry, "as-groups", `${path}.as-groups`);
    const given = entry["as-user-extra"] ?? {};
    if (!isObject(given)) throw this.#wrong(`${path}.as-user-extra`, "must be a mapping");
    const extra = Object.fromEntries(
      Object.keys(given).map((key) => [key, this.#texts(given, key, `${path}.as-user-extra`)]),
    );
    const none = user === "" && uid === undefined && groups.length === 0 && Object.keys(extra).length === 0;
    return none ? undefined : { user, uid, groups, extra };
  }

  #resolve(file: string): string {
    return isAbsolute(file) ? file : join(dirname(this.#file), file);
  }

  #wrong(path: string, what: string): Error {
    return new Error(`${this.#file}: ${path} ${what}`);
  }
}

function execExtension(cluster: JsonObject): unknown {
  const extensions = cluster["extensions"];
  if (!Array.isArray(extensions)) return undefined;
  const found = extensions.find(
    (entry: unknown) => isObject(entry) && entry["name"] === "client.authentication.k8s.io/exec",
  ) as JsonObject | undefined;
  return found?.["extension"];
}
