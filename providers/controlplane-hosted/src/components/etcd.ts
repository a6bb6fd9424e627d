import { type EtcdMember, initialCluster } from "@capstan/etcd";
import { type ComponentContext, renderFlags } from "./context.ts";

/** Returns the command line of an etcd member. */
export function etcdArguments(context: ComponentContext, member: EtcdMember): string[] {
  const quota = context.spec.etcd?.quotaBytes;
  return renderFlags(
    [
      ["name", member.name],
      ["data-dir", "$DATA"],
      ["listen-client-urls", member.listenClientUrl ?? member.clientUrl],
      ["advertise-client-urls", member.clientUrl],
      ["listen-peer-urls", member.listenPeerUrl ?? member.peerUrl],
      ["initial-advertise-peer-urls", member.peerUrl],
      ["initial-cluster", member.initialCluster ?? initialCluster(context.etcd)],
      ...(member.joins === true ? ([["initial-cluster-state", "existing"]] as const) : []),
      ["listen-metrics-urls", member.metricsUrl],
      ["client-cert-auth", "true"],
      ["trusted-ca-file", "$FILES/etcd/ca.crt"],
      ["cert-file", "$FILES/etcd/server.crt"],
      ["key-file", "$FILES/etcd/server.key"],
      ["peer-client-cert-auth", "true"],
      ["peer-trusted-ca-file", "$FILES/etcd/ca.crt"],
      ["peer-cert-file", "$FILES/etcd/peer.crt"],
      ["peer-key-file", "$FILES/etcd/peer.key"],
      ["snapshot-count", "10000"],
      ...(quota === undefined ? [] : ([["quota-backend-bytes", String(quota)]] as const)),
    ],
    context.spec.etcd?.extraArgs,
  );
}

/** Files that etcd needs, relative to `$FILES`. */
export const ETCD_FILES = ["etcd/ca.crt", "etcd/server.crt", "etcd/server.key", "etcd/peer.crt", "etcd/peer.key"];
