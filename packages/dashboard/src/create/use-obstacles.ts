import type { ClusterPlan } from "@capstan/capi";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Obstacles, obstaclesOf } from "./obstacles.ts";
import { controlPlaneHome, plannedCluster } from "./send-objects.ts";

const LOOK_AGAIN_MS = 3000;

/** Returns the obstacles of a plan and re-checks them periodically, so that a fix is noticed; undefined while unknown or not requested. */
export function useObstacles(plan: ClusterPlan, asked: boolean): Obstacles | undefined {
  const live = { enabled: asked, refetchInterval: LOOK_AGAIN_MS, staleTime: 0, retry: false };
  const home = useQuery({ ...live, queryKey: ["control-planes"], queryFn: controlPlaneHome });
  const planned = useQuery({ ...live, queryKey: ["obstacles", plan], queryFn: () => plannedCluster(plan) });
  return useMemo(
    () => (!asked || home.isPending || planned.isPending ? undefined : obstaclesOf(plan, home.data, planned.data)),
    [plan, asked, home.isPending, home.data, planned.isPending, planned.data],
  );
}
