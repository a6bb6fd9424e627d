import {
  duplicate,
  type FieldError,
  invalidValue,
  isDns1123Label,
  type JsonObject,
  notSupported,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import { AGE, column, formatLabels, NAME, wide } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, child, list, num, objects, setDefault, text, texts } from "../read.ts";
import { portErrors } from "./port-errors.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** core/v1 Service. Stored only: no address is allocated and nothing forwards to it. */
export const service = defineBuiltin({
  group: "",
  kind: "Service",
  shortNames: ["svc"],
  categories: ["all"],
  namespaced: true,
  status: true,
  columns: [
    NAME,
    column("Type", (o) => text(at(o, "spec", "type"))),
    column("Cluster-IP", (o) => texts(at(o, "spec", "clusterIPs"))[0] ?? "<none>"),
    column("External-IP", externalIp),
    column("Port(s)", ports),
    AGE,
    wide("Selector", (o) => formatLabels(at(o, "spec", "selector"))),
  ],
  fieldSelectors: {
    "spec.clusterIP": (o) => text(at(o, "spec", "clusterIP")),
    "spec.type": (o) => text(at(o, "spec", "type")),
  },
  strategy: {
    allowCreateOnUpdate: true,
    noGeneration: true,
    applyDefaults,
    prepareForCreate: (object) => {
      object.status = { loadBalancer: {} };
    },
    prepareForUpdate,
    validate,
    validateUpdate,
  },
});

function externalIp(o: Unstructured): string {
  const external = texts(at(o, "spec", "externalIPs"));
  switch (at(o, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || "<none>";
    case "LoadBalancer": {
      const ingress = list(at(o, "status", "loadBalancer", "ingress"));
      const addresses = ingress.map((i) => text(at(i, "ip")) || text(at(i, "hostname"))).filter((a) => a !== "");
      return [...[...new Set(addresses)].sort(), ...external].join(",") || "<pending>";
    }
    case "ExternalName":
      return text(at(o, "spec", "externalName"));
    default:
      return "<unknown>";
  }
}

function ports(o: Unstructured): string {
  const pieces = list(at(o, "spec", "ports")).map((port) => {
    const nodePort = num(at(port, "nodePort"));
    return `${num(at(port, "port"))}${nodePort > 0 ? `:${nodePort}` : ""}/${text(at(port, "protocol"))}`;
  });
  return pieces.join(",") || "<none>";
}

function applyDefaults(object: Unstructured): void {
  const spec = child(object, "spec");
  setDefault(spec, "sessionAffinity", "None");
  setDefault(spec, "type", "ClusterIP");
  for (const port of objects(spec.ports)) {
    setDefault(port, "protocol", "TCP");
    if (port.targetPort === 0 || port.targetPort === "") delete port.targetPort;
    setDefault(port, "targetPort", port.port);
  }
  const type = spec.type;
  if (type === "NodePort" || type === "LoadBalancer") setDefault(spec, "externalTrafficPolicy", "Cluster");
  if (type === "LoadBalancer") setDefault(spec, "allocateLoadBalancerNodePorts", true);
  if (type === "ExternalName") return;
  setDefault(spec, "internalTrafficPolicy", "Cluster");
  setDefault(spec, "ipFamilies", ["IPv4"]);
  setDefault(spec, "ipFamilyPolicy", "SingleStack");
  pairClusterIps(spec);
}

function pairClusterIps(spec: JsonObject): void {
  const single = text(spec.clusterIP);
  const [first] = texts(spec.clusterIPs);
  if (single !== "" && first === undefined) spec.clusterIPs = [single];
  if (single === "" && first !== undefined) spec.clusterIP = first;
}

/** Addresses once given stay when an update leaves them out. */
function prepareForUpdate(object: Unstructured, old: Unstructured, subresource: string): void {
  const spec = child(object, "spec");
  if (subresource !== "" || spec.type === "ExternalName") return;
  const before = text(at(old, "spec", "clusterIP"));
  if (before === "" || text(spec.clusterIP) !== "") return;
  spec.clusterIP = before;
  pairClusterIps(spec);
}

function validate(object: Unstructured): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(object.metadata.name);
  errors.push(...isDns1123Label(name).map((m) => invalidValue("metadata.name", name, m)));
  const type = text(at(object, "spec", "type"));
  const given = list(at(object, "spec", "ports"));
  const headless = at(object, "spec", "clusterIP") === "None";
  if (type === "ExternalName") {
    if (text(at(object, "spec", "externalName")) === "") errors.push(required("spec.externalName"));
  } else if (given.length === 0 && !headless) errors.push(required("spec.ports"));
  const names = new Set<string>();
  given.forEach((port, i) => errors.push(...servicePortErrors(port, given.length > 1, `spec.ports[${i}]`, names)));
  if (!TYPES.includes(type)) errors.push(notSupported("spec.type", type, TYPES));
  return errors;
}

function servicePortErrors(port: unknown, named: boolean, path: string, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(at(port, "name"));
  if (name === "" && named) errors.push(required(`${path}.name`));
  if (name !== "") {
    errors.push(...isDns1123Label(name).map((m) => invalidValue(`${path}.name`, name, m)));
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
  }
  errors.push(...portErrors(at(port, "port"), `${path}.port`));
  const protocol = text(at(port, "protocol"));
  if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  const target = at(port, "targetPort");
  if (typeof target === "number") errors.push(...portErrors(target, `${path}.targetPort`));
  return errors;
}

function validateUpdate(object: Unstructured, old: Unstructured): FieldError[] {
  const errors: FieldError[] = [];
  const before = text(at(old, "spec", "clusterIP"));
  const after = text(at(object, "spec", "clusterIP"));
  if (before !== "" && before !== after && at(object, "spec", "type") !== "ExternalName")
    errors.push(invalidValue("spec.clusterIPs[0]", at(object, "spec", "clusterIPs") ?? [], "may not change once set"));
  return [...errors, ...validate(object)];
}
