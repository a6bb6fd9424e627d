import { QueryClient } from "@tanstack/react-query";

/** Holds what is asked for once; what changes comes over the stream. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: Number.POSITIVE_INFINITY } },
});
