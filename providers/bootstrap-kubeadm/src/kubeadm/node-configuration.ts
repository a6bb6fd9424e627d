import { toGoYaml } from "@capstan/apimachinery";
import type { InitConfiguration, JoinConfiguration } from "@capstan/capi";
import { argsFor, compact, type KubeadmApi, secondsText } from "@capstan/controlplane";

type NodeRegistration = NonNullable<InitConfiguration["nodeRegistration"]>;
type Timeouts = NonNullable<InitConfiguration["timeouts"]>;
type Endpoint = NonNullable<InitConfiguration["localAPIEndpoint"]>;
type Discovery = NonNullable<JoinConfiguration["discovery"]>;

/** Renders kubeadm's InitConfiguration as YAML. */
export function initConfigurationYaml(config: InitConfiguration, api: KubeadmApi): string {
  return toGoYaml({
    apiVersion: `kubeadm.k8s.io/${api}`,
    kind: "InitConfiguration",
    ...compact({ bootstrapTokens: config.bootstrapTokens?.map(bootstrapToken) }),
    nodeRegistration: nodeRegistration(config.nodeRegistration, api),
    localAPIEndpoint: endpoint(config.localAPIEndpoint),
    ...shared(config, api),
  });
}

/** Renders kubeadm's JoinConfiguration as YAML. */
export function joinConfigurationYaml(config: JoinConfiguration, api: KubeadmApi): string {
  return toGoYaml({
    apiVersion: `kubeadm.k8s.io/${api}`,
    kind: "JoinConfiguration",
    nodeRegistration: nodeRegistration(config.nodeRegistration, api),
    ...compact({ caCertPath: config.caCertPath }),
    discovery: {
      ...discovery(config.discovery),
      ...(api === "v1beta3" ? compact({ timeout: secondsText(config.timeouts?.tlsBootstrapSeconds) }) : {}),
    },
    ...(config.controlPlane === undefined
      ? {}
      : { controlPlane: { localAPIEndpoint: endpoint(config.controlPlane.localAPIEndpoint) } }),
    ...shared(config, api),
  });
}

function shared(config: InitConfiguration | JoinConfiguration, api: KubeadmApi): Record<string, unknown> {
  return compact({
    skipPhases: config.skipPhases,
    patches: config.patches?.directory === undefined ? undefined : { directory: config.patches.directory },
    timeouts: api === "v1beta4" ? timeouts(config.timeouts) : undefined,
  });
}

function timeouts(given: Timeouts | undefined): unknown {
  if (given === undefined || Object.keys(given).length === 0) return undefined;
  return compact({
    controlPlaneComponentHealthCheck: secondsText(given.controlPlaneComponentHealthCheckSeconds),
    kubeletHealthCheck: secondsText(given.kubeletHealthCheckSeconds),
    kubernetesAPICall: secondsText(given.kubernetesAPICallSeconds),
    etcdAPICall: secondsText(given.etcdAPICallSeconds),
    tlsBootstrap: secondsText(given.tlsBootstrapSeconds),
    discovery: secondsText(given.discoverySeconds),
  });
}

function endpoint(given: Endpoint | undefined): Record<string, unknown> {
  return compact({ advertiseAddress: given?.advertiseAddress, bindPort: given?.bindPort });
}

/** `taints: null` means kubeadm's own, `[]` means none. */
function nodeRegistration(given: NodeRegistration | undefined, api: KubeadmApi): Record<string, unknown> {
  return {
    taints:
      given?.taints?.map(({ key, value, effect, timeAdded }) => ({ key, effect, ...compact({ value, timeAdded }) })) ??
      null,
    ...compact({
      name: given?.name,
      criSocket: given?.criSocket,
      kubeletExtraArgs: argsFor(api, given?.kubeletExtraArgs),
      ignorePreflightErrors: given?.ignorePreflightErrors,
      imagePullPolicy: given?.imagePullPolicy,
    }),
    // A pointer in Go: false is not left out.
    ...(api === "v1beta4" && given?.imagePullSerial !== undefined ? { imagePullSerial: given.imagePullSerial } : {}),
  };
}

function bootstrapToken(token: NonNullable<InitConfiguration["bootstrapTokens"]>[number]): Record<string, unknown> {
  return {
    token: token.token,
    ...compact({
      description: token.description,
      ttl: secondsText(token.ttlSeconds),
      expires: token.expires,
      usages: token.usages,
      groups: token.groups,
    }),
  };
}

function discovery(given: Discovery | undefined): Record<string, unknown> {
  const token = given?.bootstrapToken;
  return compact({
    bootstrapToken:
      token === undefined || Object.keys(token).length === 0
        ? undefined
        : {
            token: token.token ?? "",
            ...compact({
              apiServerEndpoint: token.apiServerEndpoint,
              caCertHashes: token.caCertHashes,
              unsafeSkipCAVerification: token.unsafeSkipCAVerification,
            }),
          },
    file: given?.file === undefined ? undefined : { kubeConfigPath: given.file.kubeConfigPath },
    tlsBootstrapToken: given?.tlsBootstrapToken,
  });
}
