import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

/** Defines `capstan get`, which works like `kubectl get` and adds a STATE column to clusters. */
export const get: CommandDefinition = {
  name: "get",
  summary: "List objects, or show one, as kubectl does",
  arguments: [
    { name: "type", summary: "Kind, plural or short name, e.g. clusters, md, hcp; TYPE/NAME too", completes: "types" },
    { name: "name", summary: "Names of objects", required: false, variadic: true, completes: "names" },
  ],
  options: [
    NAMESPACE_OPTION,
    { flags: "-A, --all-namespaces", summary: "Objects of all namespaces" },
    { flags: "-l, --selector <selector>", summary: "Label selector" },
    { flags: "--field-selector <selector>", summary: "Field selector" },
    {
      flags: "-o, --output <format>",
      summary: "json, yaml, wide, name, jsonpath=TEMPLATE or custom-columns=HEADER:PATH,…",
    },
    { flags: "-w, --watch", summary: "After listing, watch for changes" },
    { flags: "--no-headers", summary: "Do not print headers" },
    { flags: "--ignore-not-found", summary: "Succeed if the object does not exist" },
    ...API_OPTIONS,
  ],
  examples: [
    { command: "capstan get clusters -A", does: "all clusters" },
    {
      command: "capstan get machines -l cluster.x-k8s.io/cluster-name=demo -w",
      does: "machines of demo as they change",
    },
    { command: "capstan get hcp/demo -o jsonpath='{.status.version}'", does: "one field of one object" },
  ],
  run: async (input) => (await import("./get.run.ts")).runGet(input),
};
