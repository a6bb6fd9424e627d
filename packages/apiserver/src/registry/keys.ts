import { badRequest, goQuote } from "@capstan/apimachinery";
import { keyOf, prefixOf } from "../store/keys.ts";
import type { ResourceType } from "../types.ts";

/** Where an object of this type is stored; events.k8s.io shares the storage of core events. */
export function storageKey(type: ResourceType, namespace: string, name: string): string {
  const home = type.storedAs ?? type;
  return keyOf(home.group, home.plural, type.namespaced ? namespace : "", name);
}

/** The same for a name that a request gave in its path: 400 for one that no object can have there. */
export function requestedKey(type: ResourceType, namespace: string, name: string): string {
  const problem =
    name === "." || name === ".." ? `may not be '${name}'` : name.includes("%") ? "may not contain '%'" : "";
  if (problem !== "") throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problem}`);
  return storageKey(type, namespace, name);
}

/** Prefix of all objects of a type, or of those in one namespace. */
export function storagePrefix(type: ResourceType, namespace: string): string {
  const home = type.storedAs ?? type;
  return type.namespaced && namespace !== ""
    ? prefixOf(home.group, home.plural, namespace)
    : prefixOf(home.group, home.plural);
}
