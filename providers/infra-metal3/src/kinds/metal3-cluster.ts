import {
  array,
  boolean,
  failureDomain,
  infraClusterKind,
  type KindVersion,
  mapToList,
  type ObjectOf,
  oldOnly,
  optional,
  recode,
  templateKind,
  under,
} from "@capstan/capi";
import { SHARED_STATUS_RULES, sharedStatus } from "./metal3-shared.ts";

const DEFAULT_PORT = 6443;

const fields = {
  cloudProviderEnabled: optional(
    boolean({
      doc: "Whether a cloud provider of the cluster sets the provider IDs of Nodes; if not, the controller does.",
    }),
  ),
  failureDomains: optional(
    array(failureDomain, {
      doc: "Failure domains of hosts: the values of their label infrastructure.cluster.x-k8s.io/failure-domain.",
      listType: "map",
      keys: ["name"],
      maxItems: 100,
    }),
  ),
};

const rules = [
  oldOnly("noCloudProvider", boolean({ doc: "The opposite of cloudProviderEnabled." })),
  recode("failureDomains", mapToList()),
];

/** A cluster on bare metal; the hosts are there, so there is little to make. */
const definition = infraClusterKind({
  kind: "Metal3Cluster",
  doc: "A cluster on bare metal. It creates no infrastructure; its machines claim BareMetalHosts.",
  shortNames: ["m3c", "m3cluster", "metal3cluster"],
  spec: fields,
  status: sharedStatus,
  alsoV1beta1: true,
  rules: [...under("spec", rules), ...SHARED_STATUS_RULES],
  columns: [
    { name: "Provisioned", type: "string", jsonPath: ".status.initialization.provisioned" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.controlPlaneEndpoint.host" },
  ],
  admission: {
    default: (object) => {
      const { spec } = object as { spec?: { controlPlaneEndpoint?: { host?: string; port?: number } } };
      const endpoint = spec?.controlPlaneEndpoint;
      if (endpoint?.host !== undefined && endpoint.host !== "") endpoint.port ??= DEFAULT_PORT;
    },
  },
});
/** Infrastructure cluster of bare-metal machines. */
export const Metal3Cluster = { ...definition, versions: definition.versions.map(withNoCloudProvider) };
export type Metal3Cluster = ObjectOf<typeof definition>;

/** v1beta1 could also say it the other way round. */
function withNoCloudProvider(version: KindVersion): KindVersion {
  const { convert } = version;
  if (convert === undefined) return version;
  return {
    ...version,
    convert: {
      ...convert,
      toStored: (object, apiVersionOf) => {
        const old = object["spec"] as { noCloudProvider?: boolean } | undefined;
        const stored = convert.toStored(object, apiVersionOf);
        const spec = stored["spec"] as { cloudProviderEnabled?: boolean } | undefined;
        if (old?.noCloudProvider === false && spec?.cloudProviderEnabled === undefined)
          stored["spec"] = { ...spec, cloudProviderEnabled: true };
        return stored;
      },
    },
  };
}

/** Template that a ClusterClass creates Metal3Clusters from. */
export const Metal3ClusterTemplate = templateKind({
  kind: "Metal3ClusterTemplate",
  doc: "A template of Metal3Clusters.",
  shortNames: ["m3ct"],
  spec: fields,
  alsoV1beta1: true,
  rules: under("spec.template.spec", rules),
});
