import type { ProviderDescription } from "@capstan/capi";
import { workerOptions } from "@capstan/capi";
import type { ProviderInfo } from "./protocol.ts";

/** What the dashboard gets to know about providers; those that offer workers come first, in the order of the wizard. */
export function providerInfos(providers: readonly ProviderDescription[]): ProviderInfo[] {
  const options = workerOptions(providers);
  const offering = [...options.keys()].flatMap((name) => providers.filter((provider) => provider.name === name));
  const others = providers.filter(({ name }) => !options.has(name));
  return [...offering, ...others].map(({ name, title, badge, workers }) => ({
    name,
    title,
    badge,
    ...(workers === undefined
      ? {}
      : {
          workers: {
            summary: workers.summary,
            templateKind: workers.templateKind,
            settings: workers.settings,
            inMemory: workers.inMemory === true,
          },
        }),
  }));
}
