import { deepEqual, type KubeObject } from "@capstan/apimachinery";
import { unclaimed } from "@capstan/capi";
import { type BareMetalHost, HOST_PAUSED_ANNOTATION, HOST_STATUS_ANNOTATION } from "../kinds/bare-metal-host.ts";
import type { BareMetalHostSpec } from "../kinds/bare-metal-host-spec.ts";
import type { Metal3Machine } from "../kinds/metal3-machine.ts";
import { BLOCK_MOVE_ANNOTATION, NODE_REUSE_LABEL, OWN_PAUSE } from "./names.ts";

/** The field of a BareMetalHost that holds its claim. */
export const CLAIM_FIELD = "consumerRef";

/** Reference to a Secret in the host's namespace. */
export interface SecretName {
  name: string;
  namespace: string;
}

/** The Secrets that a machine passes to its host. */
export interface HostData {
  userData: SecretName;
  metaData: SecretName | undefined;
  networkData: SecretName | undefined;
}

/** Returns a host with a claim as Metal3 marks it: not reserved any more, and not to be moved before it is paused. */
export function claimed(host: BareMetalHost): BareMetalHost {
  const { [NODE_REUSE_LABEL]: _, ...labels } = host.metadata.labels ?? {};
  const annotations = { ...host.metadata.annotations, [BLOCK_MOVE_ANNOTATION]: "" };
  return { ...host, metadata: { ...host.metadata, labels, annotations } };
}

/**
 * Returns the host with the machine's image and data. An image that is already set is kept, because changing it would reprovision the host.
 */
export function provisioned(host: BareMetalHost, machine: Metal3Machine, data: HostData | undefined): BareMetalHost {
  const { spec = {} } = machine;
  const deployed = host.spec.image !== undefined || host.spec.customDeploy !== undefined;
  const given: Partial<BareMetalHostSpec> =
    deployed || data === undefined
      ? {}
      : {
          ...imageOf(spec),
          userData: data.userData,
          ...(data.metaData === undefined ? {} : { metaData: data.metaData }),
          ...(data.networkData === undefined ? {} : { networkData: data.networkData }),
        };
  const mode = spec.automatedCleaningMode;
  return {
    ...host,
    spec: { ...host.spec, ...given, online: true, ...(mode === undefined ? {} : { automatedCleaningMode: mode }) },
  };
}

function imageOf({ image, customDeploy }: NonNullable<Metal3Machine["spec"]>): Partial<BareMetalHostSpec> {
  if (customDeploy !== undefined) return { customDeploy };
  const { url, diskFormat, ...rest } = image ?? {};
  return url === undefined
    ? {}
    : { image: { url, ...rest, ...(diskFormat === undefined ? {} : { format: diskFormat }) } };
}

/** Returns the host without image and data, so that it is deprovisioned. */
export function cleared(host: BareMetalHost): BareMetalHost {
  const { image: _i, customDeploy: _c, userData: _u, metaData: _m, networkData: _n, ...rest } = host.spec;
  return { ...host, spec: { ...rest, online: host.spec.disablePowerOff === true } };
}

/** Returns the host without a machine; with `reuse`, it is reserved for the machine's successor. */
export function released(
  host: BareMetalHost,
  reuse: { label: string; cluster: KubeObject } | undefined,
): BareMetalHost {
  const { metadata, spec } = unclaimed(resumed(host), CLAIM_FIELD);
  const { [NODE_REUSE_LABEL]: _reuse, ...labels } = metadata.labels ?? {};
  const { [BLOCK_MOVE_ANNOTATION]: _move, ...annotations } = metadata.annotations ?? {};
  if (reuse === undefined) return { ...host, metadata: { ...metadata, labels, annotations }, spec };
  const { apiVersion, kind, metadata: cluster } = reuse.cluster;
  return {
    ...host,
    metadata: { ...metadata, labels: { ...labels, [NODE_REUSE_LABEL]: reuse.label }, annotations },
    spec: {
      ...spec,
      consumerRef: { apiVersion, kind, namespace: cluster.namespace ?? "", name: cluster.name ?? "" },
    },
  };
}

/** Returns the host paused, with its status saved in an annotation so that it survives a move. */
export function pausedHost(host: BareMetalHost): BareMetalHost {
  const { [BLOCK_MOVE_ANNOTATION]: _, ...annotations } = host.metadata.annotations ?? {};
  if (annotations[HOST_PAUSED_ANNOTATION] !== undefined) return withAnnotations(host, annotations);
  const { hardware: _h, ...status } = host.status ?? {};
  return withAnnotations(host, {
    ...annotations,
    [HOST_PAUSED_ANNOTATION]: OWN_PAUSE,
    ...(host.status === undefined ? {} : { [HOST_STATUS_ANNOTATION]: JSON.stringify(status) }),
  });
}

/** Returns the host without the pause that pausedHost set; keeps the saved status until it is restored. */
export function resumed(host: BareMetalHost): BareMetalHost {
  const { [HOST_PAUSED_ANNOTATION]: pause, ...annotations } = host.metadata.annotations ?? {};
  if (pause !== OWN_PAUSE) return host;
  const { [HOST_STATUS_ANNOTATION]: _, ...restored } = annotations;
  return withAnnotations(host, host.status === undefined ? annotations : restored);
}

function withAnnotations(host: BareMetalHost, annotations: Record<string, string>): BareMetalHost {
  return { ...host, metadata: { ...host.metadata, annotations } };
}

/** Reports whether two hosts are equal in the fields that this provider writes. */
export function sameHost(a: BareMetalHost, b: BareMetalHost): boolean {
  return (
    deepEqual(a.spec, b.spec) &&
    deepEqual(a.metadata.labels ?? {}, b.metadata.labels ?? {}) &&
    deepEqual(a.metadata.annotations ?? {}, b.metadata.annotations ?? {})
  );
}
