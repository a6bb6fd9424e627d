import { array, boolean, type Infer, integer, move, object, optional, type Schema, string } from "@capstan/capi";
import { sourceObject } from "./metal3-shared.ts";

const text = (doc: string) => string({ doc, minLength: 1, maxLength: 512 });
const key = text("Key of the value.");

/** A list in which each key stands once; upstream's limits. */
const byKey = <T>(item: Schema<T>, doc: string) =>
  optional(array(item, { doc, listType: "map", keys: ["key"], minItems: 1, maxItems: 512 }));

const fromPool = object(
  {
    key,
    name: text("Name of the pool."),
    apiGroup: optional(string({ doc: "Ignored: such pools are IPPools of ipam.metal3.io.", maxLength: 253 })),
    kind: optional(string({ doc: "Ignored: such pools are IPPools of ipam.metal3.io.", maxLength: 63 })),
  },
  { doc: "A value from the address that a pool allocates." },
);

/** Schema of a template's meta data, which renders to a flat map of strings. */
export const metaData = object(
  {
    strings: byKey(
      object({ key, value: string({ doc: "The value.", maxLength: 4096 }) }, { doc: "A literal value." }),
      "Values as they are.",
    ),
    objectNames: byKey(
      object({ key, object: sourceObject }, { doc: "A value that is the name of an object." }),
      "Names of objects.",
    ),
    indexes: byKey(
      object(
        {
          key,
          offset: optional(integer({ doc: "Added to the index.", minimum: 0, default: 0 })),
          step: optional(integer({ doc: "Factor by which the index is multiplied.", minimum: 1, default: 1 })),
          prefix: optional(text("Put before.")),
          suffix: optional(text("Put after.")),
        },
        { doc: "A value that is computed from the index." },
      ),
      "Numbers computed from the index of the data.",
    ),
    namespaces: byKey(object({ key }, { doc: "A value that is the namespace of the machine." }), "The namespace."),
    ipAddressesFromPool: byKey(fromPool, "Addresses given by pools."),
    prefixesFromPool: byKey(fromPool, "Lengths of the prefixes of such addresses."),
    gatewaysFromPool: byKey(fromPool, "Gateways of such addresses."),
    dnsServersFromPool: byKey(fromPool, "DNS servers of such addresses, separated by commas."),
    fromHostInterfaces: byKey(
      object(
        {
          key,
          interface: optional(text("Name of the interface.")),
          fromBootMAC: optional(boolean({ doc: "The interface that boots." })),
        },
        {
          doc: "A value that is the MAC address of an interface.",
          rules: [{ rule: "has(self.interface) || has(self.fromBootMAC)", message: "give interface or fromBootMAC" }],
        },
      ),
      "MAC addresses of interfaces of the host.",
    ),
    fromLabels: byKey(
      object(
        { key, object: sourceObject, label: text("Key of the label.") },
        { doc: "A value that is read from a label." },
      ),
      "Labels of objects.",
    ),
    fromAnnotations: byKey(
      object(
        { key, object: sourceObject, annotation: text("Key of the annotation.") },
        { doc: "A value that is read from an annotation." },
      ),
      "Annotations of objects.",
    ),
  },
  {
    doc: "Template of the meta data.",
    rules: [{ rule: "self == oldSelf", message: "metaData cannot change; make another template" }],
  },
);
/** The meta data section of a Metal3DataTemplate. */
export type MetaData = Infer<typeof metaData>;

/** Conversion rules between v1beta1 and v1beta2 of the meta data section. */
export const META_DATA_RULES = ["ipAddresses", "prefixes", "gateways", "dnsServers"].map((name) =>
  move(`spec.metaData.${name}FromIPPool`, `spec.metaData.${name}FromPool`),
);
