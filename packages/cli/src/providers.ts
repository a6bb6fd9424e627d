import { readProviderFiles } from "@capstan/manager/instance";
import { withProviders } from "@capstan/manager/load-providers";
import type { ManagedProvider } from "@capstan/manager/providers";
import type { CommandInput } from "./command.ts";
import { dataDirOf } from "./options.ts";

/** Providers that a command knows. */
export type Providers = readonly ManagedProvider[];

/** Returns the built-in providers and those that the instance on this machine was started with; none of them starts anything. */
export async function providersOf(input: CommandInput): Promise<Providers> {
  try {
    return await withProviders(await readProviderFiles(dataDirOf(input)));
  } catch (error) {
    input.io.err(`warning: ${error instanceof Error ? error.message : String(error)}\n`);
    return await withProviders([]);
  }
}
