/** What comes from outside is read through here: within bytes and time, in a thread where it is costly, from addresses that were checked. */
export { type AddressRange, parseAddressRange } from "./address-class.ts";
export { atMost, ForeignDocumentError, readText, withinTime, yieldToEventLoop } from "./bounded.ts";
export { AddressRefused, DialGate, type DialTarget, type Lookup, type Resolve, targetOf } from "./dial-gate.ts";
export { parseForeignJson } from "./foreign-json.ts";
export {
  jsonToYaml,
  readForeignStrictYaml,
  readForeignYaml,
  readForeignYamlDocuments,
  YAML_DEADLINE_MS,
  YAML_IN_WORKER_BYTES,
  YamlTooSlow,
  yamlToJson,
} from "./yaml-worker.ts";
