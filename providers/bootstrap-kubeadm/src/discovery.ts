import { toGoYaml } from "@capstan/apimachinery";
import type { Cluster, JoinConfiguration, KubeadmConfig } from "@capstan/capi";
import { validEndpoint } from "@capstan/capi";
import type { UserDataFile } from "@capstan/userdata";
import { caPins } from "./certificates.ts";
import { Stopped } from "./progress.ts";

/** The `discovery` section of a JoinConfiguration: how a joining node finds and verifies the API server. */
export type Discovery = NonNullable<JoinConfiguration["discovery"]>;
type FileDiscovery = NonNullable<Discovery["file"]>;

/** Formats the Cluster's control plane endpoint as `host:port`, with brackets around IPv6 addresses. */
export function endpointText(cluster: Cluster): string | undefined {
  const endpoint = validEndpoint(cluster.spec?.controlPlaneEndpoint);
  if (endpoint === undefined) return undefined;
  const { host, port } = endpoint;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function requiredEndpoint(cluster: Cluster): string {
  const endpoint = endpointText(cluster);
  if (endpoint !== undefined) return endpoint;
  throw new Stopped({ step: "waiting", message: "Waiting for Cluster spec.controlPlaneEndpoint to be set" });
}

/** Reports whether joining with this config requires a token that the user did not provide. */
export function needsToken(config: KubeadmConfig): boolean {
  const discovery = config.spec?.joinConfiguration?.discovery;
  return discovery?.file === undefined && discovery?.bootstrapToken?.token === undefined;
}

/** Completes the user's discovery settings from the Cluster's endpoint, its CA and a token. */
export async function completeDiscovery(
  given: Discovery | undefined,
  cluster: Cluster,
  caPem: string,
  makeToken: () => Promise<string>,
): Promise<Discovery> {
  // A discovery file is respected without a look inside.
  if (given?.file !== undefined) return given;
  const token = given?.bootstrapToken;
  const pins = token?.caCertHashes ?? caPins(caPem);
  const apiServerEndpoint = token?.apiServerEndpoint ?? requiredEndpoint(cluster);
  return {
    ...given,
    bootstrapToken: {
      ...token,
      apiServerEndpoint,
      caCertHashes: pins,
      token: token?.token ?? (await makeToken()),
    },
  };
}

/** Renders the kubeconfig that `discovery.file.kubeConfig` describes, as the file to write on the node. */
export function discoveryFile(
  file: FileDiscovery | undefined,
  cluster: Cluster,
  caPem: string,
): UserDataFile | undefined {
  const config = file?.kubeConfig;
  if (file === undefined || config === undefined) return undefined;
  const { authProvider, exec } = config.user;
  const content = toGoYaml({
    clusters: [
      {
        cluster: {
          server: config.cluster?.server ?? `https://${requiredEndpoint(cluster)}`,
          "certificate-authority-data":
            config.cluster?.certificateAuthorityData ?? Buffer.from(caPem).toString("base64"),
          "tls-server-name": config.cluster?.tlsServerName,
          "insecure-skip-tls-verify": config.cluster?.insecureSkipTLSVerify === true ? true : undefined,
          "proxy-url": config.cluster?.proxyURL,
        },
        name: "default",
      },
    ],
    contexts: [{ context: { cluster: "default", user: "default" }, name: "default" }],
    "current-context": "default",
    users: [
      {
        name: "default",
        user: {
          "auth-provider":
            authProvider === undefined ? undefined : { config: authProvider.config ?? null, name: authProvider.name },
          exec: exec === undefined ? undefined : execConfig(exec),
        },
      },
    ],
  });
  return { path: file.kubeConfigPath, owner: "root:root", permissions: "0640", content };
}

type Exec = NonNullable<NonNullable<FileDiscovery["kubeConfig"]>["user"]["exec"]>;

function execConfig(exec: Exec): Record<string, unknown> {
  return {
    apiVersion: exec.apiVersion ?? "client.authentication.k8s.io/v1",
    args: exec.args ?? null,
    command: exec.command,
    env: exec.env?.map(({ name, value }) => ({ name, value })) ?? null,
    interactiveMode: "Never",
    provideClusterInfo: exec.provideClusterInfo ?? false,
  };
}
