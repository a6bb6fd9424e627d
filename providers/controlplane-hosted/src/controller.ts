import { Cluster, CONTRACT_STATUS, Secret } from "@capstan/capi";
import { type Controller, controller, type Request } from "@capstan/runtime";
import { reconcileHostedControlPlane } from "./hosted-control-plane.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { HostedControlPlanes } from "./planes.ts";

const CONCURRENCY = 20;

/** Returns the controller that watches HostedControlPlanes, their Clusters and Secrets, and their components. */
export function hostedControlPlaneController(planes: HostedControlPlanes): Controller {
  return controller("hosted-control-plane")
    .for(HostedControlPlane)
    .owns(Secret)
    .watches(Cluster, controlPlaneOf)
    .watchesRaw({
      start: (enqueue, signal) => {
        for (const placement of Object.values(planes.placements)) {
          const unsubscribe = placement.subscribe((owner) => {
            const [namespace = "", name = ""] = owner.split("/");
            enqueue({ namespace, name });
          });
          signal.addEventListener("abort", unsubscribe, { once: true });
        }
        planes.signer?.start(signal);
      },
    })
    .concurrency(CONCURRENCY)
    .rank(5)
    .deferStatus(CONTRACT_STATUS)
    .reconcile((request, context) => reconcileHostedControlPlane(request, context, planes));
}

/** Returns the requests for a Cluster's control plane, if it is a HostedControlPlane. */
export function controlPlaneOf(cluster: Cluster): Request[] {
  const reference = cluster.spec?.controlPlaneRef;
  if (reference?.kind !== HostedControlPlane.kind || reference.apiGroup !== HostedControlPlane.group) return [];
  return [{ namespace: cluster.metadata.namespace ?? "", name: reference.name }];
}
