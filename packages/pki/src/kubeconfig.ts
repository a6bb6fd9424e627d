import { PkiError } from "./errors.ts";

/** Contents of a kubeconfig: either a client certificate with its key, or a token, or neither for anonymous access. */
export interface KubeconfigOptions {
  server: string;
  /** The name in the server's certificate, where it is not the host of `server`. */
  tlsServerName?: string;
  caPem: string;
  clusterName: string;
  userName: string;
  clientCertPem?: string;
  clientKeyPem?: string;
  token?: string;
  /** Default `USER@CLUSTER`, as kubeadm and Cluster API name it. */
  contextName?: string;
  namespace?: string;
  /** What programs keep with the context; kubectl leaves it alone. */
  contextExtensions?: Readonly<Record<string, object>>;
}

/** Builds a kubeconfig (YAML) with all data inline. */
export function buildKubeconfig(options: KubeconfigOptions): string {
  if ((options.clientCertPem === undefined) !== (options.clientKeyPem === undefined))
    throw new PkiError("a kubeconfig needs clientCertPem and clientKeyPem together");
  const context = quote(options.contextName ?? `${options.userName}@${options.clusterName}`);
  const user = [
    ...(options.clientCertPem === undefined ? [] : [`client-certificate-data: ${base64(options.clientCertPem)}`]),
    ...(options.clientKeyPem === undefined ? [] : [`client-key-data: ${base64(options.clientKeyPem)}`]),
    ...(options.token === undefined ? [] : [`token: ${quote(options.token)}`]),
  ];
  return [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    ...(options.caPem === "" ? [] : [`    certificate-authority-data: ${base64(options.caPem)}`]),
    `    server: ${quote(options.server)}`,
    ...(options.tlsServerName === undefined ? [] : [`    tls-server-name: ${quote(options.tlsServerName)}`]),
    `  name: ${quote(options.clusterName)}`,
    "contexts:",
    "- context:",
    `    cluster: ${quote(options.clusterName)}`,
    ...extensionLines(options.contextExtensions ?? {}),
    ...(options.namespace === undefined ? [] : [`    namespace: ${quote(options.namespace)}`]),
    `    user: ${quote(options.userName)}`,
    `  name: ${context}`,
    `current-context: ${context}`,
    "kind: Config",
    "preferences: {}",
    "users:",
    `- name: ${quote(options.userName)}`,
    ...(user.length === 0 ? ["  user: {}"] : ["  user:", ...user.map((line) => `    ${line}`)]),
    "",
  ].join("\n");
}

function extensionLines(extensions: Readonly<Record<string, object>>): string[] {
  const entries = Object.entries(extensions).map(([name, extension]) => ({ extension, name }));
  return entries.length === 0 ? [] : [`    extensions: ${JSON.stringify(entries)}`];
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

// A plain scalar where YAML reads it as the same string, else JSON, which is YAML.
const quote = (text: string): string =>
  /^[a-z][\w./@:-]*[\w/]$/i.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text);

const RESERVED = /^(y|yes|n|no|true|false|on|off|null)$|:$|: /i;
