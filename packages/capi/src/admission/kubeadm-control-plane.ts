import { createMergePatch, deepEqual, isObject } from "@capstan/apimachinery";
import { controlPlaneTimeoutProblems, kubeadmConfigProblems } from "../kinds/kubeadm-config-rules.ts";
import type { schema as controlPlaneSchema } from "../kinds/kubeadm-control-plane.ts";
import type { schema as templateSchema } from "../kinds/kubeadm-control-plane-template.ts";
import type { AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { coreDnsMigrationProblems, coreDnsVersion } from "./coredns.ts";
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

/** Default validity of a cluster's CAs. */
const DEFAULT_CA_DAYS = 3650;

/** Fields of ClusterConfiguration that can be changed after creation. */
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

/** KubeadmControlPlane: upstream's rules. */
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
  validate: ({ metadata, spec }, old) => [
    ...replicasProblems(spec),
    ...versionProblems(spec.version, "spec.version"),
    ...metadataProblems(spec.machineTemplate.metadata, "spec.machineTemplate.metadata"),
    ...taintProblems(spec.machineTemplate.spec.taints, "spec.machineTemplate.spec.taints", false),
    ...sharedProblems(spec, "spec"),
    ...surgeProblems(spec),
    ...certificateProblems(spec, "spec"),
    ...(old === undefined ? [] : updateProblems(spec, old.spec)),
    ...coreDnsMigrationProblems(
      { from: dnsTag(old?.spec), to: dnsTag(spec), annotations: metadata.annotations },
      "spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag",
    ),
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
      // As upstream, which checks neither without the other.
      ...(template.rollout?.strategy === undefined ? [] : certificateProblems(template, "spec.template.spec")),
    ];
  },
};

function dnsTag(spec: Spec | undefined): string | undefined {
  return spec?.kubeadmConfigSpec?.clusterConfiguration?.dns?.imageTag;
}

/** Changes of a template do not reach the control planes created from it: a new template must be created instead. */
function templateChangeProblems(object: Template, old: Template): AdmissionProblem[] {
  const after = object.spec?.template.spec ?? {};
  const before = old.spec?.template.spec ?? {};
  if (deepEqual(comparable(after), comparable(before))) return [];
  // Defaults that older versions of Cluster API wrote may be removed again.
  if (after.rollout?.strategy === undefined && before.rollout?.strategy?.rollingUpdate?.maxSurge === 1)
    if (deepEqual(comparable({ ...after, rollout: before.rollout }), comparable(before))) return [];
  const cure = "create another KubeadmControlPlaneTemplate and refer to that";
  return [forbidden("spec.template.spec", `field is immutable: ${cure}`)];
}

/** A template with the defaults that older versions of Cluster API wrote into it. */
function comparable(spec: TemplateSpec): TemplateSpec {
  const { initConfiguration: init, joinConfiguration: join, ...config } = spec.kubeadmConfigSpec ?? {};
  const imagePullPolicy = "IfNotPresent" as const;
  return {
    ...spec,
    kubeadmConfigSpec: {
      format: "cloud-config",
      ...config,
      initConfiguration: { ...init, nodeRegistration: { imagePullPolicy, ...init?.nodeRegistration } },
      joinConfiguration: { ...join, nodeRegistration: { imagePullPolicy, ...join?.nodeRegistration } },
    },
  };
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
    ...(maxSurge === undefined || isOneOrNone(maxSurge)
      ? []
      : [invalid(`${path}.rollout.strategy.rollingUpdate.maxSurge`, maxSurge, "must be 0 or 1")]),
  ];
}

function isOneOrNone(amount: number | string): boolean {
  return ["0", "1"].includes(String(amount));
}

function tagProblems(tag: string | undefined, field: string): AdmissionProblem[] {
  return tag === undefined || IMAGE_TAG.test(tag) ? [] : [forbidden(field, `tag ${tag} is invalid`)];
}

/** CoreDNS is migrated from version to version, so its tag must begin with one: v1.12.1, or v1.12.1-something. */
function dnsVersionProblems(tag: string | undefined, field: string): AdmissionProblem[] {
  if (tag === undefined || !IMAGE_TAG.test(tag) || coreDnsVersion(tag) !== undefined) return [];
  return [invalid(field, tag, "failed to parse CoreDNS version")];
}

function replicasProblems({ replicas, kubeadmConfigSpec }: Spec): AdmissionProblem[] {
  const field = "spec.replicas";
  if (replicas === undefined) return [required(field, "is required")];
  if (replicas <= 0) return [forbidden(field, "cannot be less than or equal to 0")];
  const external = kubeadmConfigSpec?.clusterConfiguration?.etcd?.external !== undefined;
  return !external && replicas % 2 === 0 ? [forbidden(field, "cannot be an even number when etcd is stacked")] : [];
}

/** With scale-in there is no additional Machine, so etcd must survive the loss of one. */
function surgeProblems({ replicas = 1, rollout }: Spec): AdmissionProblem[] {
  if (String(rollout?.strategy?.rollingUpdate?.maxSurge) !== "0" || replicas >= 3) return [];
  return [
    required(
      "spec.rollout.strategy.rollingUpdate",
      "when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3",
    ),
  ];
}

/** Certificates expire before the CA that signed them, and are renewed after they were issued. */
function certificateProblems({ rollout, kubeadmConfigSpec }: Spec | TemplateSpec, path: string): AdmissionProblem[] {
  const { certificateValidityPeriodDays: days, caCertificateValidityPeriodDays } =
    kubeadmConfigSpec?.clusterConfiguration ?? {};
  if (days === undefined) return [];
  const authorityDays = caCertificateValidityPeriodDays ?? DEFAULT_CA_DAYS;
  const renewal = rollout?.before?.certificatesExpiryDays;
  return [
    ...(days > authorityDays
      ? [
          invalid(
            `${path}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays`,
            days,
            `must be less than or equal to caCertificateValidityPeriodDays (${authorityDays})`,
          ),
        ]
      : []),
    ...(renewal !== undefined && renewal >= days
      ? [
          invalid(
            `${path}.rollout.before.certificatesExpiryDays`,
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
    ...configChangeProblems(spec.kubeadmConfigSpec, old.kubeadmConfigSpec),
  ];
}

/** Parts of the configuration cannot be added or removed, and only some of their fields can change. */
function configChangeProblems(config: Spec["kubeadmConfigSpec"], old: Spec["kubeadmConfigSpec"]): AdmissionProblem[] {
  const path = "spec.kubeadmConfigSpec";
  if (isRemoved(config, old)) return [forbidden(path, "cannot be modified")];
  return Object.entries(CHANGEABLE).flatMap(([part, changeable]) => {
    const name = part as keyof typeof CHANGEABLE;
    if (isRemoved(config?.[name], old?.[name])) return [forbidden(`${path}.${name}`, "cannot be modified")];
    const patch = createMergePatch(old?.[name] ?? {}, config?.[name] ?? {});
    return Object.keys(isObject(patch) ? patch : {})
      .filter((field) => !changeable.includes(field))
      .map((field) => forbidden(`${path}.${name}.${field}`, "cannot be modified"));
  });
}

function isRemoved(part: object | undefined, before: object | undefined): boolean {
  return Object.keys(part ?? {}).length === 0 && Object.keys(before ?? {}).length > 0;
}
