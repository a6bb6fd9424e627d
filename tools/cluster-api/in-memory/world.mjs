/** The world of a story with upstream's in-memory provider: its kinds, its workload cluster, and real time. */
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@capstan/apimachinery";
import { httpTransport, kubeconfigFromText } from "@capstan/runtime";

const API = "infrastructure.cluster.x-k8s.io/v1beta2";
const ETCD = "etcd.inmemory.infrastructure.cluster.x-k8s.io";
const PODS = "/api/v1/namespaces/kube-system/pods";
const PATIENCE_MS = 15 * 60_000;

/** What kubeadm would have written, where the provider writes nothing. */
const clusterConfiguration = (version) => `apiServer: {}
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
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: ${version}
networking:
  dnsDomain: cluster.local
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/16
proxy: {}
scheduler: {}
`;

export class InMemoryWorld {
  kinds = {
    cluster: "DevCluster",
    clusterTemplate: "DevClusterTemplate",
    machine: "DevMachine",
    template: "DevMachineTemplate",
  };
  #workload;
  #domains;
  #patientUntil = Date.now() + PATIENCE_MS;
  #configured = false;

  constructor({ client, namespace, version }) {
    this.client = client;
    this.namespace = namespace;
    this.version = version;
  }

  now = () => Date.now();
  sleep = (ms) => sleep(ms);
  lookMs = 250;

  checkPatience(step, { machines, plane }) {
    if (Date.now() < this.#patientUntil) return;
    const conditions = (plane?.status?.conditions ?? []).map(
      ({ type, status, reason, message }) => `${type}=${status} ${reason} ${message}`,
    );
    throw new Error(`after ${step} there are ${machines.length} Machines:\n${conditions.join("\n")}`);
  }

  infraCluster({ metadata, domains }) {
    this.#domains = domains;
    // Without any annotation the provider writes into a map that is nil.
    const annotated = { ...metadata, annotations: { note: "story" } };
    return { apiVersion: API, kind: "DevCluster", metadata: annotated, spec: { backend: { inMemory: {} } } };
  }

  template({ metadata, slow }) {
    const vm = slow ? { vm: { provisioning: { startupDuration: "24h" } } } : {};
    return {
      apiVersion: API,
      kind: "DevMachineTemplate",
      metadata,
      spec: { template: { spec: { backend: { inMemory: vm } } } },
    };
  }

  clusterTemplate({ metadata }) {
    const spec = { template: { spec: { backend: { inMemory: {} } } } };
    return { apiVersion: API, kind: "DevClusterTemplate", metadata, spec };
  }

  machine({ metadata }) {
    return { apiVersion: API, kind: "DevMachine", metadata, spec: { backend: { inMemory: {} } } };
  }

  /** Members as etcd reports them, or undefined while nothing answers. */
  async members() {
    await this.#offerDomains();
    const answer = await this.#request({ method: "GET", path: PODS });
    if (answer?.status !== 200) return undefined;
    await this.#writeClusterConfiguration();
    const members = (answer.body.items ?? [])
      .filter(({ metadata }) => metadata.labels?.component === "etcd")
      .filter(({ metadata }) => !(`${ETCD}/member-removed` in (metadata.annotations ?? {})))
      .map(({ metadata }) => ({
        name: metadata.name.replace(/^etcd-/, ""),
        since: metadata.annotations?.[`${ETCD}/leader-from`] ?? "",
      }));
    const last = members
      .map(({ since }) => since)
      .sort()
      .at(-1);
    const leader = members.find(({ since }) => since !== "" && since === last);
    return members.map((member) => ({ name: member.name, leader: member === leader }));
  }

  /** The provider offers none; core copies what the status says. */
  async #offerDomains() {
    if (this.#domains === undefined) return;
    const target = { apiVersion: API, kind: "DevCluster", metadata: { name: "c", namespace: this.namespace } };
    await this.client.patchStatus(target, { status: { failureDomains: this.#domains } });
    this.#domains = undefined;
  }

  async #writeClusterConfiguration() {
    if (this.#configured) return;
    const path = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
    const answer = await this.#patch(path, { data: { ClusterConfiguration: clusterConfiguration(this.version) } });
    this.#configured = answer?.status === 200;
  }

  async workloadState() {
    const read = async (path) => (await this.#request({ method: "GET", path }))?.body;
    const kubeadm = await read("/api/v1/namespaces/kube-system/configmaps/kubeadm-config");
    const proxy = await read("/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy");
    return {
      kubeadmConfig: kubeadm?.data?.ClusterConfiguration ?? null,
      kubeProxy: proxy?.spec?.template.spec.containers[0].image ?? null,
    };
  }

  async component(component, node, ready) {
    const status = { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
    this.#must(await this.#patch(`${PODS}/${component}-${node}`, { status }));
  }

  async ghost(name) {
    const { body } = await this.#request({ method: "GET", path: PODS });
    const etcd = body.items.find(({ metadata }) => metadata.labels?.component === "etcd");
    const annotations = {
      [`${ETCD}/cluster-id`]: etcd.metadata.annotations[`${ETCD}/cluster-id`],
      [`${ETCD}/member-id`]: "77",
    };
    const metadata = { name: `etcd-${name}`, namespace: "kube-system", labels: etcd.metadata.labels, annotations };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: name } };
    this.#must(await this.#request({ method: "POST", path: PODS, body: pod }));
  }

  async setExpiry(machine, expiry) {
    // The control plane itself writes it once, from the certificate that the API server shows.
    const target = {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfig",
      metadata: { name: machine, namespace: this.namespace },
    };
    const annotations = { "machine.cluster.x-k8s.io/certificates-expiry": expiry };
    await this.client.patch(target, { metadata: { annotations } });
  }

  #patch(path, body) {
    return this.#request({ method: "PATCH", path, body, headers: { "content-type": "application/merge-patch+json" } });
  }

  #must(answer) {
    if (answer === undefined || answer.status >= 300)
      throw new Error(`the workload cluster answers ${JSON.stringify(answer?.body ?? "nothing")}`);
  }

  /** Undefined while there is no kubeconfig or nothing listens. */
  async #request(request) {
    try {
      this.#workload ??= await this.#connect();
      return await this.#workload?.request(request, AbortSignal.timeout(5000));
    } catch {
      return undefined;
    }
  }

  async #connect() {
    const kind = await this.client.kindOf({ apiVersion: "v1", kind: "Secret" });
    const secret = await this.client.get(kind, { namespace: this.namespace, name: "c-kubeconfig" });
    if (secret === undefined) return undefined;
    const text = Buffer.from(secret.data.value, "base64").toString();
    return httpTransport(await kubeconfigFromText(text, { clock: systemClock }), { clock: systemClock });
  }

  async close() {
    await this.#workload?.close();
  }
}
