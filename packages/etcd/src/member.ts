/** An etcd member and its addresses. */
export interface EtcdMember {
  name: string;
  clientUrl: string;
  peerUrl: string;
  /** Listen address, where it differs from the advertised one. */
  listenClientUrl?: string;
  listenPeerUrl?: string;
  metricsUrl: string;
  /** Its `--initial-cluster`, where that is not simply all members. */
  initialCluster?: string;
  /** It joins a cluster that runs already. */
  joins?: boolean;
}

/** Returns the value of `--initial-cluster`: all members with their peer URLs. */
export function initialCluster(members: readonly EtcdMember[]): string {
  return members.map((member) => `${member.name}=${member.peerUrl}`).join(",");
}
