import { deepEqual, isObject, type JsonObject, stableStringify, type Unstructured } from "@capstan/apimachinery";
import { CONVERSION_DATA_ANNOTATION } from "../conversion/converter.ts";
import { threeWay } from "../conversion/three-way.ts";
import type { KindVersion, PrinterColumnDefinition } from "../schema/kind.ts";
import { array, integer, object, optional, type Schema, string } from "../schema/schema.ts";
import { addressText, parseRange } from "./address-ranges.ts";

const text = (doc: string) => optional(string({ doc, maxLength: 87 }));

const spec = object({
  addresses: optional(array(string({ minLength: 1, maxLength: 87 }), { maxItems: 1000 })),
  subnet: text("Network whose addresses are allocated, except for the first and the last one."),
  start: text("First address to allocate; by default the one after the subnet's first address."),
  end: text("Last address to allocate; by default the one before the subnet's last address."),
  prefix: optional(
    integer({ doc: "Prefix length of the network; by default that of the subnet.", minimum: 0, maximum: 128 }),
  ),
  gateway: text("Gateway of the network; never allocated."),
});

const columns: PrinterColumnDefinition[] = [
  { name: "Subnet", type: "string", jsonPath: ".spec.subnet" },
  { name: "First", type: "string", jsonPath: ".spec.start" },
  { name: "Last", type: "string", jsonPath: ".spec.end" },
  { name: "Addresses", type: "string", jsonPath: ".spec.addresses" },
  { name: "Total", type: "integer", jsonPath: ".status.ipAddresses.total" },
  { name: "Free", type: "integer", jsonPath: ".status.ipAddresses.free" },
  { name: "Used", type: "integer", jsonPath: ".status.ipAddresses.used" },
];

/**
 * v1alpha1 of pools of addresses: a subnet, or a first and a last address, may replace the list. Fields that one version lacks are
 * kept in an annotation, as for all other kinds.
 */
export function poolV1Alpha1(group: string, kind: string, status: Schema): KindVersion {
  return {
    name: "v1alpha1",
    schema: object({ spec: optional(spec), status: optional(status) }),
    columns,
    deprecated: `${group}/v1alpha1 ${kind} is deprecated; use ${group}/v1alpha2 ${kind}`,
    convert: {
      toStored: (pool) => converted(pool, `${group}/v1alpha2`, toStored, fromStored),
      fromStored: (pool) => converted(pool, `${group}/v1alpha1`, fromStored, toStored),
    },
  };
}

interface Way {
  /** The spec in the other version, as far as that can say it. */
  plain(spec: JsonObject): JsonObject;
  /** The same, with what was kept of the other version when it was last seen. */
  restored(saved: JsonObject, spec: JsonObject): JsonObject;
}

const toStored: Way = {
  plain: listed,
  restored: (saved, next) => {
    const merged = threeWay(saved, listed(known(saved)), listed(next));
    return isObject(merged) ? merged : listed(next);
  },
};

const fromStored: Way = {
  plain: known,
  // A subnet comes back only while it says the same as the list: otherwise it would restore addresses that were removed.
  restored: (saved, next) => (deepEqual(known(listed(saved)), known(next)) ? saved : known(next)),
};

function converted(pool: Unstructured, apiVersion: string, there: Way, back: Way): Unstructured {
  const { annotations: before, ...metadata } = pool.metadata;
  const { [CONVERSION_DATA_ANNOTATION]: data, ...annotations } = before ?? {};
  const given = pool["spec"];
  const saved = savedSpec(data);
  let result: JsonObject | undefined;
  if (isObject(given)) {
    result = saved === undefined ? there.plain(given) : there.restored(saved, given);
    if (!deepEqual(back.plain(result), given))
      annotations[CONVERSION_DATA_ANNOTATION] = stableStringify({ spec: given });
  }
  return {
    apiVersion,
    kind: pool.kind,
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
    spec: result,
    status: pool["status"],
  };
}

/** Users may write anything into the annotation: a value that is not an object counts as absent. */
function savedSpec(data: string | undefined): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(data ?? "");
    return isObject(parsed) && isObject(parsed["spec"]) ? parsed["spec"] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the fields of a stored spec that v1alpha1 has too. */
function known({ addresses, prefix, gateway }: JsonObject): JsonObject {
  return defined({ addresses, prefix, gateway });
}

/** Of a spec of v1alpha1 the addresses as a list. A subnet that is none goes into it as what it is, to be refused by name. */
function listed({ addresses, subnet, start, end, prefix, gateway }: JsonObject): JsonObject {
  const network = typeof subnet === "string" && subnet.includes("/") ? parseRange(subnet) : undefined;
  const list: unknown[] = Array.isArray(addresses) ? [...addresses] : [];
  const from = start || (network && addressText(network.first + 1n, network.family));
  const to = end || (network && addressText(network.last - 1n, network.family));
  if (subnet && network === undefined) list.push(`subnet ${String(subnet)}`);
  if (from && to) list.push(`${String(from)}-${String(to)}`);
  const length = network === undefined ? (subnet ? 0 : undefined) : Number(String(subnet).split("/")[1]);
  return defined({
    addresses: addresses === undefined && list.length === 0 ? undefined : list,
    prefix: prefix || length === undefined ? prefix : length,
    gateway,
  });
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
