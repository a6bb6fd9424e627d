import { isObject } from "@capstan/apimachinery";
import type { KindRef } from "@capstan/runtime";
import { resourcePath } from "@capstan/runtime";
import { API_OPTIONS, type ApiTarget } from "../api-target.ts";
import { type CommandDefinition, type CommandInput, UserError } from "../command.ts";
import { renderTable } from "../table.ts";
import { withTarget } from "./with-cluster.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface Table {
  columnDefinitions: { name: string; priority: number }[];
  rows: { cells: unknown[]; object?: { metadata?: { namespace?: string } } }[];
}

export const get: CommandDefinition = {
  name: "get",
  summary: "List objects, or show one, as kubectl does",
  arguments: [
    { name: "type", summary: "Kind, plural or short name, e.g. clusters, md, hcp" },
    { name: "name", summary: "Name of one object", required: false },
  ],
  options: [
    { flags: "-n, --namespace <name>", summary: "Namespace", default: "default" },
    { flags: "-A, --all-namespaces", summary: "Objects of all namespaces" },
    { flags: "-l, --selector <selector>", summary: "Label selector" },
    { flags: "-o, --output <format>", summary: "wide, json or name", choices: ["wide", "json", "name"] },
    ...API_OPTIONS,
  ],
  run: (input) => withTarget(input, (target) => list(input, target)),
};

async function list(input: CommandInput, target: ApiTarget): Promise<number> {
  const [type = "", name] = input.arguments;
  const { options, io } = input;
  const kind = await findKind(target, type);
  const everywhere = options["allNamespaces"] === true;
  const namespace = kind.namespaced && !everywhere ? String(options["namespace"] ?? "default") : undefined;
  const path = resourcePath(kind, namespace, name);
  const query = typeof options["selector"] === "string" ? { labelSelector: options["selector"] } : {};
  if (options["output"] === "json") {
    io.out(`${JSON.stringify(await target.client.request({ method: "GET", path, query }), null, 2)}\n`);
    return 0;
  }
  const table = await target.client.request<Table>({ method: "GET", path, query, headers: { accept: TABLE } });
  if (table.rows.length === 0) {
    io.err(namespace === undefined ? "No resources found\n" : `No resources found in ${namespace} namespace.\n`);
    return 0;
  }
  if (options["output"] === "name") {
    for (const row of table.rows) io.out(`${kind.kind.toLowerCase()}/${String(row.cells[0])}\n`);
    return 0;
  }
  const shown = table.columnDefinitions
    .map((column, index) => ({ ...column, index }))
    .filter((column) => options["output"] === "wide" || column.priority === 0);
  const lead = everywhere && kind.namespaced;
  const headers = [...(lead ? ["NAMESPACE"] : []), ...shown.map((column) => column.name.toUpperCase())];
  const rows = table.rows.map((row) => [
    ...(lead ? [row.object?.metadata?.namespace ?? ""] : []),
    ...shown.map((column) => cellText(row.cells[column.index])),
  ]);
  io.out(`${renderTable(headers, rows)}\n`);
  return 0;
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "string" ? (cell.split("\n")[0] ?? "") : JSON.stringify(cell);
}

interface DiscoveredResource {
  resource: string;
  singularResource?: string;
  shortNames?: string[];
  scope: string;
  responseKind: { kind: string };
}

/** Kinds by plural, singular, short name or `plural.group`, case aside; the first in the server's order of preference. */
async function findKind(target: ApiTarget, type: string): Promise<KindRef> {
  const wanted = type.toLowerCase();
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  for (const path of ["/api", "/apis"]) {
    const document = await target.client.request({ method: "GET", path, headers: { accept } });
    const groups = isObject(document) && Array.isArray(document["items"]) ? document["items"] : [];
    for (const group of groups as {
      metadata?: { name?: string };
      versions: { version: string; resources: DiscoveredResource[] }[];
    }[]) {
      const groupName = group.metadata?.name ?? "";
      for (const { version, resources } of group.versions)
        for (const found of resources) {
          const names = [
            found.resource,
            found.singularResource ?? "",
            found.responseKind.kind.toLowerCase(),
            ...(found.shortNames ?? []),
            `${found.resource}.${groupName}`,
          ];
          if (names.includes(wanted))
            return {
              group: groupName,
              version,
              kind: found.responseKind.kind,
              plural: found.resource,
              namespaced: found.scope === "Namespaced",
            };
        }
    }
  }
  throw new UserError(`the server has no resource type "${type}"`, { hint: "see all with: kubectl api-resources" });
}
