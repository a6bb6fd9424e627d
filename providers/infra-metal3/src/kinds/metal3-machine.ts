import {
  array,
  boolean,
  infraMachineKind,
  map,
  move,
  type ObjectOf,
  object,
  oldOnly,
  optional,
  recode,
  string,
  templateKind,
  under,
} from "@capstan/capi";
import { customDeploy, secretReference } from "./bare-metal-host-parts.ts";
import { imageProblems } from "./metal3-image.ts";
import { metal3Reference, objectReferenceCodec, SHARED_STATUS_RULES, sharedStatus } from "./metal3-shared.ts";

/** Comparisons as upstream takes them and as Kubernetes spells them. */
const WORDS = ["in", "notin", "exists", "gt", "lt", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] as const;
const OPERATORS = [...WORDS, "=", "==", "!=", "!"] as const;

const hostSelector = object(
  {
    matchLabels: optional(map(string({ maxLength: 63 }), { doc: "Labels that a BareMetalHost must have." })),
    matchExpressions: optional(
      array(
        object(
          {
            key: string({ doc: "Key of the label.", minLength: 1, maxLength: 317 }),
            operator: string({
              doc: "How the label is compared: in, notin, =, !=, exists, !, gt, lt.",
              enum: OPERATORS,
            }),
            values: optional(array(string({ maxLength: 63 }), { doc: "Values to compare with.", maxItems: 512 })),
          },
          { doc: "One requirement on a label." },
        ),
        { doc: "Further requirements.", maxItems: 512 },
      ),
    ),
  },
  { doc: "Which BareMetalHosts qualify; all when absent." },
);

const image = object(
  {
    url: optional(string({ doc: "URL of the image.", maxLength: 4096 })),
    checksum: optional(string({ doc: "Digest, or the URL of a file with digests.", maxLength: 4096 })),
    checksumType: optional(
      string({
        doc: "Algorithm of the digest; auto detects it from the length.",
        enum: ["md5", "sha256", "sha512", "auto"],
      }),
    ),
    diskFormat: optional(
      string({
        doc: "Format of the image; live-iso is booted and nothing is written to a disk.",
        enum: ["raw", "qcow2", "vdi", "vmdk", "live-iso"],
      }),
    ),
  },
  { doc: "Image that the host runs." },
);

const fields = {
  image: optional(image),
  customDeploy: optional(customDeploy),
  userData: optional(secretReference("Secret with user data; by default the bootstrap data of the Machine.")),
  hostSelector: optional(hostSelector),
  dataTemplate: optional(metal3Reference("The Metal3DataTemplate that meta data and network data are rendered from.")),
  metaData: optional(secretReference("Secret with meta data; wins over the template.")),
  networkData: optional(secretReference("Secret with network data; wins over the template.")),
  automatedCleaningMode: optional(
    string({ doc: "What is cleaned between two uses of the host.", enum: ["metadata", "disabled"] }),
  ),
  failureDomain: optional(
    string({ doc: "Failure domain of the host; that of the Machine takes precedence.", minLength: 1, maxLength: 256 }),
  ),
};

const rules = [move("image.format", "image.diskFormat"), recode("dataTemplate", objectReferenceCodec)];

type Spec = { image?: { url?: string; checksum?: string; diskFormat?: string }; customDeploy?: { method?: string } };

/** Infrastructure machine that runs on a BareMetalHost. */
export const Metal3Machine = infraMachineKind({
  kind: "Metal3Machine",
  doc: "A machine on bare metal: it claims a BareMetalHost, has it provisioned, and releases it.",
  shortNames: ["m3m", "m3machine", "metal3machine"],
  spec: fields,
  status: {
    ...sharedStatus,
    userData: optional(secretReference("Secret with the user data that the host was given.")),
    metaData: optional(secretReference("Secret with the meta data that the host was given.")),
    networkData: optional(secretReference("Secret with the network data that the host was given.")),
    renderedData: optional(metal3Reference("The Metal3Data that was rendered for this machine.")),
  },
  mutable: ["automatedCleaningMode", "failureDomain"],
  alsoV1beta1: true,
  rules: [
    ...under("spec", rules),
    recode("status.renderedData", objectReferenceCodec),
    oldOnly("status.phase", string()),
    ...SHARED_STATUS_RULES,
  ],
  columns: [{ name: "Provisioned", type: "string", jsonPath: ".status.initialization.provisioned" }],
  admission: {
    validate: (machine) => imageProblems((machine as { spec?: Spec }).spec ?? {}, "spec"),
  },
});
export type Metal3Machine = ObjectOf<typeof Metal3Machine>;

/** Template that MachineSets create Metal3Machines from. */
export const Metal3MachineTemplate = templateKind({
  kind: "Metal3MachineTemplate",
  doc: "A template of Metal3Machines.",
  shortNames: ["m3mt", "m3machinetemplate", "metal3machinetemplate"],
  spec: fields,
  beside: {
    nodeReuse: optional(
      boolean({
        doc: "Whether a host that a machine of this template releases is kept for its successor, including its disks.",
      }),
    ),
  },
  mutable: ["automatedCleaningMode"],
  alsoV1beta1: true,
  rules: under("spec.template.spec", rules),
  admission: {
    validate: (template) =>
      imageProblems(
        (template as { spec?: { template?: { spec?: Spec } } }).spec?.template?.spec ?? {},
        "spec.template.spec",
      ),
  },
});
export type Metal3MachineTemplate = ObjectOf<typeof Metal3MachineTemplate>;
