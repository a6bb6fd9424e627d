import { type Clock, isReason, sleep, type Unstructured } from "@capstan/apimachinery";
import type { Client, KindRef } from "@capstan/runtime";

const RBAC = "rbac.authorization.k8s.io";
const VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];
const RETRY_MS = 100;
const GIVE_UP_MS = 30_000;

/** What the core of Cluster API, ours or upstream's, may do with these kinds: it aggregates every role with this label. */
export function kindsRole(name: string, kinds: readonly Pick<KindRef, "group" | "plural">[]): Unstructured {
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: `${name}-kinds`, labels: { "cluster.x-k8s.io/aggregate-to-manager": "true" } },
    rules: groups.map((group) => {
      const plurals = kinds.filter((kind) => kind.group === group).map(({ plural }) => plural);
      const resources = plurals.flatMap((plural) => [
        plural,
        `${plural}/status`,
        `${plural}/finalizers`,
        `${plural}/scale`,
      ]);
      return { apiGroups: [group], resources, verbs: VERBS };
    }),
  };
}

/** Resolves when all kinds are served: a real kube-apiserver does so a moment after a CRD is established, which no watch tells. */
export async function untilServed(kinds: readonly KindRef[], client: Client, clock: Clock): Promise<void> {
  const until = clock.monotonic() + GIVE_UP_MS;
  await Promise.all(kinds.map((kind) => kindServed(kind, client, clock, until)));
}

async function kindServed(kind: KindRef, client: Client, clock: Clock, until: number): Promise<void> {
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
