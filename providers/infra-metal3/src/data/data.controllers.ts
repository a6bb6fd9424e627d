import type { KubeObject } from "@capstan/apimachinery";
import { IPAddressClaim, Machine } from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  generationChanged,
  keyText,
  type Predicate,
  parseKey,
  type Request,
  requestFor,
} from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { IPClaim } from "../kinds/ip-claim.ts";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "../kinds/metal3-data.ts";
import { Metal3Machine } from "../kinds/metal3-machine.ts";
import type { Hosts } from "../machine/hosts.ts";
import { BY_DATA, dataOf } from "./address-claims.ts";
import { reconcileData } from "./data.reconcile.ts";
import { BY_TEMPLATE, reconcileDataTemplate } from "./template.reconcile.ts";

const CONCURRENCY = 20;
const BY_DATA_CLAIM = "data-claim";

/** Adds the cache indexes that the data controllers read; call it before the cache starts. */
export function addDataIndexes(cache: Cache): void {
  for (const kind of [Metal3DataClaim, Metal3Data])
    cache.addIndex(kind as typeof Metal3DataClaim, BY_TEMPLATE, ({ metadata, spec }) => [
      keyText(metadata.namespace, spec.template.name ?? ""),
    ]);
  cache.addIndex(Metal3Data, BY_DATA_CLAIM, ({ metadata, spec }) => [
    keyText(metadata.namespace, spec.claim.name ?? ""),
  ]);
  cache.addIndex(IPClaim, BY_DATA, dataOf);
  cache.addIndex(IPAddressClaim, BY_DATA, dataOf);
}

/** Returns the controllers that render Metal3DataTemplates for the machines that claim them. */
export function dataControllers(hosts: Hosts): Controller[] {
  const written = new Map<string, number>();
  const template = ({ metadata, spec }: Metal3DataClaim | Metal3Data): Request[] =>
    spec.template.name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name: spec.template.name }];
  return [
    controller("metal3-data-template")
      .for(Metal3DataTemplate, { predicate: generationChanged })
      .watches(Metal3DataClaim, template)
      .watches(Metal3Data, template, { predicate: { update: () => false } })
      .concurrency(CONCURRENCY)
      .reconcile((request, context) => reconcileDataTemplate(request, context, written)),
    controller("metal3-data")
      .for(Metal3Data)
      .watches(Metal3DataClaim, ({ metadata }, cache) => ofClaim(metadata.namespace, metadata.name, cache))
      .watches(IPClaim, (claim) => dataOf(claim).map(parseKey))
      .watches(IPAddressClaim, (claim) => dataOf(claim).map(parseKey))
      .watches(Metal3DataTemplate, (object, cache) => waitingFor(object, cache), { predicate: generationChanged })
      .watches(Metal3Machine, ({ metadata }, cache) => ofClaim(metadata.namespace, metadata.name, cache), {
        predicate: metadataMatters,
      })
      .watches(
        Machine,
        ({ spec, metadata }, cache) =>
          spec.infrastructureRef.kind === Metal3Machine.kind
            ? ofClaim(metadata.namespace, spec.infrastructureRef.name, cache)
            : [],
        { predicate: metadataMatters },
      )
      .watches(BareMetalHost, ({ metadata, spec }, cache) =>
        spec.consumerRef?.kind === Metal3Machine.kind ? ofClaim(metadata.namespace, spec.consumerRef.name, cache) : [],
      )
      .concurrency(CONCURRENCY)
      .reconcile((request, context) => reconcileData(request, context, hosts)),
  ];
}

/** Only data that is not rendered yet has anything to gain from a change elsewhere. */
function ofClaim(namespace: string | undefined, name: string | undefined, cache: Cache): Request[] {
  if (name === undefined || !cache.synced(Metal3Data)) return [];
  return cache.byIndex(Metal3Data, BY_DATA_CLAIM, keyText(namespace, name)).filter(isUnfinished).flatMap(requestFor);
}

function waitingFor(template: Metal3DataTemplate, cache: Cache): Request[] {
  if (!cache.synced(Metal3Data)) return [];
  const key = keyText(template.metadata.namespace, template.metadata.name ?? "");
  return cache.byIndex(Metal3Data, BY_TEMPLATE, key).filter(isUnfinished).flatMap(requestFor);
}

function isUnfinished({ metadata, status }: Metal3Data): boolean {
  return status?.ready !== true || metadata.deletionTimestamp !== undefined;
}

/** Data is rendered from names, labels and annotations. */
const metadataMatters: Predicate<KubeObject> = {
  update: (object, old) =>
    object.metadata.labels !== old.metadata.labels ||
    object.metadata.annotations !== old.metadata.annotations ||
    object.metadata.ownerReferences !== old.metadata.ownerReferences,
};
