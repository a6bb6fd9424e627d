import type { Cluster, JoinConfiguration, KubeadmConfig } from "@capstan/capi";
import { clusterConfigurationYaml, type KubeadmApi, kubeadmApi } from "@capstan/controlplane";
import type { ReconcileContext } from "@capstan/runtime";
import {
  type KubeadmStep,
  renderCloudConfig,
  renderIgnition,
  type UserData,
  UserDataError,
  type UserDataFile,
} from "@capstan/userdata";
import { certificateFiles, type KeyPair } from "./certificates.ts";
import type { ConfigOwner } from "./config-owner.ts";
import { type Discovery, discoveryFile, endpointText } from "./discovery.ts";
import { initConfigurationYaml, joinConfigurationYaml } from "./kubeadm/node-configuration.ts";
import { fail } from "./progress.ts";
import { resolveFiles, resolveUsers } from "./sources.ts";

/** Nodes carry it until the Machine controller has synchronised their labels. */
const UNINITIALIZED = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" };

/** The objects that bootstrap data is rendered from. */
export interface DataInput {
  config: KubeadmConfig;
  owner: ConfigOwner;
  cluster: Cluster;
}

/** Renders the bootstrap data of the first control plane node, which runs `kubeadm init`. */
export async function initData(
  input: DataInput,
  pairs: readonly KeyPair[],
  context: ReconcileContext,
): Promise<string> {
  const { config, owner, cluster } = input;
  const api = apiOf(owner);
  const init = config.spec?.initConfiguration ?? {};
  const network = cluster.spec?.clusterNetwork;
  const clusterConfiguration = clusterConfigurationYaml(config.spec?.clusterConfiguration ?? {}, api, {
    clusterName: cluster.metadata.name ?? "",
    kubernetesVersion: owner.version,
    controlPlaneEndpoint: endpointText(cluster),
    dnsDomain: network?.serviceDomain,
    serviceSubnet: network?.services?.cidrBlocks.join(","),
    podSubnet: network?.pods?.cidrBlocks.join(","),
    controlPlaneComponentHealthCheckSeconds: init.timeouts?.controlPlaneComponentHealthCheckSeconds,
  });
  return await render(input, certificateFiles(pairs), [], context, {
    action: "init",
    clusterConfiguration,
    initConfiguration: initConfigurationYaml(init, api),
  });
}

/** Renders the bootstrap data of a node that runs `kubeadm join`: a worker or, if its owner is one, an additional control plane node. */
export async function joinData(
  input: DataInput,
  discovery: Discovery,
  caPem: string,
  pairs: readonly KeyPair[],
  context: ReconcileContext,
): Promise<string> {
  const { config, owner, cluster } = input;
  const api = apiOf(owner);
  const given = config.spec?.joinConfiguration ?? {};
  if (!owner.controlPlane && given.controlPlane !== undefined)
    fail(`spec.joinConfiguration.controlPlane must not be set: ${owner.kind} ${owner.name} is a worker`);
  const kubeconfig = discoveryFile(discovery.file, cluster, caPem);
  const join: JoinConfiguration = owner.controlPlane
    ? { ...given, discovery, controlPlane: given.controlPlane ?? {} }
    : { ...given, discovery, nodeRegistration: withTaint(given.nodeRegistration) };
  return await render(input, certificateFiles(pairs), kubeconfig === undefined ? [] : [kubeconfig], context, {
    action: "join",
    controlPlane: owner.controlPlane,
    joinConfiguration: joinConfigurationYaml(join, api),
  });
}

type NodeRegistration = NonNullable<JoinConfiguration["nodeRegistration"]>;

function withTaint(registration: NodeRegistration | undefined): NodeRegistration {
  const taints = registration?.taints ?? [];
  const there = taints.some(({ key, effect }) => key === UNINITIALIZED.key && effect === UNINITIALIZED.effect);
  return { ...registration, taints: there ? taints : [...taints, UNINITIALIZED] };
}

function apiOf(owner: ConfigOwner): KubeadmApi {
  const found = kubeadmApi(owner.version);
  return "api" in found ? found.api : fail(found.problem);
}

/** The action without its verbosity, which the spec says for all. */
type Step = KubeadmStep extends infer S ? (S extends unknown ? Omit<S, "verbosity"> : never) : never;

async function render(
  { config, owner }: DataInput,
  before: readonly UserDataFile[],
  after: readonly UserDataFile[],
  context: ReconcileContext,
  step: Step,
): Promise<string> {
  const spec = config.spec ?? {};
  const files = await resolveFiles(config, owner.version, context);
  const data: UserData = {
    files: [...before, ...files, ...after],
    bootCommands: spec.bootCommands,
    preKubeadmCommands: spec.preKubeadmCommands,
    postKubeadmCommands: spec.postKubeadmCommands,
    users: await resolveUsers(config, context),
    ntp: spec.ntp,
    diskSetup: spec.diskSetup,
    mounts: spec.mounts,
    kubeadm: { ...step, verbosity: spec.verbosity } as KubeadmStep,
  };
  if (spec.format !== "ignition") return renderCloudConfig(data);
  try {
    return renderIgnition(data, spec.ignition?.containerLinuxConfig);
  } catch (error) {
    if (error instanceof UserDataError) return fail(error.message);
    throw error;
  }
}
