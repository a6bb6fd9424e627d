import { createHmac } from "node:crypto";
import { type Clock, formatTime, type Random, type Unstructured } from "@capstan/apimachinery";
import type { Node, WorkloadClusters } from "@capstan/capi";
import { type CertificateAndKey, createCertificateAuthority, publicKeyPin } from "@capstan/pki";
import { Client, kindRef, openDialGate } from "@capstan/runtime";
import { EmbeddedClusters } from "../embedded/embedded-clusters.ts";
import type { Connect } from "../simulated/discovery.ts";

const TOKEN_ID = "abcdef";
const TOKEN_SECRET = "0123456789abcdef";
const NodeKind = kindRef<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

/** A workload cluster that machines can join: one embedded API server with all that `kubeadm join` reads. */
export interface TestWorkload {
  readonly connect: Connect;
  readonly clusters: WorkloadClusters;
  /** A cloud-config as the kubeadm bootstrap provider writes it. */
  readonly cloudConfig: string;
  readonly client: Client;
  nodes(): Promise<Node[]>;
  /** Whether its API answers. */
  setReachable(reachable: boolean): void;
  close(): Promise<void>;
}

/** Starts one. */
export async function startWorkload(deps: { clock: Clock; random: Random }): Promise<TestWorkload> {
  const { clock, random } = deps;
  const notBeforeMs = clock.now();
  const ca = await createCertificateAuthority({ commonName: "kubernetes", notBeforeMs, validMs: 1e12, random });
  const all = new EmbeddedClusters({ clock, random, log: () => undefined, gate: openDialGate() });
  const cluster = await all.ensure("default/c1", { ca, serving: () => Promise.reject(new Error("nothing listens")) });
  const client = new Client(cluster.server.admin(), { fieldManager: "test", clock });
  for (const object of joinObjects(ca, cluster.path, clock)) await client.apply(object);
  const nodes = async (): Promise<Node[]> => (await client.list(NodeKind)).items;
  let known: Node[] = [];
  const refresh = cluster.server.internal.watch({ group: "", plural: "nodes" }, () => {
    known = cluster.server.internal.list({ group: "", plural: "nodes" }) as unknown as Node[];
  });
  return {
    client,
    nodes,
    connect: (config, hint) => {
      const transport = all.dial(config, hint);
      if (transport === undefined) throw new Error(`connect ECONNREFUSED ${config.server}`);
      return transport;
    },
    clusters: {
      get: () => ({
        state: "connected",
        since: 0,
        client,
        nodes: {
          list: () => known,
          get: (name) => known.find((node) => node.metadata.name === name),
          byProviderID: (id) => known.find((node) => node.spec?.providerID === id),
        },
      }),
      subscribe: () => () => undefined,
    },
    cloudConfig: cloudConfig(ca),
    setReachable: (reachable) => {
      cluster.reachable = reachable;
    },
    close: async () => {
      refresh();
      await all.close();
    },
  };
}

function joinObjects(ca: CertificateAndKey, path: string, clock: Clock): Unstructured[] {
  const kubeconfig = `apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: ${Buffer.from(ca.certPem).toString("base64")}\n    server: https://127.0.0.1:6443${path}\n  name: ""\nkind: Config\n`;
  const header = Buffer.from(`{"alg":"HS256","kid":"${TOKEN_ID}"}`).toString("base64url");
  const signature = createHmac("sha256", TOKEN_SECRET)
    .update(`${header}.${Buffer.from(kubeconfig).toString("base64url")}`)
    .digest("base64url");
  const rbac = "rbac.authorization.k8s.io";
  const bind = (name: string, role: string, ...groups: string[]): Unstructured => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
    subjects: groups.map((group) => ({ kind: "Group", name: group, apiGroup: rbac })),
  });
  const bootstrappers = "system:bootstrappers:kubeadm:default-node-token";
  const csr = "system:certificates.k8s.io:certificatesigningrequests:nodeclient";
  const configMap = (namespace: string, name: string, data: Record<string, string>): Unstructured => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace, name },
    data,
  });
  return [
    configMap("kube-public", "cluster-info", { kubeconfig, [`jws-kubeconfig-${TOKEN_ID}`]: `${header}..${signature}` }),
    configMap("kube-system", "kubeadm-config", { ClusterConfiguration: "" }),
    configMap("kube-system", "kubelet-config", { kubelet: "" }),
    bind("reads-everything", "view", bootstrappers, "system:unauthenticated"),
    bind("kubelet-bootstrap", "system:node-bootstrapper", bootstrappers),
    bind("autoapprove", csr, bootstrappers),
    bind("nodes", "system:node", "system:nodes"),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "kube-system", name: `bootstrap-token-${TOKEN_ID}` },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        "token-id": TOKEN_ID,
        "token-secret": TOKEN_SECRET,
        expiration: formatTime(clock.now() + 1e10),
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        "auth-extra-groups": bootstrappers,
      },
    },
  ];
}

function cloudConfig(ca: CertificateAndKey): string {
  return `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    owner: root:root
    permissions: '0640'
    content: |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: JoinConfiguration
      discovery:
        bootstrapToken:
          apiServerEndpoint: 127.0.0.1:6443
          caCertHashes:
          - ${publicKeyPin(ca.certPem)}
          token: ${TOKEN_ID}.${TOKEN_SECRET}
      nodeRegistration:
        name: '{{ ds.meta_data.local_hostname }}'
        taints:
        - effect: NoSchedule
          key: node.cluster.x-k8s.io/uninitialized
-   path: /run/cluster-api/placeholder
    owner: root:root
    permissions: '0640'
    content: "This placeholder file is used to create the /run/cluster-api sub directory"
runcmd:
  - 'kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml && echo success > /run/cluster-api/bootstrap-success.complete'
`;
}
