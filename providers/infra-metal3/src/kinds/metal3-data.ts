import {
  array,
  boolean,
  defineKind,
  INFRASTRUCTURE_GROUP,
  integer,
  mapToList,
  type ObjectOf,
  object,
  oldOnly,
  optional,
  recode,
  string,
  time,
  v1beta1,
} from "@capstan/capi";
import { secretReference } from "./bare-metal-host-parts.ts";
import { META_DATA_RULES, metaData } from "./metal3-meta-data.ts";
import { NETWORK_DATA_RULES, networkData } from "./metal3-network-data.ts";
import { AGE_COLUMN, CLUSTER_COLUMN, metal3Reference, objectReferenceCodec } from "./metal3-shared.ts";

const group = INFRASTRUCTURE_GROUP;
const shared = { group, version: "v1beta2", contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" } };
const errorMessage = optional(string({ doc: "Error message of the last failure.", maxLength: 32768 }));

const template = object({
  spec: object(
    {
      clusterName: optional(string({ doc: "Cluster it belongs to.", minLength: 1, maxLength: 63 })),
      metaData: optional(metaData),
      networkData: optional(networkData),
    },
    {
      doc: "Desired state of the Metal3DataTemplate.",
      rules: [
        {
          rule: "has(self.metaData) == has(oldSelf.metaData)",
          message: "metaData cannot change; make another template",
        },
        {
          rule: "has(self.networkData) == has(oldSelf.networkData)",
          message: "networkData cannot change; make another template",
        },
      ],
    },
  ),
  status: optional(
    object(
      {
        lastUpdated: optional(time({ doc: "Time when the indexes last changed." })),
        indexes: optional(
          array(
            object(
              {
                name: string({ doc: "Name of the Metal3DataClaim.", minLength: 1, maxLength: 253 }),
                index: optional(integer({ doc: "Its index.", minimum: 0 })),
              },
              { doc: "Index of one claim." },
            ),
            { doc: "Indexes by claim.", listType: "map", keys: ["name"] },
          ),
        ),
      },
      { doc: "Observed state of the Metal3DataTemplate." },
    ),
  ),
});

/** Template for the meta data and network data of machines. */
export const Metal3DataTemplate = defineKind({
  ...shared,
  kind: "Metal3DataTemplate",
  plural: "metal3datatemplates",
  shortNames: ["m3dt", "m3datatemplate", "metal3datatemplate"],
  doc: "Describes the meta data and network data that machines on bare metal boot with.",
  labels: { "clusterctl.cluster.x-k8s.io/move": "" },
  schema: template,
  columns: [CLUSTER_COLUMN, AGE_COLUMN],
  others: [
    v1beta1(group, "Metal3DataTemplate", template, {
      rules: [
        oldOnly("spec.templateReference", string()),
        ...META_DATA_RULES,
        ...NETWORK_DATA_RULES,
        recode("status.indexes", mapToList("index")),
      ],
      columns: [CLUSTER_COLUMN, AGE_COLUMN],
    }),
  ],
});
export type Metal3DataTemplate = ObjectOf<typeof Metal3DataTemplate>;

const claim = object({
  spec: object(
    { template: metal3Reference("The Metal3DataTemplate.") },
    { doc: "Desired state of the Metal3DataClaim." },
  ),
  status: optional(
    object(
      { renderedData: optional(metal3Reference("The Metal3Data.")), errorMessage },
      { doc: "Observed state of the Metal3DataClaim." },
    ),
  ),
});

/** Requests data that is rendered from a Metal3DataTemplate. */
export const Metal3DataClaim = defineKind({
  ...shared,
  kind: "Metal3DataClaim",
  plural: "metal3dataclaims",
  shortNames: ["m3dc", "m3dataclaim", "metal3dataclaim"],
  doc: "Requests the data of one machine, rendered from a Metal3DataTemplate.",
  schema: claim,
  columns: [CLUSTER_COLUMN, AGE_COLUMN],
  others: [
    v1beta1(group, "Metal3DataClaim", claim, {
      rules: [recode("spec.template", objectReferenceCodec), recode("status.renderedData", objectReferenceCodec)],
      columns: [CLUSTER_COLUMN, AGE_COLUMN],
    }),
  ],
});
export type Metal3DataClaim = ObjectOf<typeof Metal3DataClaim>;

const data = object({
  spec: object(
    {
      index: optional(integer({ doc: "Index among the data of the same template, starting at 0.", minimum: 0 })),
      template: metal3Reference("The Metal3DataTemplate it is rendered from."),
      claim: metal3Reference("The Metal3DataClaim it is for."),
      metaData: optional(secretReference("Secret with the meta data.")),
      networkData: optional(secretReference("Secret with the network data.")),
    },
    { doc: "Desired state of the Metal3Data." },
  ),
  status: optional(
    object(
      { ready: optional(boolean({ doc: "Whether the Secrets exist." })), errorMessage },
      { doc: "Observed state of the Metal3Data." },
    ),
  ),
});

/** The data that was rendered for one machine. */
export const Metal3Data = defineKind({
  ...shared,
  kind: "Metal3Data",
  plural: "metal3datas",
  shortNames: ["m3d", "m3data", "metal3data"],
  doc: "The data of one machine: its index, and the Secrets with its meta data and network data.",
  schema: data,
  columns: [CLUSTER_COLUMN, AGE_COLUMN],
  others: [
    v1beta1(group, "Metal3Data", data, {
      rules: [
        oldOnly("spec.templateReference", string()),
        recode("spec.claim", objectReferenceCodec),
        recode("spec.template", objectReferenceCodec),
      ],
      columns: [CLUSTER_COLUMN, AGE_COLUMN],
    }),
  ],
});
export type Metal3Data = ObjectOf<typeof Metal3Data>;
