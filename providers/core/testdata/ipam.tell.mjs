/**
 * Tells a story to an API server with controllers of in-cluster IPAM behind it, and gives back what could be seen after every step:
 * what the server said, and which pools, claims and addresses there are. Upstream's provider hears it when answers are recorded,
 * ours when they are compared. `settle` waits until nothing happens any more.
 * @param {import("@capstan/runtime").Client} client
 * @param {import("./ipam.stories.mjs").Story} story
 * @param {{ namespace: string; settle: () => Promise<void> }} where
 */
export async function tell(client, story, { namespace, settle }) {
  for (const name of [namespace, other(namespace)])
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const seen = [];
  for (const step of story.steps) {
    const said = await act(client, step, namespace);
    const refused = said.code >= 400;
    if (!refused) await settle();
    seen.push({ ...said, ...(refused ? {} : await look(client, namespace, story.old === true)) });
  }
  await clear(client, namespace);
  await settle();
  return seen;
}

const GROUP = "ipam.cluster.x-k8s.io";
const CLUSTERS = "cluster.x-k8s.io/v1beta2";
const POOLS = ["InClusterIPPool", "GlobalInClusterIPPool", "InClusterPrefixPool", "GlobalInClusterPrefixPool"];
const other = (namespace) => `${namespace}-b`;

/** Where an object of a story belongs: pools of all namespaces have the namespace in their name, that stories do not meet. */
function placed(object, namespace) {
  const { elsewhere, ...rest } = object;
  const isGlobal = object.kind.startsWith("Global");
  const { metadata, spec } = rest;
  const named = (name) => `${namespace}-${name}`;
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...(isGlobal ? { name: named(metadata.name) } : { namespace: elsewhere ? other(namespace) : namespace }),
    },
    ...(spec?.poolRef?.kind.startsWith("Global")
      ? { spec: { ...spec, poolRef: { ...spec.poolRef, name: named(spec.poolRef.name) } } }
      : {}),
  };
}

async function act(client, { create, change, remove, patch }, namespace) {
  const object = placed(create ?? change ?? remove, namespace);
  try {
    if (create) await client.create(object);
    else if (change) await client.patch(object, patch);
    else await client.delete(object);
    return { code: create ? 201 : 200 };
  } catch (error) {
    if (error.status?.code === undefined) throw error;
    const { code, reason, details } = error.status;
    const fields = new Set((details?.causes ?? []).map(({ field }) => field ?? ""));
    return { code, reason, fields: [...fields].sort((a, b) => (a < b ? -1 : 1)) };
  }
}

/** All there is of a story, without what is made by chance. */
async function look(client, namespace, old) {
  const spaces = [namespace, other(namespace)];
  const mine = ({ metadata }) => spaces.includes(metadata.namespace) || metadata.name.startsWith(`${namespace}-`);
  const all = async (kind, apiVersion) =>
    (await client.list(await client.kindOf({ apiVersion, kind }), {})).items.filter(mine);
  const shown = {};
  const add = (object, facts) => {
    const { metadata, kind } = object;
    const place = metadata.namespace === other(namespace) ? " elsewhere" : "";
    shown[`${kind} ${metadata.name.replace(`${namespace}-`, "")}${place}`] = {
      ...facts,
      finalizers: metadata.finalizers ?? [],
      ...(metadata.deletionTimestamp === undefined ? {} : { deleting: true }),
    };
  };
  for (const kind of POOLS)
    for (const pool of await all(kind, `${GROUP}/v1alpha2`))
      add({ ...pool, kind }, { spec: pool.spec, counts: counts(pool.status?.ipAddresses) });
  if (old)
    for (const kind of POOLS.slice(0, 2))
      for (const pool of await all(kind, `${GROUP}/v1alpha1`))
        add({ ...pool, kind: `old ${kind}` }, { spec: pool.spec });
  for (const claim of await all("IPAddressClaim", `${GROUP}/v1beta2`))
    add({ ...claim, kind: "claim" }, { address: claim.status?.addressRef?.name ?? "" });
  for (const address of await all("IPAddress", `${GROUP}/v1beta2`)) {
    const { poolRef, ...spec } = address.spec;
    const owners = (address.metadata.ownerReferences ?? []).map(
      ({ kind, controller, blockOwnerDeletion }) => `${kind} controller=${controller} blocks=${blockOwnerDeletion}`,
    );
    add(
      { ...address, kind: "address" },
      { ...spec, pool: poolRef.kind, owners, labels: address.metadata.labels ?? {} },
    );
  }
  return { shown };
}

/** Numbers beyond what JSON's readers agree on are only large. */
function counts(status) {
  if (status === undefined) return "none";
  return Object.fromEntries(
    Object.entries(status).map(([name, value]) => [name, value >= Number.MAX_SAFE_INTEGER ? "very many" : value]),
  );
}

/** Ends a story whatever state it left. */
async function clear(client, namespace) {
  const kinds = [
    ...["IPAddressClaim", "IPAddress"].map((kind) => ({ apiVersion: `${GROUP}/v1beta2`, kind })),
    ...POOLS.map((kind) => ({ apiVersion: `${GROUP}/v1alpha2`, kind })),
    { apiVersion: CLUSTERS, kind: "Cluster" },
  ];
  for (const { apiVersion, kind } of kinds) {
    const { items } = await client.list(await client.kindOf({ apiVersion, kind }), {});
    for (const item of items) {
      const { metadata } = item;
      if (!metadata.name.startsWith(`${namespace}-`) && !metadata.namespace?.startsWith(namespace)) continue;
      const object = { ...item, apiVersion, kind };
      const annotations = {
        "ipam.cluster.x-k8s.io/skip-validate-delete-webhook": "",
        "cluster.x-k8s.io/paused": null,
      };
      const quietly = (promise) => promise.catch(() => undefined);
      await quietly(client.patch(object, { metadata: { annotations } }));
      await quietly(client.delete(object));
      await quietly(client.patch(object, { metadata: { finalizers: null } }));
    }
  }
}
