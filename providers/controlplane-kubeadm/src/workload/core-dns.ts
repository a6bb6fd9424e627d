import {
  ConfigMap,
  coreDnsMigrationProblems,
  coreDnsVersion,
  type KubeadmControlPlane,
  problemText,
  SKIP_COREDNS_ANNOTATION,
} from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { type AddonController, AddonDeployment, containerOf, imagePatch } from "./addon-kinds.ts";
import { migrateCorefile } from "./corefile.ts";
import { type Image, imageText, parseImage } from "./images.ts";
import type { WorkloadProblem } from "./workload-side.ts";

const KEY = { namespace: "kube-system", name: "coredns" };
const CURRENT = "Corefile";
/** CoreDNS reads the copy while the Corefile already has the form that only the next version understands. */
const BACKUP = "Corefile-backup";

/**
 * Sets CoreDNS to the image that the control plane names, with its Corefile migrated. Without a tag in the control plane the version
 * stays, as upstream has it. Each step can be repeated, so that a manager that is killed in between finishes later.
 */
export async function updateCoreDns(
  client: Client,
  controlPlane: KubeadmControlPlane,
  signal: AbortSignal,
): Promise<WorkloadProblem | undefined> {
  const { metadata, spec } = controlPlane;
  if (metadata.annotations?.[SKIP_COREDNS_ANNOTATION] !== undefined) return undefined;
  if (spec.kubeadmConfigSpec?.clusterConfiguration === undefined) return undefined;
  const config = await client.get(ConfigMap, KEY, signal);
  const deployment = await client.get(AddonDeployment, KEY, signal);
  if (config === undefined || deployment === undefined) return undefined;
  const container = containerOf(deployment, "coredns");
  const image = container === undefined ? undefined : parseImage(container.image);
  if (container === undefined || image === undefined) return unknownImage(container?.image);
  const wanted = wantedImage(image, controlPlane);
  const interrupted = corefileKeys(deployment).some(({ key }) => key === BACKUP);
  if (imageText(wanted) === container.image && !interrupted) return undefined;
  const problem = migrationProblem(image.tag, wanted.tag, metadata.annotations);
  if (problem !== undefined) return problem;
  // After an interruption the copy is what runs; the other one may be migrated already.
  const corefile = interrupted ? (config.data?.[BACKUP] ?? config.data?.[CURRENT]) : config.data?.[CURRENT];
  if (corefile === undefined) return trouble(`ConfigMap kube-system/coredns has no key ${CURRENT}: restore it`);
  const migrated = migrateCorefile(corefile, coreDnsVersion(image.tag) ?? "");
  if (migrated === undefined)
    return trouble(`its Corefile is of ${image.tag}, and only those since v1.8.3 are migrated: migrate it by hand`);
  if (migrated !== corefile) await keepBackup(client, { config, deployment, corefile, migrated, signal });
  await client.patch(
    { kind: AddonDeployment, ...KEY },
    [...imagePatch(container.index, "coredns", imageText(wanted)), ...volumePatch(deployment, CURRENT, true)],
    {},
    signal,
  );
  return undefined;
}

interface Migration {
  readonly config: ConfigMap;
  readonly deployment: AddonController;
  readonly corefile: string;
  readonly migrated: string;
  readonly signal: AbortSignal;
}

/** The running version continues with a copy of its Corefile until the new one starts with the migrated one. */
async function keepBackup(client: Client, migration: Migration): Promise<void> {
  const { config, deployment, corefile, migrated, signal } = migration;
  const target = { kind: ConfigMap, ...KEY };
  if (config.data?.[BACKUP] !== corefile) await client.patch(target, { data: { [BACKUP]: corefile } }, {}, signal);
  const patch = volumePatch(deployment, BACKUP, false);
  if (patch.length > 0) await client.patch({ kind: AddonDeployment, ...KEY }, patch, {}, signal);
  if (config.data?.[CURRENT] !== migrated) await client.patch(target, { data: { [CURRENT]: migrated } }, {}, signal);
}

/** Where the Deployment says which key of the ConfigMap is its Corefile. */
function corefileKeys(deployment: AddonController): { path: string; key: string }[] {
  const volumes = deployment.spec?.template?.spec?.volumes ?? [];
  return volumes.flatMap(({ name, configMap }, volume) => {
    if (name !== "config-volume" || configMap?.name !== KEY.name) return [];
    return (configMap.items ?? []).flatMap(({ key }, item) => {
      const path = `/spec/template/spec/volumes/${volume}/configMap/items/${item}/key`;
      return key === CURRENT || key === BACKUP ? [{ path, key }] : [];
    });
  });
}

function volumePatch(deployment: AddonController, to: string, always: boolean): object[] {
  // The copy of the Deployment is from before it was set to the backup.
  const places = corefileKeys(deployment).filter(({ key }) => always || key !== to);
  return places.map(({ path }) => ({ op: "replace", path, value: to }));
}

/** Only the public registries keep CoreDNS in a folder of its own. */
function wantedImage(image: Image, { spec }: KubeadmControlPlane): Image {
  const config = spec.kubeadmConfigSpec?.clusterConfiguration;
  const given = config?.dns?.imageRepository ?? config?.imageRepository;
  const repository = given?.replace(/\/+$/, "") ?? image.repository;
  const inFolder = repository === "registry.k8s.io" || repository === "k8s.gcr.io";
  return {
    repository: inFolder ? `${repository}/coredns` : repository,
    name: image.name,
    tag: config?.dns?.imageTag ?? image.tag,
  };
}

function migrationProblem(
  from: string,
  to: string,
  annotations: Record<string, string> | undefined,
): WorkloadProblem | undefined {
  const field = "spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag";
  const [first] = coreDnsMigrationProblems({ from, to, annotations }, field);
  if (first !== undefined) return { reason: "CoreDNSNotMigratable", message: problemText(first) };
  if (coreDnsVersion(from) === undefined || coreDnsVersion(to) === undefined)
    return trouble(`its tags ${from} and ${to} must begin with a version, such as v1.14.2`);
  return undefined;
}

function unknownImage(image: string | undefined): WorkloadProblem {
  const what =
    image === undefined
      ? "has no container named coredns"
      : `has the image ${image.slice(0, 200)}, whose tag is unknown`;
  return trouble(`Deployment kube-system/coredns ${what}`);
}

function trouble(why: string): WorkloadProblem {
  const cure = `Or set the annotation ${SKIP_COREDNS_ANNOTATION} to manage CoreDNS yourself`;
  return { reason: "CoreDNSNotUpdated", message: `CoreDNS is not updated: ${why}. ${cure}` };
}
