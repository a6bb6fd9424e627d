import type { Child } from "./children.ts";

export interface Endpoint {
  host: string;
  port: number;
}

/** The endpoint of the whole cluster; docs/architecture.md, "One cluster, many providers", has the order of the candidates. */
export function chooseEndpoint(candidates: {
  cluster: Endpoint | undefined;
  own: Endpoint | undefined;
  controlPlane: Endpoint | undefined;
  children: readonly Child[];
}): Endpoint | undefined {
  const marked = candidates.children.find((child) => child.reference.controlPlane === true)?.endpoint;
  return candidates.cluster ?? candidates.own ?? candidates.controlPlane ?? marked;
}

/** Children whose endpoint is another one: never overwritten, because machines may already depend on it. */
export function mismatches(children: readonly Child[], endpoint: Endpoint | undefined): Child[] {
  if (endpoint === undefined) return [];
  return children.filter((child) => child.endpoint !== undefined && !same(child.endpoint, endpoint));
}

/** Children that have room for an endpoint and none yet. */
export function withoutEndpoint(children: readonly Child[]): Child[] {
  return children.filter((child) => child.takesEndpoint && child.object !== undefined && child.endpoint === undefined);
}

function same(a: Endpoint, b: Endpoint): boolean {
  return a.host === b.host && a.port === b.port;
}
