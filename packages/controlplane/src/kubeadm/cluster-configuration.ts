import { toGoYaml } from "@capstan/apimachinery";
import type { ClusterConfiguration } from "@capstan/capi";
import type { KubeadmApi } from "./api-version.ts";
import { argsFor, compact, secondsText } from "./compact.ts";

/** Values of ClusterConfiguration that come from other objects: the Cluster, the Machine and (for v1beta3) InitConfiguration. */
export interface ClusterFacts {
  clusterName: string;
  kubernetesVersion: string | undefined;
  controlPlaneEndpoint: string | undefined;
  dnsDomain: string | undefined;
  serviceSubnet: string | undefined;
  podSubnet: string | undefined;
  controlPlaneComponentHealthCheckSeconds: number | undefined;
}

type Component = NonNullable<ClusterConfiguration["scheduler"]>;
type Etcd = NonNullable<ClusterConfiguration["etcd"]>;

/** Renders kubeadm's ClusterConfiguration as YAML. */
export function clusterConfigurationYaml(config: ClusterConfiguration, api: KubeadmApi, facts: ClusterFacts): string {
  return toGoYaml(clusterConfigurationOf(config, api, facts));
}

/** Builds kubeadm's ClusterConfiguration in the form of one version of its API. */
export function clusterConfigurationOf(
  config: ClusterConfiguration,
  api: KubeadmApi,
  facts: ClusterFacts,
): Record<string, unknown> {
  const days = (count: number | undefined): string | undefined =>
    count === undefined || api === "v1beta3" ? undefined : secondsText(count * 86400);
  return {
    apiVersion: `kubeadm.k8s.io/${api}`,
    kind: "ClusterConfiguration",
    etcd: etcd(config.etcd, api),
    networking: compact({
      serviceSubnet: facts.serviceSubnet,
      podSubnet: facts.podSubnet,
      dnsDomain: facts.dnsDomain,
    }),
    apiServer: {
      ...component(config.apiServer, api),
      ...compact({
        certSANs: config.apiServer?.certSANs,
        // Since v1beta4 this is a timeout of init and join.
        timeoutForControlPlane:
          api === "v1beta3" ? secondsText(facts.controlPlaneComponentHealthCheckSeconds) : undefined,
      }),
    },
    controllerManager: component(config.controllerManager, api),
    scheduler: component(config.scheduler, api),
    dns: compact({ imageRepository: config.dns?.imageRepository, imageTag: config.dns?.imageTag }),
    ...(api === "v1beta4" ? { proxy: {} } : {}),
    ...compact({
      kubernetesVersion: facts.kubernetesVersion,
      controlPlaneEndpoint: config.controlPlaneEndpoint ?? facts.controlPlaneEndpoint,
      certificatesDir: config.certificatesDir,
      imageRepository: config.imageRepository,
      featureGates: emptyAsUndefined(config.featureGates),
      clusterName: facts.clusterName,
      encryptionAlgorithm: api === "v1beta4" ? config.encryptionAlgorithm : undefined,
      certificateValidityPeriod: days(config.certificateValidityPeriodDays),
      caCertificateValidityPeriod: days(config.caCertificateValidityPeriodDays),
    }),
  };
}

function emptyAsUndefined<T extends object>(map: T | undefined): T | undefined {
  return map === undefined || Object.keys(map).length === 0 ? undefined : map;
}

function component(given: Component | undefined, api: KubeadmApi): Record<string, unknown> {
  return compact({
    extraArgs: argsFor(api, given?.extraArgs),
    extraVolumes: given?.extraVolumes?.map(({ name, hostPath, mountPath, readOnly, pathType }) => ({
      name,
      hostPath,
      mountPath,
      ...compact({ readOnly, pathType }),
    })),
    extraEnvs: api === "v1beta4" ? environment(given?.extraEnvs) : undefined,
  });
}

function environment(variables: Component["extraEnvs"]): unknown {
  return variables?.map(({ name, value, valueFrom }) => ({ name, ...compact({ value, valueFrom }) }));
}

function etcd(config: Etcd | undefined, api: KubeadmApi): Record<string, unknown> {
  const local = emptyAsUndefined(config?.local);
  const external = config?.external;
  return compact({
    local:
      local === undefined
        ? undefined
        : {
            dataDir: local.dataDir ?? "",
            ...compact({
              imageRepository: local.imageRepository,
              imageTag: local.imageTag,
              extraArgs: argsFor(api, local.extraArgs),
              extraEnvs: api === "v1beta4" ? environment(local.extraEnvs) : undefined,
              serverCertSANs: local.serverCertSANs,
              peerCertSANs: local.peerCertSANs,
            }),
          },
    external,
  });
}
