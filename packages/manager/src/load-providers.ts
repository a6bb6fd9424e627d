import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isObject } from "@capstan/apimachinery";
import { kindsOf, type ManagedProvider, PROVIDERS } from "./providers.ts";

/** Thrown when a provider from outside this repository cannot be loaded; `cure` says what to change. */
export class ProviderError extends Error {
  readonly cure: string;

  constructor(message: string, cure: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ProviderError";
    this.cure = cure;
  }
}

const EXPORT_CURE = "export const provider = infrastructureProvider({ … }); see docs/guides/provider.md";

/** Returns providers, by default the built-in ones, followed by those that the given modules export as `provider`. */
export async function withProviders(
  files: readonly string[],
  builtIn: readonly ManagedProvider[] = PROVIDERS,
): Promise<readonly ManagedProvider[]> {
  const all = [...builtIn];
  for (const file of files) {
    const provider = await importProvider(file);
    refuseTaken(provider, all, file);
    all.push(provider);
  }
  return all;
}

async function importProvider(file: string): Promise<ManagedProvider> {
  let loaded: { provider?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(file)).href)) as { provider?: unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProviderError(
      `cannot load the provider ${file}: ${message}`,
      "specify a JavaScript module on this machine whose imports can be resolved",
      { cause: error },
    );
  }
  if (!isProvider(loaded.provider))
    throw new ProviderError(`${file} does not export a provider under the name "provider"`, EXPORT_CURE);
  return loaded.provider;
}

function isProvider(value: unknown): value is ManagedProvider {
  if (!isObject(value)) return false;
  const { name, title, kinds, load } = value;
  return (
    typeof name === "string" &&
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) &&
    typeof title === "string" &&
    Array.isArray(kinds) &&
    kinds.every((kind) => isObject(kind) && typeof kind["plural"] === "string" && typeof kind["crd"] === "function") &&
    typeof load === "function"
  );
}

/** Two providers of one name would share field managers; two of one kind would overwrite each other's CRD. */
function refuseTaken({ name, kinds }: ManagedProvider, others: readonly ManagedProvider[], file: string): void {
  if (others.some((other) => other.name === name))
    throw new ProviderError(`${file}: a provider named ${name} is already loaded`, "choose another name");
  const taken = kindsOf(others);
  for (const { group, plural } of kinds)
    if (taken.some((other) => other.group === group && other.plural === plural))
      throw new ProviderError(`${file}: ${plural}.${group} is served by another provider`, "choose another kind");
}
