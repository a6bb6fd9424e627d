import { type ComponentContext, renderFlags } from "./context.ts";

/** etcd's command line for a single local member. */
export function etcdArguments(context: ComponentContext): string[] {
  const client = `https://127.0.0.1:${context.ports.etcdClient}`;
  const peer = `https://127.0.0.1:${context.ports.etcdPeer}`;
  return renderFlags(
    [
      ["name", "etcd-0"],
      ["data-dir", "$DATA"],
      ["listen-client-urls", client],
      ["advertise-client-urls", client],
      ["listen-peer-urls", peer],
      ["initial-advertise-peer-urls", peer],
      ["initial-cluster", `etcd-0=${peer}`],
      ["listen-metrics-urls", `http://127.0.0.1:${context.ports.etcdMetrics}`],
      ["client-cert-auth", "true"],
      ["trusted-ca-file", "$FILES/etcd/ca.crt"],
      ["cert-file", "$FILES/etcd/server.crt"],
      ["key-file", "$FILES/etcd/server.key"],
      ["peer-client-cert-auth", "true"],
      ["peer-trusted-ca-file", "$FILES/etcd/ca.crt"],
      ["peer-cert-file", "$FILES/etcd/peer.crt"],
      ["peer-key-file", "$FILES/etcd/peer.key"],
      ["snapshot-count", "10000"],
    ],
    context.spec.etcd?.extraArgs,
  );
}

export const ETCD_FILES = ["etcd/ca.crt", "etcd/server.crt", "etcd/server.key", "etcd/peer.crt", "etcd/peer.key"];
