import { QueryClient } from "@tanstack/react-query";

/** Caches data that is fetched once; live data comes over the stream instead. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: Number.POSITIVE_INFINITY } },
});
