import { ownerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, type ConditionInput, withTransitionTimes } from "@capstan/capi";
import { INSTALL_KEYS, type InstallPlan } from "@capstan/host-agent";
import { type Controller, controller, done, type ReconcileContext } from "@capstan/runtime";
import { K8sInstallerConfig } from "../kinds/k8s-installer-config.ts";
import { VERSION_ANNOTATION } from "../machine/installer.ts";

/** Renders a K8sInstallerConfig into the Secret from which a host's agent installs Kubernetes. */
export function installerController(): Controller {
  return controller("byo-installer")
    .for(K8sInstallerConfig)
    .reconcile(async (request, context) => {
      const config = context.cache.get(K8sInstallerConfig, request);
      if (config === undefined || config.metadata.deletionTimestamp !== undefined) return done();
      const plan = planOf(config);
      if ("problem" in plan) await report(config, undefined, plan.problem, context);
      else await report(config, await ensureSecret(config, plan, context), undefined, context);
      return done();
    });
}

function planOf(config: K8sInstallerConfig): InstallPlan | { problem: string } {
  const { bundleRepo, files } = config.spec;
  const version = config.metadata.annotations?.[VERSION_ANNOTATION] ?? "";
  if (!/^(\/|file:\/\/\/|https?:\/\/)/.test(bundleRepo))
    return {
      problem: `bundleRepo ${bundleRepo} is neither a folder (/opt/kubernetes) nor an http(s) mirror; registries of images are not read`,
    };
  if (files === undefined && version === "")
    return { problem: "the Machine has no version, so the version to install is unknown: set it, or list the files" };
  return { version, source: bundleRepo, files };
}

async function ensureSecret(config: K8sInstallerConfig, plan: InstallPlan, context: ReconcileContext): Promise<string> {
  const { namespace = "", name = "" } = config.metadata;
  const cluster = config.metadata.labels?.[CLUSTER_NAME_LABEL];
  const labels: Record<string, string> = cluster === undefined ? {} : { [CLUSTER_NAME_LABEL]: cluster };
  const secret = `byoh-install-${name}`;
  await context.client.apply(
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        namespace,
        name: secret,
        labels,
        ownerReferences: [ownerReference(config, { controller: true })],
      },
      type: "cluster.x-k8s.io/secret",
      data: { [INSTALL_KEYS.plan]: Buffer.from(JSON.stringify(plan)).toString("base64") },
    },
    {},
    context.signal,
  );
  return secret;
}

async function report(
  config: K8sInstallerConfig,
  secret: string | undefined,
  problem: string | undefined,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name, generation } = config.metadata;
  const condition: ConditionInput =
    problem === undefined
      ? { type: "Ready", status: "True", reason: "Ready", message: "" }
      : { type: "Ready", status: "False", reason: "InvalidConfiguration", message: problem };
  const conditions = withTransitionTimes([condition], config.status?.conditions ?? [], context.clock.now(), generation);
  const status = {
    ready: secret !== undefined,
    ...(secret === undefined ? {} : { installationSecret: { kind: "Secret", namespace, name: secret } }),
    conditions,
  };
  const { apiVersion, kind } = K8sInstallerConfig;
  const desired = { apiVersion, kind, metadata: { namespace, name }, status } as unknown as K8sInstallerConfig;
  await context.ensureStatus(desired, config);
}
