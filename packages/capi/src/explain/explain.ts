import type { Finding } from "./findings.ts";
import { isCapacity, type Level, NO_NETWORK } from "./patience.ts";
import { remedyFor, type Scope } from "./remedies.ts";
import type { Progress } from "./rollouts.ts";
import type { Cause } from "./why.ts";

/** One independent cause for a person: the chain that leads to it, the root in a plain sentence, and what to do about it. */
export interface Explanation {
  level: Level;
  chain: Cause[];
  /** The root cause in one sentence. */
  cause: string;
  /** What to do, first things first; a command stands at the end, after a colon. */
  steps: string[];
  progress?: Progress;
  /** Other objects with the same cause: the first few as `Kind/name`, and how many there are. */
  alike?: { names: string[]; count: number };
}

/** So many names of objects with the same cause are kept. */
const MAX_ALIKE = 10;

/** Explains findings in their order; those with the same cause and cure become one. */
export function explanations(findings: readonly Finding[], namespace: string, cluster: string): Explanation[] {
  const flags = namespace === "default" ? "" : ` -n ${namespace}`;
  const known = new Map<string, Explanation>();
  for (const finding of findings) {
    const { chain, root, level, progress } = finding;
    const key = `${level}/${likeness(root.cause)}`;
    const same = known.get(key);
    if (same !== undefined) {
      const { names, count } = same.alike ?? { names: [], count: 0 };
      const more = count < MAX_ALIKE ? [`${root.cause.kind}/${root.cause.name}`] : [];
      same.alike = { names: [...names, ...more], count: count + 1 };
      continue;
    }
    const scope: Scope = {
      cluster,
      flags,
      machine: chain.find(({ cause }) => cause.kind === "Machine")?.cause.name,
      stuck: level === "Degraded",
      progress,
    };
    known.set(key, {
      level,
      chain: chain.map(({ cause }) => cause),
      ...remedyFor(root, scope),
      ...(progress === undefined ? {} : { progress }),
    });
  }
  return [...known.values()];
}

/** The same text for causes that one cure removes. */
function likeness(cause: Cause): string {
  const { kind, name, condition, reason, message } = cause;
  if (kind === "Machine" && NO_NETWORK.test(message)) return "no pod network";
  const own = kind.endsWith("Host") || condition === "UpToDate" || condition === "Progressing" || message === "";
  if (own) return `${kind}/${name}/${condition}`;
  // Messages often carry the object's own name.
  return `${kind}/${isCapacity(cause) ? "" : condition}/${reason}/${message.replaceAll(name, "")}`;
}
