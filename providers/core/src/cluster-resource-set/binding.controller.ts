import { Cluster, ClusterResourceSetBinding } from "@capstan/capi";
import { type Controller, controller, done, type Predicate } from "@capstan/runtime";

const goes: Predicate<Cluster> = {
  create: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  update: ({ metadata }, old) => metadata.deletionTimestamp !== old.metadata.deletionTimestamp,
};

/**
 * Deletes a ClusterResourceSetBinding with its Cluster. Otherwise a new Cluster of the same name would never get its resources, such as the
 * pod network.
 */
export function clusterResourceSetBindingController(): Controller {
  return controller("cluster-resource-set-binding")
    .for(ClusterResourceSetBinding)
    .watches(Cluster, ({ metadata: { namespace = "", name = "" } }) => [{ namespace, name }], {
      predicate: goes,
    })
    .reconcile(async (request, context) => {
      const binding = context.cache.get(ClusterResourceSetBinding, request);
      if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return done();
      const key = { namespace: request.namespace, name: binding.spec.clusterName };
      const cluster = context.cache.get(Cluster, key) ?? (await context.client.get(Cluster, key));
      if (cluster !== undefined && cluster.metadata.deletionTimestamp === undefined) return done();
      const { uid } = binding.metadata;
      await context.client.delete(binding, uid === undefined ? {} : { preconditions: { uid } });
      return done();
    });
}
