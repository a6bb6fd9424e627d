/** KubeadmConfig, KubeadmControlPlane and their templates: a case for each rule of upstream's webhooks. */
import { config, configTemplate, controlPlane, controlPlaneTemplate } from "./admission.objects.mjs";

const secret = (name, key) => ({ secret: { name, key } });
const withFiles = (...files) => ({ files });
const withDisks = (diskSetup, more = {}) => ({ diskSetup, ...more });
const partition = (more) => ({ device: "/dev/vdb", layout: true, ...more });
const filesystem = (more) => ({ device: "/dev/vdb", filesystem: "ext4", label: "x", ...more });
const layout = (...percentages) => ({
  device: "/dev/vdb",
  diskLayout: percentages.map((percentage) => ({ percentage })),
});
const discovery = (user) => ({
  joinConfiguration: { discovery: { file: { kubeConfigPath: "/x", kubeConfig: { user } } } },
});
const exec = { command: "/bin/token" };
const ignition = { format: "ignition" };
const healthCheckSeconds = (init, join) => ({
  initConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: init } },
  ...(join === undefined ? {} : { joinConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: join } } }),
});

/** Mistakes in what KubeadmConfig, its template, KubeadmControlPlane and its template all have. */
const MISTAKES = {
  "content twice": withFiles({ path: "/a", content: "x", contentFrom: secret("s", "k") }),
  "a file without a key": withFiles({ path: "/a", contentFrom: secret("s", "") }),
  "a file without a path": withFiles({ content: "x" }),
  "an unknown encoding": withFiles({ path: "/a", content: "x", encoding: "rot13" }),
  "a path twice": withFiles({ path: "/a", content: "x" }, { path: "/a", content: "y" }),
  "a password twice": { users: [{ name: "u", passwd: "x", passwdFrom: secret("s", "k") }] },
  "a password from nowhere": { users: [{ name: "u", passwdFrom: secret("", "k") }] },
  "a user without a name": { users: [{ gecos: "x" }] },
  "an unknown format": { format: "kickstart" },
  "Ignition of cloud-init": { ignition: { containerLinuxConfig: { additionalConfig: "x" } } },
  "an inactive user in Ignition": { ...ignition, users: [{ name: "u", inactive: true }] },
  "a compressed file in Ignition": { ...ignition, ...withFiles({ path: "/a", content: "x", encoding: "gzip" }) },
  "boot commands in Ignition": { ...ignition, bootCommands: ["x"] },
  "an MBR in Ignition": { ...ignition, ...withDisks({ partitions: [partition({ tableType: "mbr" })] }) },
  "a replaced filesystem in Ignition": {
    ...ignition,
    ...withDisks({ filesystems: [filesystem({ replaceFS: "ntfs" })] }),
  },
  "a partition of a filesystem in Ignition": {
    ...ignition,
    ...withDisks({ filesystems: [filesystem({ partition: "auto" })] }),
  },
  "an unknown partition table": withDisks({ partitions: [partition({ tableType: "apm" })] }),
  "partitions beyond the disk": withDisks({ partitions: [layout(60, 50)] }),
  "a partition of nothing": withDisks({ partitions: [layout(0)] }),
  "a partition that is both whole and parts": withDisks({ partitions: [{ ...layout(50), layout: true }] }),
  "a partition that is neither": withDisks({ partitions: [{ device: "/dev/vdb" }] }),
  "a partition of an unknown type": withDisks({
    partitions: [{ device: "/dev/vdb", diskLayout: [{ percentage: 10, partitionType: "Amiga" }] }],
  }),
  "two ways to sign in": discovery({ exec, authProvider: { name: "oidc" } }),
  "no way to sign in": discovery({}),
  "an argument twice": {
    joinConfiguration: {
      nodeRegistration: {
        kubeletExtraArgs: [
          { name: "v", value: "1" },
          { name: "v", value: "2" },
        ],
      },
    },
  },
  "an unknown pull policy": { joinConfiguration: { nodeRegistration: { imagePullPolicy: "Sometimes" } } },
  "an unknown algorithm": { clusterConfiguration: { encryptionAlgorithm: "DSA" } },
  "a token that is none": { initConfiguration: { bootstrapTokens: [{ token: "short" }] } },
  "a verbosity below nothing": { verbosity: -1 },
};

const inControlPlane = (kubeadmConfigSpec) => controlPlane({ kubeadmConfigSpec });
const inControlPlaneTemplate = (kubeadmConfigSpec) => controlPlaneTemplate({ kubeadmConfigSpec });

const everywhere = Object.entries(MISTAKES).flatMap(([mistake, spec]) => [
  [`KubeadmConfig with ${mistake}`, { create: config(spec) }],
  [`KubeadmConfigTemplate with ${mistake}`, { create: configTemplate(spec) }],
  [`KubeadmControlPlane with ${mistake}`, { create: inControlPlane(spec) }],
  [`KubeadmControlPlaneTemplate with ${mistake}`, { create: inControlPlaneTemplate(spec) }],
]);

const dns = (imageTag, metadata) =>
  controlPlane({ kubeadmConfigSpec: { clusterConfiguration: { dns: { imageTag } } } }, metadata);
const migrated = (from, to, metadata) => ({
  create: dns(from, metadata),
  change: { spec: { kubeadmConfigSpec: { clusterConfiguration: { dns: { imageTag: to } } } } },
});
/** Every version there may be, to find those that upstream knows a way to. */
const coreDns = Object.fromEntries(
  Array.from({ length: 15 }, (_, minor) => minor + 1).flatMap((minor) =>
    Array.from({ length: 10 }, (_, patch) => {
      const version = `v1.${minor}.${patch}`;
      return [`CoreDNS from v1.1.3 to ${version}`, migrated("v1.1.3", version)];
    }),
  ),
);
const changed = (before, after) => ({ create: inControlPlane(before), change: { spec: { kubeadmConfigSpec: after } } });
const external = { endpoints: ["https://e:2379"], caFile: "a", certFile: "b", keyFile: "c" };
const ofEtcd = (etcd) => ({ clusterConfiguration: { etcd } });
const surging = (maxSurge) => ({ rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge } } } });
const uninitialized = [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule", propagation: "Always" }];
const machines = (spec, metadata) => {
  const { infrastructureRef } = controlPlane({}).spec.machineTemplate.spec;
  return { machineTemplate: { ...(metadata === undefined ? {} : { metadata }), spec: { infrastructureRef, ...spec } } };
};
const validity = (certificateValidityPeriodDays, more = {}) => ({
  clusterConfiguration: { certificateValidityPeriodDays, ...more },
});
const renewed = (certificatesExpiryDays, more) => ({ rollout: { before: { certificatesExpiryDays }, ...more } });
/** Upstream reads the control plane from a cache: it must be there for a while. */
const scaled = (replicas, spec = {}) => ({
  given: [controlPlane(spec)],
  create: controlPlane(spec),
  change: { spec: { replicas } },
  subresource: "scale",
});

/** @type {Record<string, import("./admission.cases.mjs").AdmissionCase>} */
export const KUBEADM_CASES = {
  ...Object.fromEntries(everywhere),
  "KubeadmConfigTemplate is accepted": { create: configTemplate({ format: "cloud-config" }) },
  "KubeadmConfigTemplate changes": {
    create: configTemplate({ format: "cloud-config" }),
    change: { spec: { template: { spec: { preKubeadmCommands: ["x"] } } } },
  },
  "KubeadmConfigTemplate with bad labels": { create: configTemplate({}, { labels: { bad: "a b" } }) },
  "KubeadmConfigTemplate with bad annotations": { create: configTemplate({}, { annotations: { "a b": "" } }) },
  "KubeadmConfig with timeouts that differ": { create: config(healthCheckSeconds(60, 61)) },
  "KubeadmConfig gets content twice": {
    create: config(withFiles({ path: "/a", content: "x" })),
    change: { spec: withFiles({ path: "/a", content: "x", contentFrom: secret("s", "k") }) },
  },

  "KubeadmControlPlane without a number": {
    create: controlPlane({ replicas: undefined, version: "1.34.4" }),
    shows: ["spec.replicas", "spec.version", "spec.rollout"],
  },
  "KubeadmControlPlane with timeouts that differ": { create: inControlPlane(healthCheckSeconds(60, 61)) },
  "KubeadmControlPlane with one timeout": { create: inControlPlane(healthCheckSeconds(60)) },
  "KubeadmControlPlane with timeouts that agree": { create: inControlPlane(healthCheckSeconds(60, 60)) },
  "KubeadmControlPlane with even replicas and an external etcd": {
    create: controlPlane({ replicas: 2, kubeadmConfigSpec: ofEtcd({ external }) }),
  },
  "KubeadmControlPlane without infrastructure": {
    create: controlPlane({ machineTemplate: { spec: { infrastructureRef: { apiGroup: "", kind: "", name: "" } } } }),
  },
  "KubeadmControlPlane with a taint that is ours": { create: controlPlane(machines({ taints: uninitialized })) },
  "KubeadmControlPlane with bad machine labels": { create: controlPlane(machines({}, { labels: { bad: "a b" } })) },
  "KubeadmControlPlane with an unknown strategy": {
    create: controlPlane({ rollout: { strategy: { type: "OnDelete" } } }),
  },
  "KubeadmControlPlane that surges by a text": { create: controlPlane(surging("1")) },
  "KubeadmControlPlane that surges by a part": { create: controlPlane(surging("25%")) },
  "KubeadmControlPlane that scales in with enough": { create: controlPlane(surging(0)) },
  "KubeadmControlPlane with certificates of more than ten years": { create: inControlPlane(validity(3651)) },
  "KubeadmControlPlane with certificates of ten years": { create: inControlPlane(validity(3650)) },
  "KubeadmControlPlane with authorities for longer": {
    create: inControlPlane(validity(3651, { caCertificateValidityPeriodDays: 4000 })),
  },
  "KubeadmControlPlane that renews certificates in time": {
    create: controlPlane({ ...renewed(30), kubeadmConfigSpec: validity(90) }),
  },
  "KubeadmControlPlane that renews certificates at once": { create: controlPlane(renewed(1)) },
  "KubeadmControlPlane with a bad etcd tag": { create: inControlPlane(ofEtcd({ local: { imageTag: "v1@x" } })) },
  "KubeadmControlPlane leaves an external etcd": {
    create: inControlPlane(ofEtcd({ external })),
    change: { spec: { kubeadmConfigSpec: ofEtcd({ external: null, local: { dataDir: "/x" } }) } },
  },
  "KubeadmControlPlane changes its external etcd": {
    create: inControlPlane(ofEtcd({ external })),
    change: { spec: { kubeadmConfigSpec: ofEtcd({ external: { caFile: "z" } }) } },
  },
  "KubeadmControlPlane with a name of unknown parts": {
    create: controlPlane({ machineNaming: { template: "{{ .random }}-{{ .nope }}" } }),
  },
  "KubeadmControlPlane with names that are none": {
    create: controlPlane({ machineNaming: { template: "_{{ .random }}" } }),
  },
  "KubeadmControlPlane with a name template": {
    create: controlPlane({ machineNaming: { template: "{{ .kubeadmControlPlane.name }}-{{ .random }}" } }),
  },
  "KubeadmControlPlane rises by a minor version": {
    create: controlPlane({}),
    change: { spec: { version: "v1.35.9" } },
  },
  "KubeadmControlPlane falls by a minor version": {
    create: controlPlane({}),
    change: { spec: { version: "v1.33.0" } },
  },
  "KubeadmControlPlane rises to a pre-release too far": {
    create: controlPlane({}),
    change: { spec: { version: "v1.36.0-rc.1" } },
  },
  "KubeadmControlPlane changes what may change": changed(
    { format: "cloud-config" },
    {
      clusterConfiguration: {
        dns: { imageTag: "v1.12.1" },
        imageRepository: "other",
        featureGates: { A: true },
        apiServer: { certSANs: ["x"] },
        controllerManager: { extraArgs: [{ name: "v", value: "1" }] },
        scheduler: { extraArgs: [{ name: "v", value: "1" }] },
        etcd: { local: { dataDir: "/x" } },
        certificateValidityPeriodDays: 90,
        encryptionAlgorithm: "ECDSA-P256",
      },
      initConfiguration: {
        nodeRegistration: { name: "x" },
        patches: { directory: "/p" },
        skipPhases: ["x"],
        localAPIEndpoint: { bindPort: 1 },
        timeouts: { kubeletHealthCheckSeconds: 1 },
      },
      joinConfiguration: {
        nodeRegistration: { name: "x" },
        patches: { directory: "/p" },
        skipPhases: ["x"],
        caCertPath: "/x",
        controlPlane: { localAPIEndpoint: { bindPort: 1 } },
        discovery: { tlsBootstrapToken: "abcdef.0123456789abcdef" },
        timeouts: { kubeletHealthCheckSeconds: 1 },
      },
      ...withFiles({ path: "/a", content: "x" }),
      users: [{ name: "u" }],
      ntp: { enabled: true },
      mounts: [["a", "b"]],
      verbosity: 1,
      diskSetup: { filesystems: [filesystem({})] },
      bootCommands: ["x"],
      preKubeadmCommands: ["x"],
      postKubeadmCommands: ["x"],
    },
  ),
  "KubeadmControlPlane changes its authorities' life": changed(
    { format: "cloud-config" },
    { clusterConfiguration: { caCertificateValidityPeriodDays: 4000 } },
  ),
  "KubeadmControlPlane changes its endpoint": changed(
    { format: "cloud-config" },
    { clusterConfiguration: { controlPlaneEndpoint: "x:1" } },
  ),
  "KubeadmControlPlane loses its cluster configuration": changed(
    { clusterConfiguration: { imageRepository: "x" }, format: "cloud-config" },
    { clusterConfiguration: null },
  ),
  "KubeadmControlPlane loses its init configuration": changed(
    { initConfiguration: { skipPhases: ["x"] }, format: "cloud-config" },
    { initConfiguration: null },
  ),
  "KubeadmControlPlane loses its join configuration": changed(
    { joinConfiguration: { skipPhases: ["x"] }, format: "cloud-config" },
    { joinConfiguration: null },
  ),
  "KubeadmControlPlane loses its whole configuration": {
    create: inControlPlane({ format: "cloud-config" }),
    change: { spec: { kubeadmConfigSpec: null } },
  },

  ...coreDns,
  "CoreDNS rises": migrated("v1.11.1", "v1.12.0"),
  "CoreDNS rises over many versions": migrated("v1.6.5", "v1.14.2"),
  "CoreDNS rises within a vendor's builds": migrated("v1.12.0_vendor.1", "v1.12.0-vendor.2"),
  "CoreDNS rises from a vendor's build": migrated("v1.11.1_vendor.1", "v1.12.0-vendor.2"),
  "CoreDNS falls": migrated("v1.12.0", "v1.11.1"),
  "CoreDNS falls by annotation": migrated("v1.12.0", "v1.11.1", {
    annotations: { "controlplane.cluster.x-k8s.io/skip-coredns": "" },
  }),
  "CoreDNS rises to an unknown version": migrated("v1.12.0", "v1.99.0"),
  "CoreDNS rises to a version between": migrated("v1.11.1", "v1.11.2"),
  "CoreDNS rises from an unknown version": migrated("v1.0.1", "v1.12.0"),
  "CoreDNS stays at an unknown version": migrated("v1.99.0", "v1.99.0-build.2"),
  "CoreDNS rises from the first version": migrated("v1.1.3", "v1.14.7"),
  "CoreDNS rises by a short version": migrated("1.11", "v1.12.0"),
  "CoreDNS rises from its default": {
    create: controlPlane({}),
    change: { spec: { kubeadmConfigSpec: { clusterConfiguration: { dns: { imageTag: "v1.99.0" } } } } },
  },

  "Scale of a control plane to nothing": scaled(0),
  "Scale of a control plane below nothing": scaled(-1),
  "Scale of a control plane to an even number": scaled(4),
  "Scale of a control plane to an odd number": scaled(5),
  "Scale of a control plane with an external etcd": scaled(4, { kubeadmConfigSpec: ofEtcd({ external }) }),

  "KubeadmControlPlaneTemplate is accepted": { create: controlPlaneTemplate({}) },
  "KubeadmControlPlaneTemplate with timeouts that differ": {
    create: inControlPlaneTemplate(healthCheckSeconds(60, 61)),
  },
  "KubeadmControlPlaneTemplate with both kinds of etcd": {
    create: inControlPlaneTemplate(ofEtcd({ local: { dataDir: "/x" }, external })),
  },
  "KubeadmControlPlaneTemplate with a bad etcd tag": {
    create: inControlPlaneTemplate(ofEtcd({ local: { imageTag: "v1@x" } })),
  },
  "KubeadmControlPlaneTemplate with a DNS tag that is no version": {
    create: inControlPlaneTemplate({ clusterConfiguration: { dns: { imageTag: "latest" } } }),
  },
  "KubeadmControlPlaneTemplate that surges too much": { create: controlPlaneTemplate(surging(2)) },
  "KubeadmControlPlaneTemplate that scales in": { create: controlPlaneTemplate(surging(0)) },
  "KubeadmControlPlaneTemplate with certificates that outlive their authority": {
    create: controlPlaneTemplate({
      ...surging(1),
      kubeadmConfigSpec: validity(100, { caCertificateValidityPeriodDays: 50 }),
    }),
  },
  "KubeadmControlPlaneTemplate with such certificates and no strategy": {
    create: inControlPlaneTemplate(validity(100, { caCertificateValidityPeriodDays: 50 })),
  },
  "KubeadmControlPlaneTemplate that renews certificates before they are made": {
    create: controlPlaneTemplate({
      ...renewed(30, surging(1).rollout),
      kubeadmConfigSpec: validity(30),
    }),
  },
  "KubeadmControlPlaneTemplate with a bad name template": {
    create: controlPlaneTemplate({ machineNaming: { template: "x" } }),
  },
  "KubeadmControlPlaneTemplate with a taint that is ours": {
    create: controlPlaneTemplate({ machineTemplate: { spec: { taints: uninitialized } } }),
  },
  "KubeadmControlPlaneTemplate with bad machine labels": {
    create: controlPlaneTemplate({ machineTemplate: { metadata: { labels: { bad: "a b" } } } }),
  },
  "KubeadmControlPlaneTemplate with bad labels": { create: controlPlaneTemplate({}, { labels: { bad: "a b" } }) },
  "KubeadmControlPlaneTemplate changes": {
    create: controlPlaneTemplate({}),
    change: { spec: { template: { spec: { kubeadmConfigSpec: { verbosity: 3 } } } } },
  },
  "KubeadmControlPlaneTemplate changes its labels": {
    create: controlPlaneTemplate({}),
    change: { spec: { template: { metadata: { labels: { a: "b" } } } } },
  },
  "KubeadmControlPlaneTemplate loses an old default": {
    create: controlPlaneTemplate(surging(1)),
    change: { spec: { template: { spec: { rollout: null } } } },
  },
  "KubeadmControlPlaneTemplate gets an old default": {
    create: controlPlaneTemplate({}),
    change: { spec: { template: { spec: surging(1) } } },
  },
  "KubeadmControlPlaneTemplate gets the old default of its format": {
    create: controlPlaneTemplate({ kubeadmConfigSpec: { verbosity: 1 } }),
    change: { spec: { template: { spec: { kubeadmConfigSpec: { format: "cloud-config" } } } } },
  },
};
