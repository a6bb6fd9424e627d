import { createMergePatch, deepEqual, isObject } from "@capstan/apimachinery";
import { TOPOLOGY_DRY_RUN_ANNOTATION } from "../contract/constants.ts";
import { controlPlaneTimeoutProblems, kubeadmConfigProblems } from "../kinds/kubeadm-config-rules.ts";
import type { schema as controlPlaneSchema } from "../kinds/kubeadm-control-plane.ts";
import type { schema as templateSchema } from "../kinds/kubeadm-control-plane-template.ts";
import type { AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import {
  compareVersions,
  forbidden,
  invalid,
  metadataProblems,
  namingProblems,
  parseVersion,
  required,
  taintProblems,
  versionProblems,
  withPrefix,
} from "./problems.ts";

type ControlPlane = KindObject<Infer<typeof controlPlaneSchema>>;
type Template = KindObject<Infer<typeof templateSchema>>;
type Spec = ControlPlane["spec"];
type TemplateSpec = NonNullable<NonNullable<Template["spec"]>["template"]["spec"]>;

const NAME_VARIABLES = [".cluster.name", ".kubeadmControlPlane.name", ".random"];
const IMAGE_TAG = /^[\w][\w.-]{0,127}$/;

const DNS_VERSION = /^v?\d+(\.\d+(\.\d+(-[\w.-]+)?(_[\w.-]+)?)?)?$/;

/** How long a cluster's authorities live unless said. */
const DEFAULT_CA_DAYS = 3650;

/** What of ClusterConfiguration can be changed while the cluster lives. */
const CHANGEABLE = {
  clusterConfiguration: [
    "etcd",
    "dns",
    "imageRepository",
    "featureGates",
    "apiServer",
    "controllerManager",
    "scheduler",
    "certificateValidityPeriodDays",
    "encryptionAlgorithm",
  ],
  initConfiguration: ["nodeRegistration", "patches", "skipPhases", "bootstrapTokens", "localAPIEndpoint", "timeouts"],
  joinConfiguration: [
    "nodeRegistration",
    "patches",
    "skipPhases",
    "caCertPath",
    "controlPlane",
    "discovery",
    "timeouts",
  ],
};

/** KubeadmControlPlane: upstream's rules, but for CoreDNS versions that only its controller can judge. */
export const kubeadmControlPlaneAdmission: KindAdmission<ControlPlane> = {
  checksReplicas: true,
  default: ({ spec }) => {
    spec.replicas ??= 1;
    spec.version = withPrefix(spec.version);
    spec.rollout = {
      ...spec.rollout,
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: 1, ...spec.rollout?.strategy?.rollingUpdate },
      },
    };
  },
  validate: ({ spec }, old) => [
    ...replicasProblems(spec),
    ...versionProblems(spec.version, "spec.version"),
    ...metadataProblems(spec.machineTemplate.metadata, "spec.machineTemplate.metadata"),
    ...taintProblems(spec.machineTemplate.spec.taints, "spec.machineTemplate.spec.taints", false),
    ...sharedProblems(spec, "spec"),
    ...surgeProblems(spec),
    ...certificateProblems(spec),
    ...(old === undefined ? [] : updateProblems(spec, old.spec)),
  ],
};

/** KubeadmControlPlaneTemplate: upstream's rules. */
export const kubeadmControlPlaneTemplateAdmission: KindAdmission<Template> = {
  validate: (object, old) => {
    const { metadata, spec: template = {} } = object.spec?.template ?? {};
    return [
      ...(old === undefined ? [] : templateChangeProblems(object, old)),
      ...metadataProblems(metadata, "spec.template.metadata"),
      ...metadataProblems(template.machineTemplate?.metadata, "spec.template.spec.machineTemplate.metadata"),
      ...taintProblems(template.machineTemplate?.spec?.taints, "spec.template.spec.machineTemplate.spec.taints", false),
      ...sharedProblems(template, "spec.template.spec"),
    ];
  },
};

/** Control planes made from a template are not told when it changes: another one is made instead. */
function templateChangeProblems(object: Template, old: Template): AdmissionProblem[] {
  if (object.metadata.annotations?.[TOPOLOGY_DRY_RUN_ANNOTATION] !== undefined) return [];
  if (deepEqual(object.spec?.template.spec ?? {}, old.spec?.template.spec ?? {})) return [];
  const cure = "create another KubeadmControlPlaneTemplate and refer to that";
  return [forbidden("spec.template.spec", `field is immutable: ${cure}`)];
}

function sharedProblems(spec: Spec | TemplateSpec, path: string): AdmissionProblem[] {
  const config = spec.kubeadmConfigSpec ?? {};
  const at = `${path}.kubeadmConfigSpec`;
  const { etcd, dns } = config.clusterConfiguration ?? {};
  const maxSurge = spec.rollout?.strategy?.rollingUpdate?.maxSurge;
  return [
    ...kubeadmConfigProblems(config, at),
    ...controlPlaneTimeoutProblems(config, at),
    ...namingProblems(spec.machineNaming?.template, `${path}.machineNaming.template`, NAME_VARIABLES, true),
    ...(etcd?.local !== undefined && etcd.external !== undefined
      ? [forbidden(`${at}.clusterConfiguration.etcd.local`, "cannot have both external and local etcd")]
      : []),
    ...tagProblems(dns?.imageTag, `${at}.clusterConfiguration.dns.imageTag`),
    ...dnsVersionProblems(dns?.imageTag, `${at}.clusterConfiguration.dns.imageTag`),
    ...tagProblems(etcd?.local?.imageTag, `${at}.clusterConfiguration.etcd.local.imageTag`),
    ...(maxSurge === undefined || maxSurge === 0 || maxSurge === 1
      ? []
      : [invalid(`${path}.rollout.strategy.rollingUpdate.maxSurge`, maxSurge, "must be 0 or 1")]),
  ];
}

function tagProblems(tag: string | undefined, field: string): AdmissionProblem[] {
  return tag === undefined || IMAGE_TAG.test(tag) ? [] : [forbidden(field, `tag ${tag} is invalid`)];
}

/** CoreDNS is migrated from version to version, so its tag must begin with one: v1.12.1, or v1.12.1-something. */
function dnsVersionProblems(tag: string | undefined, field: string): AdmissionProblem[] {
  if (tag === undefined || !IMAGE_TAG.test(tag) || DNS_VERSION.test(tag)) return [];
  return [invalid(field, tag, "failed to parse CoreDNS version")];
}

function replicasProblems({ replicas, kubeadmConfigSpec }: Spec): AdmissionProblem[] {
  const field = "spec.replicas";
  if (replicas === undefined) return [required(field, "is required")];
  if (replicas <= 0) return [forbidden(field, "cannot be less than or equal to 0")];
  const external = kubeadmConfigSpec?.clusterConfiguration?.etcd?.external !== undefined;
  return !external && replicas % 2 === 0 ? [forbidden(field, "cannot be an even number when etcd is stacked")] : [];
}

/** Without a spare machine etcd must survive the loss of one. */
function surgeProblems({ replicas = 1, rollout }: Spec): AdmissionProblem[] {
  if (rollout?.strategy?.rollingUpdate?.maxSurge !== 0 || replicas >= 3) return [];
  return [
    required(
      "spec.rollout.strategy.rollingUpdate",
      "when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3",
    ),
  ];
}

/** Certificates end before the authority that signed them, and are renewed after they were made. */
function certificateProblems({ rollout, kubeadmConfigSpec }: Spec): AdmissionProblem[] {
  const { certificateValidityPeriodDays: days, caCertificateValidityPeriodDays } =
    kubeadmConfigSpec?.clusterConfiguration ?? {};
  if (days === undefined) return [];
  const authorityDays = caCertificateValidityPeriodDays ?? DEFAULT_CA_DAYS;
  const renewal = rollout?.before?.certificatesExpiryDays;
  return [
    ...(days > authorityDays
      ? [
          invalid(
            "spec.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays",
            days,
            `must be less than or equal to caCertificateValidityPeriodDays (${authorityDays})`,
          ),
        ]
      : []),
    ...(renewal !== undefined && renewal >= days
      ? [
          invalid(
            "spec.rollout.before.certificatesExpiryDays",
            renewal,
            `must be less than certificateValidityPeriodDays (${days})`,
          ),
        ]
      : []),
  ];
}

function updateProblems(spec: Spec, old: Spec): AdmissionProblem[] {
  const from = parseVersion(old.version);
  const to = parseVersion(spec.version);
  const jumps =
    from !== undefined &&
    to !== undefined &&
    compareVersions(to, { major: from.major, minor: from.minor + 2, patch: 0 }) >= 0;
  const before = old.kubeadmConfigSpec?.clusterConfiguration?.etcd?.external !== undefined;
  const after = spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.external !== undefined;
  return [
    ...(jumps
      ? [forbidden("spec.version", `cannot update Kubernetes version from ${old.version} to ${spec.version}`)]
      : []),
    ...(before === after
      ? []
      : [
          forbidden(
            "spec.kubeadmConfigSpec.clusterConfiguration.etcd.external",
            "cannot change between external and local etcd",
          ),
        ]),
    ...Object.entries(CHANGEABLE).flatMap(([part, changeable]) => {
      const name = part as keyof typeof CHANGEABLE;
      const patch = createMergePatch(old.kubeadmConfigSpec?.[name] ?? {}, spec.kubeadmConfigSpec?.[name] ?? {});
      return Object.keys(isObject(patch) ? patch : {})
        .filter((field) => !changeable.includes(field))
        .map((field) => forbidden(`spec.kubeadmConfigSpec.${name}.${field}`, "cannot be modified"));
    }),
  ];
}
