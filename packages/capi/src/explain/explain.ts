import { remedyFor } from "./remedies.ts";
import { type Cause, linksOf, type ObjectNode } from "./why.ts";

/** Why something is not well, for a person: the chain of causes, the last one in a plain sentence, and what to do about it. */
export interface Explanation {
  chain: Cause[];
  /** The root cause in one sentence. */
  cause: string;
  /** What to do, first things first; a command stands at the end, after a colon. */
  steps: string[];
}

/** Explains an object of a cluster, usually the Cluster itself; undefined when there is nothing to explain. */
export function explain(root: ObjectNode, namespace: string, cluster = root.name): Explanation | undefined {
  const links = linksOf(root);
  const last = links.at(-1);
  if (last === undefined) return undefined;
  const scope = {
    cluster,
    flags: namespace === "default" ? "" : ` -n ${namespace}`,
    machine: links.find(({ cause }) => cause.kind === "Machine")?.cause.name,
  };
  return { chain: links.map(({ cause }) => cause), ...remedyFor(last, scope) };
}
