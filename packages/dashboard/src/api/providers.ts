import type { ProviderInfo, WorkerInfo } from "@capstan/dashboard-server";
import { useQuery } from "@tanstack/react-query";
import { request } from "./request.ts";

/** A provider that gives machines to workers. */
export type Offer = ProviderInfo & { readonly workers: WorkerInfo };

/** Returns the providers that the manager has loaded; undefined until they are known. */
export function useProviders(): readonly ProviderInfo[] | undefined {
  return useQuery({ queryKey: ["providers"], queryFn: () => request<readonly ProviderInfo[]>("/providers") }).data;
}

/** Returns those that offer workers, in the order of the wizard. */
export function offersOf(providers: readonly ProviderInfo[]): Offer[] {
  return providers.flatMap((provider) =>
    provider.workers === undefined ? [] : [{ ...provider, workers: provider.workers }],
  );
}

/** Returns what the wizard offers of a provider. */
export function offerOf(name: string, offers: readonly Offer[]): WorkerInfo | undefined {
  return offers.find((offer) => offer.name === name)?.workers;
}
