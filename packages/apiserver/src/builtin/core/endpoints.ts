import {
  type FieldError,
  invalidValue,
  isDns1123Label,
  notSupported,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { isAddress } from "../ip.ts";
import { at, list, num, objects, setDefault, text, texts } from "../read.ts";
import { portErrors } from "./port-errors.ts";

const IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const SHOWN = 3;

function withMore(items: readonly string[]): string {
  const shown = items.slice(0, SHOWN).join(",");
  return items.length > SHOWN ? `${shown} + ${items.length - SHOWN} more...` : shown;
}

/** core/v1 Endpoints. */
export const endpoints = defineBuiltin({
  group: "",
  kind: "Endpoints",
  plural: "endpoints",
  singular: "endpoints",
  shortNames: ["ep"],
  namespaced: true,
  columns: [NAME, column("Endpoints", formatEndpoints), AGE],
  strategy: {
    allowCreateOnUpdate: true,
    noGeneration: true,
    applyDefaults: (object) => {
      for (const subset of objects(object.subsets))
        for (const port of objects(subset.ports)) setDefault(port, "protocol", "TCP");
    },
    validate: (o) => list(o.subsets).flatMap((s, i) => subsetErrors(s, `subsets[${i}]`)),
  },
});

function formatEndpoints(o: Unstructured): string {
  const subsets = list(o.subsets);
  if (subsets.length === 0) return "<none>";
  const shown = subsets.flatMap((subset) => {
    const addresses = list(at(subset, "addresses")).map((a) => text(at(a, "ip")));
    const ports = list(at(subset, "ports"));
    return ports.length === 0 ? addresses : ports.flatMap((p) => addresses.map((a) => hostPort(a, num(at(p, "port")))));
  });
  return withMore(shown);
}

function hostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function subsetErrors(subset: unknown, path: string): FieldError[] {
  const ready = list(at(subset, "addresses"));
  const notReady = list(at(subset, "notReadyAddresses"));
  if (ready.length + notReady.length === 0) return [required(path, "must specify `addresses` or `notReadyAddresses`")];
  const addresses = (items: readonly unknown[], field: string): FieldError[] =>
    items.flatMap((a, i) => ipErrors(text(at(a, "ip")), `${path}.${field}[${i}].ip`));
  return [
    ...addresses(ready, "addresses"),
    ...addresses(notReady, "notReadyAddresses"),
    ...list(at(subset, "ports")).flatMap((p, i) => portErrors(at(p, "port"), `${path}.ports[${i}].port`)),
  ];
}

/** The real server checks the address twice, in two wordings. */
function ipErrors(ip: string, field: string): FieldError[] {
  if (isAddress(ip)) return [];
  return [invalidValue(field, ip, IP_TEXT), invalidValue(field, ip, "must be a valid IP address")];
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];

/** discovery.k8s.io/v1 EndpointSlice. */
export const endpointSlice = defineBuiltin({
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  namespaced: true,
  columns: [
    NAME,
    column("AddressType", (o) => text(o.addressType)),
    column("Ports", (o) => withMore(list(o.ports).map(slicePort)) || "<unset>"),
    column("Endpoints", (o) => withMore(list(o.endpoints).flatMap((e) => texts(at(e, "addresses")))) || "<unset>"),
    AGE,
  ],
  strategy: {
    applyDefaults: (object) => {
      for (const port of objects(object.ports)) {
        setDefault(port, "name", "");
        setDefault(port, "protocol", "TCP");
      }
    },
    validate: sliceErrors,
    validateUpdate: (object, old) => [
      ...sliceErrors(object),
      ...(object.addressType === old.addressType ? [] : [invalidValue("addressType", null, "field is immutable")]),
    ],
  },
});

function slicePort(port: unknown): string {
  const number = at(port, "port");
  return typeof number === "number" ? String(number) : text(at(port, "name")) || "*";
}

function sliceErrors(object: Unstructured): FieldError[] {
  const type = text(object.addressType);
  const errors: FieldError[] = [];
  if (type === "") errors.push(required("addressType"));
  else if (!ADDRESS_TYPES.includes(type)) errors.push(notSupported("addressType", type, ADDRESS_TYPES));
  list(object.ports).forEach((port, i) => {
    const name = text(at(port, "name"));
    if (name !== "") errors.push(...isDns1123Label(name).map((m) => invalidValue(`ports[${i}].name`, name, m)));
    const protocol = text(at(port, "protocol"));
    if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`ports[${i}].protocol`, protocol, PROTOCOLS));
  });
  const family = type === "IPv4" ? 4 : type === "IPv6" ? 6 : undefined;
  list(object.endpoints).forEach((endpoint, i) => {
    const addresses = texts(at(endpoint, "addresses"));
    if (addresses.length === 0) errors.push(required(`endpoints[${i}].addresses`));
    if (family === undefined) return;
    addresses.forEach((a, j) => {
      if (!isAddress(a)) errors.push(invalidValue(`endpoints[${i}].addresses[${j}]`, a, IP_TEXT));
      else if (!isAddress(a, family))
        errors.push(invalidValue(`endpoints[${i}].addresses[${j}]`, a, `must be a valid ${type} address`));
    });
  });
  return errors;
}
