import type { ClusterPlan } from "@capstan/capi";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { hostKindsOf, type Obstacles, obstaclesOf } from "./obstacles.ts";
import { controlPlaneHome, hostsIn } from "./send-objects.ts";

const LOOK_AGAIN_MS = 3000;

/** Returns the obstacles of a plan and re-checks them periodically, so that a fix is noticed; undefined while unknown or not asked for. */
export function useObstacles(plan: ClusterPlan, asked: boolean): Obstacles | undefined {
  const kinds = hostKindsOf(plan);
  const live = { enabled: asked, refetchInterval: LOOK_AGAIN_MS, staleTime: 0, retry: false };
  const home = useQuery({ ...live, queryKey: ["control-planes"], queryFn: controlPlaneHome });
  const hosts = useQuery({
    ...live,
    queryKey: ["hosts", plan.namespace, ...kinds.map(({ kind }) => kind)],
    // A query has no undefined.
    queryFn: async () => (await hostsIn(plan.namespace, kinds)) ?? null,
  });
  return useMemo(
    () =>
      !asked || home.isPending || hosts.isPending ? undefined : obstaclesOf(plan, home.data, hosts.data ?? undefined),
    [plan, asked, home.isPending, home.data, hosts.isPending, hosts.data],
  );
}
