import type { EtcdInProcess } from "@capstan/etcd";
import type { EtcdWays } from "./etcd-ways.ts";

/** Ways to members that prefer those of simulated control planes, which run in this process. */
export function inProcessFirst(ways: EtcdWays, inProcess: EtcdInProcess | undefined): EtcdWays {
  if (inProcess === undefined) return ways;
  return {
    open: async (cluster, place) => {
      const found = inProcess.find(cluster, place.nodeName);
      if (found === undefined) return await ways.open(cluster, place);
      // As over the network, a member that does not run is noticed here.
      await found.client.status(found.endpoint);
      return found;
    },
    forget: (cluster) => ways.forget(cluster),
  };
}
