/** A parsed and merged kubeconfig, reduced to what a client needs. */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
}

/** One entry of `clusters`. */
export interface KubeconfigCluster {
  readonly server: string;
  readonly tlsServerName?: string | undefined;
  readonly insecure: boolean;
  readonly ca: FileOrData | undefined;
  readonly proxyUrl?: string | undefined;
  /** Handed to exec plugins that ask for it: the extension `client.authentication.k8s.io/exec`. */
  readonly execConfig?: unknown;
}

/** One entry of `users`. */
export interface KubeconfigUser {
  readonly certificate: FileOrData | undefined;
  readonly key: FileOrData | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly exec?: ExecConfig | undefined;
  readonly authProvider?: AuthProviderConfig | undefined;
  /** Without a user it is a mistake, which `checkUser` names. */
  readonly impersonate?:
    | { user: string; uid?: string | undefined; groups: string[]; extra: Record<string, string[]> }
    | undefined;
}

/** One entry of `contexts`. */
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string | undefined;
}

/** Inline data, or the absolute path of a file. */
export type FileOrData = { readonly data: string } | { readonly path: string };

/** Credentials from an auth provider built into kubectl; only `oidc` is left. */
export interface AuthProviderConfig {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
  /** Where it is from and goes to when tokens change. */
  readonly file: string;
}

/** An exec plugin that provides credentials. */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { name: string; value: string }[];
  readonly installHint?: string | undefined;
  readonly provideClusterInfo: boolean;
  /** Never, IfAvailable or Always; empty when nothing is said. */
  readonly interactiveMode: string;
}
