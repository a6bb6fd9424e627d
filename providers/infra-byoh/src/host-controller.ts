import { ByoHost } from "@capstan/host-agent";
import { type Controller, controller, done } from "@capstan/runtime";
import type { Hosts } from "./hosts.ts";

/** Makes a host claimable again that was given up while its agent was away, once the agent has cleaned it. */
export function byoHostController(hosts: Hosts): Controller {
  return controller("byo-host")
    .for(ByoHost)
    .reconcile(async (request, { cache }) => {
      const host = cache.get(ByoHost, request);
      const release = host?.spec?.release;
      if (host === undefined || release === undefined || host.spec?.machineRef !== undefined) return done();
      if (host.status?.release?.machineUID === release.machineUID && host.status.release.phase === "Released")
        await hosts.letGo(host, true);
      return done();
    });
}
