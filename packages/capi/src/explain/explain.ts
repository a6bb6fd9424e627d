import type { ProviderDescription } from "../sdk/description.ts";
import type { Progress } from "./activity.ts";
import type { Finding } from "./findings.ts";
import { isHostKind } from "./host-kinds.ts";
import { isCapacity, type Level, NO_NETWORK } from "./patience.ts";
import { remedyFor, type Scope } from "./remedies.ts";
import type { Cause } from "./why.ts";

/** One independent cause: the chain that leads to it, the root in a plain sentence, and what to do about it. */
export interface Explanation {
  level: Level;
  chain: Cause[];
  /** The root cause in one sentence. */
  cause: string;
  /** Steps to take, in order; a command is at the end, after a colon. */
  steps: string[];
  progress?: Progress;
  /** Other objects with the same cause: the first few as `Kind/name`, and how many there are. */
  alike?: { names: string[]; count: number };
}

/** Maximum number of kept names of objects with the same cause. */
const MAX_ALIKE = 10;

/** Where the findings are from, and which providers may explain them. */
export interface ExplanationContext {
  readonly namespace: string;
  readonly cluster: string;
  readonly providers: readonly ProviderDescription[];
}

/** Explains findings in their order; those with the same cause and cure become one. */
export function explanations(
  findings: readonly Finding[],
  { namespace, cluster, providers }: ExplanationContext,
): Explanation[] {
  const flags = namespace === "default" ? "" : ` -n ${namespace}`;
  const known = new Map<string, Explanation>();
  for (const finding of findings) {
    const { chain, root, level, progress } = finding;
    const key = `${level}/${likeness(root.cause, providers)}`;
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
      providers,
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

/** Returns the same key for causes with the same remedy. */
function likeness(cause: Cause, providers: readonly ProviderDescription[]): string {
  const { kind, name, condition, reason, message } = cause;
  if (kind === "Machine" && NO_NETWORK.test(message)) return "no pod network";
  const own = isHostKind(kind) || condition === "UpToDate" || condition === "Progressing" || message === "";
  if (own) return `${kind}/${name}/${condition}`;
  // Messages often carry the object's own name.
  return `${kind}/${isCapacity(cause, providers) ? "" : condition}/${reason}/${message.replaceAll(name, "")}`;
}
