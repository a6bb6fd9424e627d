import { isReason, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, Cluster, Machine, pausedCondition, Secret } from "@capstan/capi";
import {
  done,
  ensureStatusIfPresent,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
} from "@capstan/runtime";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import type { Hosts } from "../machine/hosts.ts";
import { claimAddress, releaseAddresses } from "./address-claims.ts";
import { DATA_FINALIZER, DATA_SECRET_TYPE } from "./names.ts";
import { type PoolReference, referencedPools } from "./pool-references.ts";
import { type PoolAddress, RenderError } from "./render-input.ts";
import { renderMetaData } from "./render-meta-data.ts";
import { renderNetworkData } from "./render-network-data.ts";

/** Reconciles a Metal3Data: renders the data of one machine into Secrets, or releases its addresses when it is deleted. */
export async function reconcileData(request: Request, context: ReconcileContext, hosts: Hosts): Promise<Result> {
  const data = context.cache.get(Metal3Data, request);
  if (data === undefined || isPaused(data, context)) return done();
  const { namespace } = request;
  const claim = context.cache.get(Metal3DataClaim, { namespace, name: data.spec.claim.name ?? "" });
  if (data.metadata.deletionTimestamp !== undefined) {
    // Data of a machine that still runs stays, whoever deletes it.
    if (claim !== undefined && claim.metadata.deletionTimestamp === undefined) return done();
    await releaseAddresses(data, context);
    await releaseFinalizer(context.client, data, DATA_FINALIZER, context.signal);
    return done();
  }
  if (data.status?.ready === true) return done();
  const objects = objectsOf(data, context, hosts);
  if (objects === undefined) return done();
  try {
    const problem = await render(data, objects, context);
    await report(data, problem, context);
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    await report(data, { errorMessage: `Metal3DataTemplate ${data.spec.template.name}: ${error.message}` }, context);
  }
  return done();
}

interface Objects {
  template: Metal3DataTemplate;
  metal3Machine: Metal3Machine;
  machine: Machine;
  host: BareMetalHost;
}

type Progress = { ready: true } | { errorMessage: string } | undefined;

function isPaused(data: Metal3Data, { cache }: ReconcileContext): boolean {
  const { namespace, labels } = data.metadata;
  const name = labels?.[CLUSTER_NAME_LABEL];
  const cluster = name === undefined ? undefined : cache.get(Cluster, { namespace, name });
  return pausedCondition(data, cluster).status === "True";
}

/** What data is rendered from; undefined until all of it is there. */
function objectsOf(data: Metal3Data, { cache }: ReconcileContext, hosts: Hosts): Objects | undefined {
  const { namespace } = data.metadata;
  const template = cache.get(Metal3DataTemplate, { namespace, name: data.spec.template.name ?? "" });
  const metal3Machine = cache.get(Metal3Machine, { namespace, name: data.spec.claim.name ?? "" });
  const owner = metal3Machine?.metadata.ownerReferences?.find(({ kind }) => kind === Machine.kind);
  const machine = owner === undefined ? undefined : cache.get(Machine, { namespace, name: owner.name });
  const host = metal3Machine === undefined ? undefined : hosts.of(metal3Machine);
  if (template === undefined || metal3Machine === undefined || machine === undefined || host === undefined)
    return undefined;
  return { template, metal3Machine, machine, host };
}

async function render(data: Metal3Data, objects: Objects, context: ReconcileContext): Promise<Progress> {
  const { template } = objects;
  const addresses = await addressesFor(data, referencedPools(template, objects), context);
  if (addresses === undefined || "errorMessage" in addresses) return addresses;
  const { namespace = "" } = data.metadata;
  const input = { ...objects, index: data.spec.index ?? 0, namespace, addresses };
  const { metaData, networkData } = template.spec;
  const texts = [
    [data.spec.metaData?.name, "metaData", metaData === undefined ? undefined : renderMetaData(metaData, input)],
    [
      data.spec.networkData?.name,
      "networkData",
      networkData === undefined ? undefined : renderNetworkData(networkData, input),
    ],
  ] as const;
  for (const [name, key, text] of texts) {
    if (name === undefined || text === undefined) continue;
    const problem = await writeSecret(data, name, key, text, context);
    if (problem !== undefined) return { errorMessage: problem };
  }
  return { ready: true };
}

async function addressesFor(
  data: Metal3Data,
  pools: readonly PoolReference[],
  context: ReconcileContext,
): Promise<Map<string, PoolAddress> | { errorMessage: string } | undefined> {
  const addresses = new Map<string, PoolAddress>();
  const claimed = await Promise.all(
    pools.map(async (pool) => [pool, await claimAddress(data, pool, context)] as const),
  );
  const problems = claimed.flatMap(([, one]) => ("problem" in one ? [one.problem] : []));
  if (problems.length > 0) return { errorMessage: problems.join("; ") };
  for (const [pool, one] of claimed) if ("address" in one) addresses.set(pool.name, one.address);
  return addresses.size === pools.length ? addresses : undefined;
}

/** What was rendered once stays: a host that is provisioned again must become the same node. */
async function writeSecret(
  data: Metal3Data,
  name: string,
  key: string,
  text: string,
  context: ReconcileContext,
): Promise<string | undefined> {
  const { namespace = "", labels } = data.metadata;
  const cluster = labels?.[CLUSTER_NAME_LABEL];
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name,
      ...(cluster === undefined ? {} : { labels: { [CLUSTER_NAME_LABEL]: cluster } }),
      ownerReferences: [ownerReference(data, { controller: true })],
    },
    type: DATA_SECRET_TYPE,
    data: { [key]: Buffer.from(text).toString("base64") },
  };
  try {
    await context.client.create(secret, {}, context.signal);
    return undefined;
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
  }
  const there = await context.client.get(Secret, { namespace, name }, context.signal);
  if (there === undefined || there.metadata.deletionTimestamp !== undefined)
    throw new Error(`Secret ${name} is being deleted`);
  const owner = there.metadata.ownerReferences?.find(({ controller }) => controller === true);
  // After a move the UID is another, the name is not.
  if (owner?.kind === data.kind && owner.name === data.metadata.name) return undefined;
  return `Secret ${name} already exists and belongs to another object; delete it or rename the machine`;
}

async function report(data: Metal3Data, progress: Progress, context: ReconcileContext): Promise<void> {
  if (progress === undefined && data.status === undefined) return;
  const { namespace, name = "" } = data.metadata;
  const { apiVersion, kind } = Metal3Data;
  const desired = { apiVersion, kind, metadata: { namespace, name }, status: progress ?? {} } as unknown as Metal3Data;
  const live = context.cache.get(Metal3Data, { namespace, name });
  if (progress !== undefined && "errorMessage" in progress && progress.errorMessage !== live?.status?.errorMessage)
    context.recorder.event(data, "Warning", "RenderingFailed", "Render", progress.errorMessage);
  await ensureStatusIfPresent(context, desired, live);
}
