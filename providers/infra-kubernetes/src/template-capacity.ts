import { type Controller, controller, done } from "@capstan/runtime";
import { KubernetesMachineTemplate } from "./kinds/kubernetes-machine.ts";
import type { PodSettings } from "./pod/template.ts";
import { isAmount, nodeContainer, templateSpec } from "./pod/template.ts";

/** Publishes what a machine of a template offers, so that an autoscaler can scale up from zero. */
export function templateCapacityController(): Controller {
  return controller("kubernetes-template")
    .for<KubernetesMachineTemplate>(KubernetesMachineTemplate)
    .reconcile(async (request, context) => {
      const template = context.cache.get(KubernetesMachineTemplate, request);
      if (template === undefined || template.metadata.deletionTimestamp !== undefined) return done();
      const capacity = capacityOf(template.spec.template.spec);
      const { namespace, name } = template.metadata;
      if (Object.keys(capacity).length === 0) return done();
      const desired = {
        apiVersion: template.apiVersion,
        kind: template.kind,
        metadata: { namespace, name },
        status: { capacity },
      };
      await context.ensureStatus(desired as unknown as KubernetesMachineTemplate, template);
      return done();
    });
}

interface Settings extends PodSettings {
  readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> };
}

/** The limits of the node's container; what has none is as large as the outer node, which is unknown. */
function capacityOf(settings: Settings): Record<string, string> {
  const limits = { ...nodeContainer(templateSpec(settings))?.resources?.limits, ...settings.resources?.limits };
  // What is no quantity is refused when a machine is made of it.
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, amount]) => (isAmount(amount) ? [[name, String(amount)]] : [])),
  );
}
