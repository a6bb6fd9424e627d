/** Questions what becomes of the objects that kubeadm wrote into a workload cluster. */
import { changes } from "./fields.mjs";

const KUBEADM = (name) => ({ metadata: { name, namespace: "kube-system" } });

/** As kubeadm writes it, in both versions that a supported release can have written. */
const V1BETA4 = `apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
caCertificateValidityPeriod: 87600h0m0s
certificateValidityPeriod: 8760h0m0s
certificatesDir: /etc/kubernetes/pki
clusterName: c
controlPlaneEndpoint: 10.0.0.1:6443
controllerManager: {}
dns: {}
encryptionAlgorithm: RSA-2048
etcd:
  local:
    dataDir: /var/lib/etcd
featureGates:
  ControlPlaneKubeletLocalMode: true
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.34.3
networking:
  dnsDomain: cluster.local
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
proxy: {}
scheduler: {}
`;
const V1BETA3 = `apiServer:
  extraArgs:
    authorization-mode: Node,RBAC
  timeoutForControlPlane: 4m0s
apiVersion: kubeadm.k8s.io/v1beta3
certificatesDir: /etc/kubernetes/pki
clusterName: c
controlPlaneEndpoint: 10.0.0.1:6443
controllerManager:
  extraArgs:
    cloud-provider: external
dns: {}
etcd:
  local:
    dataDir: /var/lib/etcd
    extraArgs:
      quota-backend-bytes: "8589934592"
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.30.4
networking:
  dnsDomain: cluster.local
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
scheduler: {}
`;
/** Set by hand everywhere, so that what the control plane does not want is seen to be removed. */
const EDITED = V1BETA4.replace(
  "apiServer: {}",
  "apiServer:\n  certSANs:\n  - edited\n  extraArgs:\n  - name: edited\n    value: x",
)
  .replace("controllerManager: {}", "controllerManager:\n  extraArgs:\n  - name: edited\n    value: x")
  .replace("scheduler: {}", "scheduler:\n  extraArgs:\n  - name: edited\n    value: x")
  .replace("dataDir: /var/lib/etcd", "dataDir: /edited")
  .replace("ControlPlaneKubeletLocalMode", "Edited")
  .replace("imageRepository: registry.k8s.io", "imageRepository: edited.example")
  .replace("proxy: {}", "proxy:\n  disabled: true")
  .replace("8760h0m0s", "9000h0m0s")
  .replace("RSA-2048", "RSA-4096");

const controlPlane = (version, clusterConfiguration, annotations) => ({
  metadata: { name: "cp", namespace: "default", ...(annotations === undefined ? {} : { annotations }) },
  spec: { version, kubeadmConfigSpec: clusterConfiguration === undefined ? {} : { clusterConfiguration } },
});
const kubeadmConfig = (text) => [{ ...KUBEADM("kubeadm-config"), data: { ClusterConfiguration: text } }];

/** All questions by name. */
export function cases(specSchema) {
  return new Map([...kubeadmConfigCases(specSchema), ...coreDnsCases(), ...kubeProxyCases(), ...permissionCases()]);
}

function* kubeadmConfigCases(specSchema) {
  const question = (text, version, configuration) => ({
    ask: "clusterConfiguration",
    controlPlane: controlPlane(version, configuration),
    configMaps: kubeadmConfig(text),
  });
  for (const { name, text, versions } of [
    { name: "v1beta3", text: V1BETA3, versions: ["v1.30.4", "v1.30.5", "v1.31.0", "v1.31.0-rc.1"] },
    {
      name: "v1beta4",
      text: V1BETA4,
      versions: ["v1.34.3", "v1.35.0", "v1.36.0-beta.0", "v1.36.0", "v1.37.1+vendor.1"],
    },
    { name: "edited v1beta4", text: EDITED, versions: ["v1.34.3", "v1.36.0"] },
  ]) {
    for (const version of versions) {
      yield [`kubeadm-config ${name} to ${version}, nothing configured`, question(text, version, undefined)];
      yield [`kubeadm-config ${name} to ${version}, empty configuration`, question(text, version, {})];
      yield [
        `kubeadm-config ${name} to ${version}, one image repository`,
        question(text, version, { imageRepository: "registry.example" }),
      ];
    }
  }
  const seen = new Set();
  for (const { path, to, way } of changes(specSchema.properties.clusterConfiguration, "")) {
    if (to === undefined || way === "zero added") continue;
    for (const [name, text, version] of [
      ["v1beta4", V1BETA4, "v1.37.1"],
      ["v1beta3", V1BETA3, "v1.30.4"],
    ]) {
      const configuration = path.split(".").reduceRight((value, field) => ({ [field]: value }), to);
      const key = JSON.stringify([name, configuration]);
      if (seen.has(key)) continue;
      seen.add(key);
      yield [`kubeadm-config ${name}: ${path} ${way}`, question(text, version, configuration)];
    }
  }
  yield ["kubeadm-config: not YAML", question("apiVersion: kubeadm.k8s.io/v1beta4\nkind: [", "v1.37.1", {})];
  yield ["kubeadm-config: unknown version", question(V1BETA4.replace("v1beta4", "v1beta9"), "v1.37.1", {})];
  yield ["kubeadm-config: unknown field", question(`${V1BETA4}unknown: 1\n`, "v1.37.1", {})];
  yield [
    "kubeadm-config: no ClusterConfiguration",
    { ...question("", "v1.37.1", {}), configMaps: [{ ...KUBEADM("kubeadm-config"), data: { other: "x" } }] },
  ];
}

const COREFILE = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`;
const OLD_COREFILE = `.:53 {
    errors
    health
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       upstream
       fallthrough in-addr.arpa ip6.arpa
    }
    prometheus :9153
    proxy . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`;
const BROKEN_COREFILE = ".:53 {\n    errors\n";

function coreDns(image, corefile, configuration, { annotations, version = "v1.37.1", kubeadm = V1BETA4 } = {}) {
  const containers = [{ name: "coredns", image, resources: {} }];
  const volumes = [
    {
      name: "config-volume",
      configMap: { name: "coredns", items: [{ key: "Corefile", path: "Corefile" }] },
    },
  ];
  return {
    ask: "coreDNS",
    controlPlane: controlPlane(version, configuration, annotations),
    configMaps: [
      ...kubeadmConfig(kubeadm),
      ...(corefile === undefined ? [] : [{ ...KUBEADM("coredns"), data: { Corefile: corefile } }]),
    ],
    ...(image === undefined
      ? {}
      : { deployment: { ...KUBEADM("coredns"), spec: { selector: {}, template: { spec: { containers, volumes } } } } }),
  };
}

function* coreDnsCases() {
  const dns = (imageTag, imageRepository) => ({ dns: { imageTag, ...(imageRepository ? { imageRepository } : {}) } });
  const standard = "registry.k8s.io/coredns/coredns";
  for (const [from, to] of [
    ["v1.11.1", "v1.11.3"],
    ["v1.11.3", "v1.12.1"],
    ["v1.12.1", "v1.12.4"],
    ["v1.12.4", "v1.13.1"],
    ["v1.13.1", "v1.14.2"],
    ["v1.12.1", "v1.12.1"],
    ["v1.12.1", "v1.11.3"],
    ["v1.12.1", "v1.12.1-vendor.1"],
    ["v1.12.1", "v9.9.9"],
    ["v0.9.9", "v1.12.1"],
    ["latest", "v1.12.1"],
    ["v1.12.1", "latest"],
    ["1.6.7", "1.8.0"],
    ["1.7.0", "v1.8.6"],
  ])
    yield [`CoreDNS ${from} to ${to}`, coreDns(`${standard}:${from}`, COREFILE, dns(to))];
  for (const [from, to] of [
    ["1.1.3", "1.2.6"],
    ["1.3.1", "1.4.0"],
    ["1.3.1", "1.5.0"],
    ["1.6.2", "1.7.0"],
    ["1.3.1", "1.12.1"],
  ])
    yield [`CoreDNS ${from} to ${to}, old Corefile`, coreDns(`k8s.gcr.io/coredns:${from}`, OLD_COREFILE, dns(to))];
  yield ["CoreDNS: a Corefile that cannot be read", coreDns(`${standard}:v1.11.3`, BROKEN_COREFILE, dns("v1.12.1"))];
  yield ["CoreDNS: repository of the DNS", coreDns(`${standard}:v1.11.3`, COREFILE, dns("v1.12.1", "dns.example/a/"))];
  yield [
    "CoreDNS: repository of everything",
    coreDns(`${standard}:v1.11.3`, COREFILE, { imageRepository: "all.example/b", ...dns("v1.12.1") }),
  ];
  yield [
    "CoreDNS: repository of everything and of the DNS",
    coreDns(`${standard}:v1.11.3`, COREFILE, { imageRepository: "all.example/b", ...dns("v1.12.1", "dns.example") }),
  ];
  yield [
    "CoreDNS: repository alone",
    coreDns(`${standard}:v1.11.3`, COREFILE, { dns: { imageRepository: "dns.example" } }),
  ];
  yield ["CoreDNS: renamed image", coreDns("k8s.gcr.io/coredns:1.7.0", COREFILE, dns("v1.8.0", "registry.k8s.io"))];
  yield [
    "CoreDNS: renamed image below 1.8",
    coreDns("k8s.gcr.io/coredns:1.6.7", COREFILE, dns("1.7.0", "registry.k8s.io")),
  ];
  yield ["CoreDNS: digest", coreDns(`${standard}@sha256:${"a".repeat(64)}`, COREFILE, dns("v1.12.1"))];
  yield ["CoreDNS: no tag", coreDns(standard, COREFILE, dns("v1.12.1"))];
  yield ["CoreDNS: nothing configured", coreDns(`${standard}:v1.11.3`, COREFILE, undefined)];
  yield ["CoreDNS: no DNS configured", coreDns(`${standard}:v1.11.3`, COREFILE, { imageRepository: "all.example" })];
  yield ["CoreDNS: no Deployment", coreDns(undefined, COREFILE, dns("v1.12.1"))];
  yield ["CoreDNS: no ConfigMap", coreDns(`${standard}:v1.11.3`, undefined, dns("v1.12.1"))];
  yield [
    "CoreDNS: skipped",
    coreDns(`${standard}:v1.11.3`, COREFILE, dns("v1.12.1"), {
      annotations: { "controlplane.cluster.x-k8s.io/skip-coredns": "" },
    }),
  ];
}

function* kubeProxyCases() {
  const question = (image, version, configuration, annotations) => ({
    ask: "kubeProxy",
    controlPlane: controlPlane(version, configuration, annotations),
    ...(image === undefined
      ? {}
      : {
          daemonSet: {
            ...KUBEADM("kube-proxy"),
            spec: { selector: {}, template: { spec: { containers: [{ name: "kube-proxy", image, resources: {} }] } } },
          },
        }),
  });
  const digest = `sha256:${"b".repeat(64)}`;
  for (const image of [
    "registry.k8s.io/kube-proxy:v1.36.0",
    "registry.k8s.io/kube-proxy:v1.37.1",
    "registry.example:5000/a/kube-proxy:v1.36.0",
    "kube-proxy",
    `registry.k8s.io/kube-proxy@${digest}`,
    `registry.k8s.io/kube-proxy:v1.36.0@${digest}`,
    "not an image",
  ]) {
    yield [`kube-proxy ${image}`, question(image, "v1.37.1", {})];
    yield [`kube-proxy ${image}, repository`, question(image, "v1.37.1", { imageRepository: "registry.example/k" })];
  }
  yield ["kube-proxy: build metadata", question("registry.k8s.io/kube-proxy:v1.36.0", "v1.37.1+vendor.1", {})];
  yield ["kube-proxy: no DaemonSet", question(undefined, "v1.37.1", {})];
  yield [
    "kube-proxy: skipped",
    question(
      "registry.k8s.io/kube-proxy:v1.36.0",
      "v1.37.1",
      {},
      { "controlplane.cluster.x-k8s.io/skip-kube-proxy": "" },
    ),
  ];
}

function* permissionCases() {
  for (const version of ["v1.28.0", "v1.29.0", "v1.34.3", "v1.36.0", "v1.37.1", "v1.38.0-rc.0", "v1.38.0"])
    yield [`permissions ${version}`, { ask: "permissions", controlPlane: controlPlane(version, {}) }];
}
