import type { Child } from "./children.ts";

/** Host and port of a cluster's API server. */
export interface Endpoint {
  host: string;
  port: number;
}

/** Returns the first endpoint that is set, in this order: the Cluster's, the MetaCluster's, the control plane's, the marked child's. */
export function chooseEndpoint(candidates: {
  cluster: Endpoint | undefined;
  own: Endpoint | undefined;
  controlPlane: Endpoint | undefined;
  children: readonly Child[];
}): Endpoint | undefined {
  const marked = candidates.children.find((child) => child.reference.controlPlane === true)?.endpoint;
  return candidates.cluster ?? candidates.own ?? candidates.controlPlane ?? marked;
}

/** Returns the children whose endpoint differs. It is never overwritten, because machines may already depend on it. */
export function mismatches(children: readonly Child[], endpoint: Endpoint | undefined): Child[] {
  if (endpoint === undefined) return [];
  return children.filter((child) => child.endpoint !== undefined && !same(child.endpoint, endpoint));
}

/** Returns the children whose kind has an endpoint field that is not set yet. */
export function withoutEndpoint(children: readonly Child[]): Child[] {
  return children.filter((child) => child.takesEndpoint && child.object !== undefined && child.endpoint === undefined);
}

function same(a: Endpoint, b: Endpoint): boolean {
  return a.host === b.host && a.port === b.port;
}
