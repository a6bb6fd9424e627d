import { KubeadmControlPlane, pausedCondition, withTransitionTimes } from "@capstan/capi";
import { type Controller, controller, done } from "@capstan/runtime";

const CONCURRENCY = 10;

/** Sets a condition on every KubeadmControlPlane that says that the kind is not supported, and what to use instead. */
export function kubeadmControlPlaneNotice(): Controller {
  return controller("kubeadm-control-plane-notice")
    .for(KubeadmControlPlane)
    .concurrency(CONCURRENCY)
    .reconcile(async ({ namespace, name }, { cache, client, clock }) => {
      const live = cache.get(KubeadmControlPlane, { namespace, name });
      if (live === undefined || live.metadata.deletionTimestamp !== undefined) return done();
      if (pausedCondition(live, undefined).status === "True") return done();
      const conditions = withTransitionTimes(
        [
          {
            type: "Available",
            status: "False",
            reason: "NotSupportedYet",
            message:
              "Control planes of Machines are not supported yet. Use a HostedControlPlane (controlplane.cluster.x-k8s.io/v1beta2) as the Cluster's controlPlaneRef",
          },
        ],
        live.status?.conditions ?? [],
        clock.now(),
        live.metadata.generation,
      );
      const { apiVersion, kind } = live;
      const desired = { apiVersion, kind, metadata: { namespace, name }, status: { conditions } };
      await client.ensure(desired as KubeadmControlPlane, live, { subresource: "status" });
      return done();
    });
}
