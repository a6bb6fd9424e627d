import { type Clock, isReason, sleep } from "@capstan/apimachinery";
import { CustomResourceDefinition } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { type AnyKind, KINDS } from "./kinds.ts";
import type { ServedBy } from "./webhooks.ts";

const RETRY_MS = 100;
const GIVE_UP_MS = 30_000;

/** Makes the API serve our kinds and returns when it does; safe to repeat. */
export async function installKinds(client: Client, clock: Clock, servedBy: ServedBy): Promise<void> {
  await Promise.all(KINDS.map((kind) => installKind(kind, client, servedBy)));
  const until = clock.monotonic() + GIVE_UP_MS;
  await Promise.all(KINDS.map((kind) => untilServed(kind, client, clock, until)));
  await Promise.all(servedBy.configurations.map((configuration) => client.apply(configuration)));
}

/** Groups of kinds that upstream's operators serve as well: where theirs are, they stay, or fields we do not know would be lost. */
const SHARED_GROUPS: readonly string[] = ["metal3.io", "ipam.metal3.io"];

async function installKind(kind: AnyKind, client: Client, servedBy: ServedBy): Promise<void> {
  const crd = servedBy.crdOf(kind);
  if (SHARED_GROUPS.includes(kind.group)) {
    const live = await client.get(CustomResourceDefinition, { name: crd.metadata.name ?? "" });
    const ours = live?.metadata.managedFields?.some(({ manager }) => manager === client.fieldManager) ?? true;
    if (!ours) return;
  }
  await client.apply(crd);
}

/** A real kube-apiserver serves a kind a moment after its CRD is established, which no watch tells. */
async function untilServed(kind: AnyKind, client: Client, clock: Clock, until: number): Promise<void> {
  for (;;) {
    try {
      await client.list(kind, { limit: 1 });
      return;
    } catch (error) {
      if (!isReason(error, "NotFound", "TooManyRequests", "ServiceUnavailable") || clock.monotonic() > until)
        throw error;
      await sleep(clock, RETRY_MS);
    }
  }
}
