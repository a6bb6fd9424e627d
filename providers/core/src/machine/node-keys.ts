import { compileRe2 } from "@capstan/apimachinery";

/** Additional labels and annotations of Machines to copy to their Nodes: patterns of keys in Go's regexp syntax. */
export interface NodeLabelSync {
  labels?: readonly string[];
  annotations?: readonly string[];
}

/** Decides which labels and annotations of a Machine are copied to its Node. */
export interface NodeKeys {
  label(key: string): boolean;
  annotation(key: string): boolean;
}

/** Returns upstream's selection plus the additional patterns; throws if a pattern is invalid. */
export function nodeKeys(also: NodeLabelSync = {}): NodeKeys {
  const [label, annotation] = [matcher(also.labels), matcher(also.annotations)];
  return {
    label: (key) => isNodeLabel(key) || label(key),
    annotation: (key) => isNodeAnnotation(key) || annotation(key),
  };
}

function matcher(patterns: readonly string[] = []): (key: string) => boolean {
  const compiled = patterns.map((pattern) => {
    const re2 = compileRe2(pattern);
    if (typeof re2 === "string") throw new Error(`${JSON.stringify(pattern)}: ${re2}`);
    return re2;
  });
  return (key) => compiled.some((re2) => re2.matcher(key).find());
}

/** Labels with these prefixes and domains go to Nodes, as upstream has it. */
function isNodeLabel(key: string): boolean {
  const [prefix, name] = splitKey(key);
  if (name === undefined) return false;
  return (
    prefix === "node-role.kubernetes.io" ||
    inDomain(prefix, "node-restriction.kubernetes.io") ||
    inDomain(prefix, "node.cluster.x-k8s.io")
  );
}

function isNodeAnnotation(key: string): boolean {
  const [prefix, name] = splitKey(key);
  return name !== undefined && inDomain(prefix, "node.cluster.x-k8s.io");
}

function splitKey(key: string): [prefix: string, name: string | undefined] {
  const slash = key.indexOf("/");
  return slash < 0 ? ["", undefined] : [key.slice(0, slash), key.slice(slash + 1)];
}

function inDomain(prefix: string, domain: string): boolean {
  return prefix === domain || prefix.endsWith(`.${domain}`);
}
