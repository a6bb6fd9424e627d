import { formatTime, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, Cluster, pausedCondition } from "@capstan/capi";
import {
  done,
  ensureFinalizer,
  ensureStatusIfPresent,
  keyText,
  type ReconcileContext,
  type Request,
  type Result,
  releaseFinalizer,
  requeueAfter,
} from "@capstan/runtime";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import { DATA_CLAIM_FINALIZER, DATA_FINALIZER, DATA_TEMPLATE_FINALIZER } from "./names.ts";

/** Name of the index of Metal3DataClaims and Metal3Datas by their template. */
export const BY_TEMPLATE = "template";

/** The list of all indexes is written at most this often, and the less often the longer it is. */
const STATUS_PAUSE_MS = 1000;
const PAUSE_PER_INDEX_MS = 1;
/** How many data objects are made at the same time. */
const BATCH = 20;

/** When the status of each template was last written; kept in memory between reconciles. */
export type TemplateMemory = Map<string, number>;

/** Reconciles a Metal3DataTemplate: assigns each claim an index and a Metal3Data, and releases both with the claim. */
export async function reconcileDataTemplate(
  request: Request,
  context: ReconcileContext,
  written: TemplateMemory,
): Promise<Result> {
  const { cache, client, signal } = context;
  const key = keyText(request.namespace, request.name);
  const claims = cache.byIndex(Metal3DataClaim, BY_TEMPLATE, key).filter((claim) => !isPaused(claim, context));
  const datas = cache.byIndex(Metal3Data, BY_TEMPLATE, key);
  const ofClaim = new Map(datas.map((data) => [data.spec.claim.name ?? "", data]));
  await inBatches(
    claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined),
    (claim) => release(claim, ofClaim.get(claim.metadata.name ?? ""), context),
  );
  const template = cache.get(Metal3DataTemplate, request);
  if (template === undefined) {
    written.delete(key);
    await inBatches(claims.filter(isOpen), (claim) =>
      report(claim, { errorMessage: `Metal3DataTemplate ${request.name} does not exist; create it` }, context),
    );
    return done();
  }
  if (template.metadata.deletionTimestamp !== undefined) {
    if (datas.length === 0) await releaseFinalizer(client, template, DATA_TEMPLATE_FINALIZER, signal);
    return done();
  }
  const held =
    claims.length === 0 ? template : await ensureFinalizer(client, template, DATA_TEMPLATE_FINALIZER, signal);
  const next = freeIndexes(datas);
  await inBatches(claims.filter(isOpen), async (claim) => {
    const name = claim.metadata.name ?? "";
    const data = ofClaim.get(name) ?? (await create(held, claim, next(), context));
    const { namespace = "" } = data.metadata;
    await report(claim, { renderedData: { name: data.metadata.name ?? "", namespace } }, context);
  });
  return await writeStatus(held, key, context, written);
}

function isOpen({ metadata, status }: Metal3DataClaim): boolean {
  return metadata.deletionTimestamp === undefined && status?.renderedData === undefined;
}

function isPaused(claim: Metal3DataClaim, { cache }: ReconcileContext): boolean {
  const { namespace, labels } = claim.metadata;
  const name = labels?.[CLUSTER_NAME_LABEL];
  const cluster = name === undefined ? undefined : cache.get(Cluster, { namespace, name });
  return pausedCondition(claim, cluster).status === "True";
}

/** The lowest indexes that no data has, one after the other. */
function freeIndexes(datas: readonly Metal3Data[]): () => number {
  const used = new Set(datas.map(({ spec }) => spec.index ?? 0));
  let candidate = 0;
  return () => {
    while (used.has(candidate)) candidate++;
    return candidate++;
  };
}

/** The name holds the index, so that no two claims can ever have the same one. */
async function create(
  template: Metal3DataTemplate,
  claim: Metal3DataClaim,
  index: number,
  context: ReconcileContext,
): Promise<Metal3Data> {
  const { namespace = "", name: claimName = "", labels } = claim.metadata;
  const { name: templateName = "" } = template.metadata;
  const held = await ensureFinalizer(context.client, claim, DATA_CLAIM_FINALIZER, context.signal);
  const machines = (claim.metadata.ownerReferences ?? []).filter(({ kind }) => kind === Metal3Machine.kind);
  const cluster = labels?.[CLUSTER_NAME_LABEL];
  const secret = (suffix: string) => ({ name: `${claimName}-${suffix}`, namespace });
  const data: Metal3Data = {
    apiVersion: Metal3Data.apiVersion,
    kind: Metal3Data.kind,
    metadata: {
      namespace,
      name: `${templateName}-${index}`,
      finalizers: [DATA_FINALIZER],
      ...(cluster === undefined ? {} : { labels: { [CLUSTER_NAME_LABEL]: cluster } }),
      ownerReferences: [
        ownerReference(held, { controller: true }),
        ...machines.map(({ apiVersion, kind, name, uid }) => ({ apiVersion, kind, name, uid })),
      ],
    },
    spec: {
      index,
      template: { name: templateName, namespace },
      claim: { name: claimName, namespace },
      ...(template.spec.metaData === undefined ? {} : { metaData: secret("metadata") }),
      ...(template.spec.networkData === undefined ? {} : { networkData: secret("networkdata") }),
    },
  };
  return await context.client.create(data, {}, context.signal);
}

async function release(claim: Metal3DataClaim, data: Metal3Data | undefined, context: ReconcileContext): Promise<void> {
  const { client, signal } = context;
  if (data === undefined) await releaseFinalizer(client, claim, DATA_CLAIM_FINALIZER, signal);
  else if (data.metadata.deletionTimestamp === undefined) await client.delete(data, {}, signal);
}

async function report(
  claim: Metal3DataClaim,
  status: { renderedData: { name: string; namespace: string } } | { errorMessage: string },
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name = "" } = claim.metadata;
  const { apiVersion, kind } = Metal3DataClaim;
  const desired = { apiVersion, kind, metadata: { namespace, name }, status } as unknown as Metal3DataClaim;
  const live = context.cache.get(Metal3DataClaim, { namespace, name });
  if ("errorMessage" in status && status.errorMessage !== live?.status?.errorMessage)
    context.recorder.event(claim, "Warning", "TemplateMissing", "Render", status.errorMessage);
  await ensureStatusIfPresent(context, desired, live);
}

async function writeStatus(
  template: Metal3DataTemplate,
  key: string,
  context: ReconcileContext,
  written: TemplateMemory,
): Promise<Result> {
  const datas = context.cache.byIndex(Metal3Data, BY_TEMPLATE, key);
  const indexes = datas
    .map(({ spec }) => ({ name: spec.claim.name ?? "", index: spec.index ?? 0 }))
    .sort((a, b) => a.index - b.index);
  const before = template.status?.indexes ?? [];
  if (
    before.length === indexes.length &&
    indexes.every((one, i) => before[i]?.name === one.name && before[i].index === one.index)
  )
    return done();
  const pauseMs = Math.max(STATUS_PAUSE_MS, indexes.length * PAUSE_PER_INDEX_MS);
  const leftMs = (written.get(key) ?? Number.NEGATIVE_INFINITY) + pauseMs - context.clock.monotonic();
  if (leftMs > 0) return requeueAfter(leftMs);
  const { apiVersion, kind } = Metal3DataTemplate;
  const { namespace, name } = template.metadata;
  const status = { indexes, lastUpdated: formatTime(context.clock.now()) };
  const desired = { apiVersion, kind, metadata: { namespace, name }, status } as unknown as Metal3DataTemplate;
  await context.client.apply(desired, { subresource: "status" }, context.signal);
  written.set(key, context.clock.monotonic());
  return done();
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < items.length; i += BATCH) await Promise.all(items.slice(i, i + BATCH).map(work));
}
