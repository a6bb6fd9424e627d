import { join } from "node:path";
import { advertisedAddress, type CertificateFiles } from "./certificates.ts";

/** Addresses, ports and folders that the flags of all components are made from. */
export interface ControlPlaneLayout {
  readonly dir: string;
  readonly files: CertificateFiles;
  readonly address: string;
  readonly clusterName: string;
  readonly serviceSubnet: string;
  readonly podSubnet: string;
  readonly ports: {
    readonly etcdClient: number;
    readonly etcdPeer: number;
    readonly etcdMetrics: number;
    readonly apiserver: number;
    readonly controllerManager: number;
    readonly scheduler: number;
  };
}

/** A single etcd member with TLS and client certificates, durable as kubeadm's. */
export function etcdFlags({ dir, files: { pki }, ports }: ControlPlaneLayout): string[] {
  const client = `https://127.0.0.1:${ports.etcdClient}`;
  const peer = `https://127.0.0.1:${ports.etcdPeer}`;
  return [
    "--name=real",
    `--data-dir=${join(dir, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=real=${peer}`,
    "--client-cert-auth=true",
    `--trusted-ca-file=${pki}/etcd/ca.crt`,
    `--cert-file=${pki}/etcd/server.crt`,
    `--key-file=${pki}/etcd/server.key`,
    "--peer-client-cert-auth=true",
    `--peer-trusted-ca-file=${pki}/etcd/ca.crt`,
    `--peer-cert-file=${pki}/etcd/peer.crt`,
    `--peer-key-file=${pki}/etcd/peer.key`,
    `--listen-metrics-urls=http://127.0.0.1:${ports.etcdMetrics}`,
  ];
}

/** kube-apiserver as kubeadm configures it, without a node. */
export function apiserverFlags({ files: { pki }, address, ports, serviceSubnet }: ControlPlaneLayout): string[] {
  return [
    `--advertise-address=${advertisedAddress(address)}`,
    `--bind-address=${address}`,
    `--secure-port=${ports.apiserver}`,
    "--allow-privileged=true",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    `--client-ca-file=${pki}/ca.crt`,
    `--tls-cert-file=${pki}/apiserver.crt`,
    `--tls-private-key-file=${pki}/apiserver.key`,
    `--etcd-servers=https://127.0.0.1:${ports.etcdClient}`,
    `--etcd-cafile=${pki}/etcd/ca.crt`,
    `--etcd-certfile=${pki}/apiserver-etcd-client.crt`,
    `--etcd-keyfile=${pki}/apiserver-etcd-client.key`,
    `--kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt`,
    `--kubelet-client-key=${pki}/apiserver-kubelet-client.key`,
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
    `--proxy-client-key-file=${pki}/front-proxy-client.key`,
    `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${pki}/sa.pub`,
    `--service-account-signing-key-file=${pki}/sa.key`,
    `--service-cluster-ip-range=${serviceSubnet}`,
    // With the default of none, SIGTERM with a watch open takes a minute.
    "--shutdown-watch-termination-grace-period=2s",
  ];
}

/** kube-controller-manager with the bootstrap controllers that kubeadm switches on. */
export function controllerManagerFlags(layout: ControlPlaneLayout): string[] {
  const { pki } = layout.files;
  return [
    ...kubeconfigFlags(layout, "controller-manager", layout.ports.controllerManager),
    `--client-ca-file=${pki}/ca.crt`,
    `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
    `--root-ca-file=${pki}/ca.crt`,
    `--cluster-signing-cert-file=${pki}/ca.crt`,
    `--cluster-signing-key-file=${pki}/ca.key`,
    `--service-account-private-key-file=${pki}/sa.key`,
    "--use-service-account-credentials=true",
    "--controllers=*,bootstrapsigner,tokencleaner",
    "--allocate-node-cidrs=true",
    `--cluster-cidr=${layout.podSubnet}`,
    `--service-cluster-ip-range=${layout.serviceSubnet}`,
    `--cluster-name=${layout.clusterName}`,
  ];
}

/** kube-scheduler with defaults. */
export function schedulerFlags(layout: ControlPlaneLayout): string[] {
  return kubeconfigFlags(layout, "scheduler", layout.ports.scheduler);
}

function kubeconfigFlags({ files }: ControlPlaneLayout, user: string, port: number): string[] {
  const kubeconfig = join(files.kubeconfigs, `${user}.conf`);
  return [
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
  ];
}
