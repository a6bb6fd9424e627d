const SUFFIX = ".machines.capstan.internal";
const SERVER = /^https:\/\/([a-z0-9.-]+)\.([a-z0-9-]+)\.machines\.capstan\.internal(?::\d+)?\/?$/;

/** Host name of the API of a cluster whose control plane machines are simulated; it means something in this process only. */
export function machinesHost(cluster: { readonly namespace: string; readonly name: string }): string {
  return `${cluster.name}.${cluster.namespace}${SUFFIX}`;
}

/** The owner of such a cluster among the embedded ones: a name that no object has, so that none can take its place. */
export function machinesOwner(cluster: { readonly namespace: string; readonly name: string }): string {
  return `${cluster.namespace}/machines:${cluster.name}`;
}

/** The owner of the cluster that a server's address names; undefined for every other address. */
export function machinesOwnerAt(server: string): string | undefined {
  const [, name, namespace] = SERVER.exec(server) ?? [];
  return name === undefined || namespace === undefined ? undefined : machinesOwner({ namespace, name });
}
