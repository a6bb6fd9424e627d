import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { STORIES, type Story } from "../../testdata/ipam.stories.mjs";
import { type Seen, tell } from "../../testdata/ipam.tell.mjs";
import { closePlanes, startIpam } from "../testing/ipam.ts";
import type { Plane } from "../testing/plane.ts";

/** Written by tools/cluster-api/ipam-in-cluster/record.mjs from upstream's in-cluster provider. */
const recorded: { seen: Record<string, Seen[]> } = JSON.parse(
  readFileSync(new URL("../../testdata/ipam.recorded.json", import.meta.url), "utf8"),
);

/** A pool in use: upstream answers with a bare text; ours says which field is wrong, or that it is forbidden. */
const forbidden: Seen = { code: 403, reason: "Forbidden", fields: [] };
const invalid = (...fields: string[]): Seen => ({ code: 422, reason: "Invalid", fields });

/** Where ours does something else on purpose: by story the steps that differ, and how. */
const OURS: Record<string, Record<number, Seen | ((seen: Seen) => Seen)>> = {
  // Upstream takes it for 0, and tells machines that all addresses of the world are on their network.
  "pool: without a prefix": { 0: invalid("spec.prefix") },
  "old pool: nothing": { 0: invalid("spec.addresses", "spec.prefix") },
  // A zone means something on one machine only.
  "pool: an address with a zone": { 0: invalid("spec.addresses") },
  "old pool: a subnet that is none": { 0: invalid("spec.addresses") },
  "a pool in use shrinks": { 3: invalid("spec.addresses"), 4: invalid("spec.addresses"), 5: invalid("spec.addresses") },
  "a pool of prefixes changes": {
    2: invalid("spec.allocationPrefixLength"),
    3: invalid("spec.prefixes"),
    4: invalid("spec.prefixes"),
    6: forbidden,
  },
  "a pool in use is deleted": { 2: forbidden },
  "a global pool gives to all namespaces": { 3: forbidden },
  // Upstream gives away addresses of a pool that is about to go, which then cannot go.
  "a pool in use is deleted all the same": {
    3: (seen) => without(having(seen, "claim b", { address: "" }), "address b"),
    4: (seen) => without(having(seen, "claim b", { address: "" }), "address b", "InClusterIPPool p"),
  },
  // Nothing is written for a pool that rests.
  "a paused pool gives nothing": { 1: (seen) => having(seen, "claim a", { finalizers: [] }) },
  // The label is what moves an address along with its cluster.
  "a claim of a cluster that comes later": {
    2: (seen) => having(seen, "address a", { labels: { "cluster.x-k8s.io/cluster-name": "c" } }),
  },
  // What the old version cannot say is kept.
  "a new pool is changed in the old version": {
    1: (seen) =>
      having(seen, "InClusterIPPool p", {
        counts: { free: 5, outOfRange: 0, total: 5, used: 0 },
        spec: {
          addresses: ["10.0.0.10-10.0.0.15"],
          allocateReservedIPAddresses: true,
          excludedAddresses: ["10.0.0.10"],
          prefix: 24,
        },
      }),
  },
};

function having(seen: Seen, name: string, facts: object): Seen {
  return { ...seen, shown: { ...seen.shown, [name]: { ...(seen.shown?.[name] as object), ...facts } } };
}

function without(seen: Seen, ...names: string[]): Seen {
  const kept = Object.entries(seen.shown ?? {}).filter(([name]) => !names.includes(name));
  return { ...seen, shown: Object.fromEntries(kept) };
}

/** Upstream names the list, ours the entry of it that is wrong. */
function byList(seen: Seen): Seen {
  if (seen.fields === undefined) return seen;
  return { ...seen, fields: [...new Set(seen.fields.map((field) => field.replace(/\[\d+\]$/, "")))] };
}

/** A pool of the old version reads back as it was written; upstream fills in what a subnet means. */
function asWritten(seen: Seen, story: Story): Seen {
  const written = story.steps[0]?.create as { apiVersion: string; spec: object } | undefined;
  if (seen.shown === undefined || written?.apiVersion.endsWith("v1alpha1") !== true) return seen;
  const shown = Object.entries(seen.shown).map(([name, facts]) => {
    const { spec } = facts as { spec?: { subnet?: string } };
    return [name, spec?.subnet === undefined ? facts : { ...(facts as object), spec: written.spec }];
  });
  return { ...seen, shown: Object.fromEntries(shown) };
}

let plane: Plane;
beforeAll(async () => {
  plane = await startIpam({ rules: true });
});
afterAll(closePlanes);

test.each(Object.entries(STORIES).map(([name, story], index) => ({ name, story, index })))(
  "upstream's provider does the same: $name",
  async ({ name, story, index }) => {
    const seen = await tell(plane.user, story, {
      namespace: `story-${index}`,
      // The pools' numbers are written once a second.
      settle: () => plane.settle(1500),
    });
    const expected = recorded.seen[name]?.map((step, at) => {
      const other = OURS[name]?.[at];
      return asWritten(typeof other === "function" ? other(step) : (other ?? step), story);
    });
    expect(seen.map(byList)).toEqual(expected);
  },
);
