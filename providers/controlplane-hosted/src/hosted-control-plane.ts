import type { OwnerReference } from "@capstan/apimachinery";
import { Cluster, pausedCondition, validEndpoint } from "@capstan/capi";
import {
  Client,
  done,
  httpTransport,
  kubeconfigFromText,
  type ReconcileContext,
  type Request,
  type Result,
  requeueAfter,
} from "@capstan/runtime";
import { ensureAuthorities } from "./authorities.ts";
import { applyObjects, clusterObjects, objectsDigest } from "./join/prepare-cluster.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { ensureKubeconfigSecret } from "./kubeconfig-secret.ts";
import { clusterNetwork } from "./network.ts";
import type { ControlPlanePlan, Placement } from "./placement/placement.ts";
import { controlPlaneStatus, type Progress } from "./status.ts";
import { readUserFiles } from "./user-files.ts";
import { specProblem } from "./validation.ts";

export const FINALIZER = "hosted.controlplane.cluster.x-k8s.io";
const DEFAULT_ALGORITHM = "ECDSA-P256";
/** What cannot be watched (a port that others hold, a missing program) is looked at again after this. */
const RETRY_MS = 5_000;

export type PlacementType = "Pods" | "Process" | "Embedded";

/** What the controller keeps between passes; all of it can be lost at any time. */
export interface HostedControlPlanes {
  placements: Partial<Record<PlacementType, Placement>>;
  defaultPlacement: PlacementType;
  /** Digest of the objects last written into each workload cluster. */
  prepared: Map<string, string>;
}

/** Brings one HostedControlPlane a step forward. */
export async function reconcileHostedControlPlane(
  request: Request,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<Result> {
  const object = context.cache.get(HostedControlPlane, request);
  if (object === undefined) return done();
  const owner = `${request.namespace}/${request.name}`;
  const type = object.spec.placement?.type ?? planes.defaultPlacement;
  const placement = planes.placements[type];
  if (object.metadata.deletionTimestamp !== undefined) return await remove(object, owner, placement, context, planes);

  const cluster = ownerCluster(object, context);
  const paused = pausedCondition(object, cluster);
  const report = async (progress: Progress): Promise<void> => {
    const status = controlPlaneStatus({ object, progress, paused, nowMs: context.clock.now() });
    const desired = { ...identity(object), status } as HostedControlPlane;
    await context.client.ensure(desired, context.cache.get(HostedControlPlane, request), { subresource: "status" });
  };
  if (paused.status === "True") return await reported(report({ step: "paused" }));
  await context.client.ensure(
    { ...identity(object), metadata: { ...identity(object).metadata, finalizers: [FINALIZER] } } as HostedControlPlane,
    object,
  );
  if (cluster === undefined)
    return await reported(
      report(waiting("WaitingForCluster", "Waiting for a Cluster to name this control plane in spec.controlPlaneRef")),
    );
  if (placement === undefined)
    return await reported(
      report(
        waiting(
          "PlacementNotAvailable",
          `This manager does not offer placement ${type}; it offers ${Object.keys(planes.placements).join(", ")}`,
        ),
      ),
    );

  const network = clusterNetwork(cluster.spec?.clusterNetwork);
  const problem = specProblem(object.spec, network, object.status?.version);
  if (problem !== undefined) return await reported(report({ step: "waiting", ...problem }));

  const fixed = validEndpoint(object.spec.controlPlaneEndpoint) ?? validEndpoint(cluster.spec?.controlPlaneEndpoint);
  const reserved = await placement.reserve({ owner, spec: object.spec, endpoint: fixed });
  if (reserved.type !== "reserved") {
    await report(waiting(reserved.reason, reserved.message));
    return requeueAfter(RETRY_MS);
  }
  const { endpoint } = reserved;
  if (validEndpoint(object.spec.controlPlaneEndpoint) === undefined)
    await context.client.patch(object, { spec: { controlPlaneEndpoint: endpoint } });
  if (object.spec.replicas === 0)
    return await reported(report({ step: "hibernated", state: await placement.hibernate(owner) }));

  const ownerReference = controllerReference(object);
  const key = { namespace: request.namespace, name: cluster.metadata.name ?? "" };
  const initialized = object.status?.initialization?.controlPlaneInitialized === true;
  const made = await ensureAuthorities(
    {
      cluster: key,
      owner: ownerReference,
      algorithm: object.spec.certificates?.encryptionAlgorithm ?? DEFAULT_ALGORITHM,
      mayCreate: !initialized,
    },
    context,
  );
  if ("problem" in made) return await reported(report(waiting("CertificatesNotAvailable", made.problem)));
  const files = await readUserFiles(object, context);
  if ("problem" in files) return await reported(report(waiting("FilesNotAvailable", files.problem)));

  const plan: ControlPlanePlan = {
    owner,
    clusterName: key.name,
    spec: object.spec,
    version: object.spec.version,
    endpoint,
    network,
    authorities: made.authorities,
    userFiles: files.files,
  };
  const state = await placement.ensure(plan);
  if (state.problem !== undefined) {
    await report({ step: "waiting", ...state.problem });
    return requeueAfter(RETRY_MS);
  }
  if (state.apiReady) {
    const kubeconfig = await ensureKubeconfigSecret(
      { cluster: key, owner: ownerReference, endpoint, authorities: made.authorities },
      context,
    );
    try {
      await prepare(plan, kubeconfig, owner, context, planes);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await report(
        waiting("PreparingClusterFailed", `Writing what nodes need to join failed and is tried again: ${why}`),
      );
      throw error;
    }
  }
  await report({ step: "running", state, prepared: planes.prepared.has(owner) });
  return done();
}

/** Fills the new API with what joining nodes read; once per change of what that is. */
async function prepare(
  plan: ControlPlanePlan,
  kubeconfig: string,
  owner: string,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<void> {
  const objects = clusterObjects({
    clusterName: plan.clusterName,
    version: plan.version,
    endpoint: plan.endpoint,
    network: plan.network,
    imageRepository: plan.spec.imageRepository ?? "registry.k8s.io",
    caPem: plan.authorities.cluster.certPem,
    spec: plan.spec,
  });
  const digest = objectsDigest(objects);
  if (planes.prepared.get(owner) === digest) return;
  const transport = httpTransport(await kubeconfigFromText(kubeconfig, { clock: context.clock }), {
    clock: context.clock,
  });
  try {
    const client = new Client(transport, { fieldManager: context.client.fieldManager, clock: context.clock });
    await applyObjects(client, objects, context.signal);
    planes.prepared.set(owner, digest);
  } finally {
    await transport.close();
  }
}

/** Takes everything away. Never talks to the workload cluster, which may be dead already. */
async function remove(
  object: HostedControlPlane,
  owner: string,
  placement: Placement | undefined,
  context: ReconcileContext,
  planes: HostedControlPlanes,
): Promise<Result> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) return done();
  const left = (await placement?.remove(owner)) ?? [];
  planes.prepared.delete(owner);
  if (left.length > 0) {
    const progress: Progress = { step: "deleting", message: `Waiting for ${left.join(", ")} to end` };
    const status = controlPlaneStatus({
      object,
      progress,
      paused: pausedCondition(object, undefined),
      nowMs: context.clock.now(),
    });
    await context.client.ensure({ ...identity(object), status } as HostedControlPlane, object, {
      subresource: "status",
    });
    return done();
  }
  await context.client.patch(object, {
    metadata: {
      finalizers: finalizers.filter((name) => name !== FINALIZER),
      resourceVersion: object.metadata.resourceVersion,
    },
  });
  return done();
}

function ownerCluster(object: HostedControlPlane, context: ReconcileContext): Cluster | undefined {
  const reference = object.metadata.ownerReferences?.find(
    (owner) => owner.kind === Cluster.kind && owner.apiVersion.startsWith(`${Cluster.group}/`),
  );
  if (reference === undefined) return undefined;
  return context.cache.get(Cluster, { namespace: object.metadata.namespace, name: reference.name });
}

function identity(object: HostedControlPlane): {
  apiVersion: string;
  kind: string;
  metadata: { namespace?: string; name?: string };
} {
  const { namespace, name } = object.metadata;
  return {
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    metadata: { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) },
  };
}

function controllerReference(object: HostedControlPlane): OwnerReference {
  return {
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    name: object.metadata.name ?? "",
    uid: object.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

const waiting = (reason: string, message: string): Progress => ({ step: "waiting", reason, message });

async function reported(report: Promise<void>): Promise<Result> {
  await report;
  return done();
}
