import type { KubeObject } from "@capstan/apimachinery";
import { type Cache, type Controller, controller, type Request } from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { sameMachine } from "./hosts.ts";
import { type HostDeps, hostReconciler } from "./reconcile.ts";

/** Most of a pass is waiting for a management controller. */
const CONCURRENCY = 100;

/** Returns the BareMetalHost controller. */
export function bareMetalHostController(deps: HostDeps): Controller {
  return (
    controller("baremetalhost")
      .for(BareMetalHost)
      // The host that was in another's way is gone.
      .watches(BareMetalHost, (host, cache: Cache) => sameMachine(cache, host).flatMap(requestOf), {
        predicate: { create: () => false, update: () => false },
      })
      .watchesRaw(deps.secrets)
      .concurrency(CONCURRENCY)
      .reconcile(hostReconciler(deps))
  );
}

function requestOf(object: KubeObject): Request[] {
  return [{ namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" }];
}
