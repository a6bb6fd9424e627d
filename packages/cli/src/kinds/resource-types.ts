import { isObject } from "@capstan/apimachinery";
import type { Client, KindRef } from "@capstan/runtime";
import { UserError } from "../command.ts";
import { suggest } from "../suggest.ts";

const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface DiscoveredResource {
  resource: string;
  singularResource?: string;
  shortNames?: string[];
  scope: string;
  verbs?: string[];
  responseKind: { kind: string };
  subresources?: { subresource: string }[];
}

/** A kind as the server's discovery describes it. */
export interface ResourceType extends KindRef {
  names: string[];
  verbs: string[];
  hasScale: boolean;
}

/** Returns every kind that the server serves, in its preferred version and order. */
export function resourceTypes(client: Client): Promise<ResourceType[]> {
  return typesAt(client, ["/api", "/apis"]);
}

/** Returns the kinds of all named API groups, that is, without the core group. */
export function groupedTypes(client: Client): Promise<ResourceType[]> {
  return typesAt(client, ["/apis"]);
}

async function typesAt(client: Client, paths: string[]): Promise<ResourceType[]> {
  const found = new Map<string, ResourceType>();
  const documents = await Promise.all(
    paths.map((path) => client.request({ method: "GET", path, headers: { accept: DISCOVERY } })),
  );
  for (const document of documents)
    for (const type of typesIn(document)) {
      const id = `${type.plural}.${type.group}`;
      if (!found.has(id)) found.set(id, type);
    }
  return [...found.values()];
}

function* typesIn(document: unknown): Generator<ResourceType> {
  const groups = isObject(document) && Array.isArray(document["items"]) ? document["items"] : [];
  for (const group of groups as {
    metadata?: { name?: string };
    versions: { version: string; resources: DiscoveredResource[] }[];
  }[]) {
    const name = group.metadata?.name ?? "";
    for (const { version, resources } of group.versions)
      for (const found of resources)
        yield {
          group: name,
          version,
          kind: found.responseKind.kind,
          plural: found.resource,
          namespaced: found.scope === "Namespaced",
          names: [
            found.resource,
            found.singularResource ?? "",
            found.responseKind.kind.toLowerCase(),
            ...(found.shortNames ?? []),
            `${found.resource}.${name}`,
          ],
          verbs: found.verbs ?? [],
          hasScale: (found.subresources ?? []).some(({ subresource }) => subresource === "scale"),
        };
  }
}

/** Finds a kind by plural, singular, short name or `plural.group`, ignoring case. */
export async function findType(client: Client, word: string): Promise<ResourceType> {
  const types = await resourceTypes(client);
  const wanted = word.toLowerCase();
  const found = types.find(({ names }) => names.includes(wanted));
  if (found !== undefined) return found;
  const near = suggest(
    wanted,
    types.flatMap(({ plural, names }) => [plural, ...names.slice(3)]),
  );
  throw new UserError(`the server doesn't have a resource type ${JSON.stringify(word)}`, {
    hint: near === undefined ? "see all with: kubectl api-resources" : `did you mean ${near}?`,
  });
}
