import { goQuote, isObject, requestEntityTooLarge, trimEndOf } from "@capstan/apimachinery";
import { list, texts } from "../builtin/read.ts";
import type { RequestAttributes } from "../types.ts";

/** One rule of a Role or ClusterRole, every list present. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Reads the rules of a role without trusting its shape. */
export function rulesOf(value: unknown): readonly PolicyRule[] {
  return list(value)
    .filter(isObject)
    .map((rule) => ({
      verbs: texts(rule["verbs"]),
      apiGroups: texts(rule["apiGroups"]),
      resources: texts(rule["resources"]),
      resourceNames: texts(rule["resourceNames"]),
      nonResourceURLs: texts(rule["nonResourceURLs"]),
    }));
}

const has = (values: readonly string[], value: string): boolean => values.includes("*") || values.includes(value);

/** Whether a rule allows a request (rbac/v1 helpers: VerbMatches, APIGroupMatches, ResourceMatches, ResourceNameMatches). */
export function ruleAllows(rule: PolicyRule, request: RequestAttributes): boolean {
  if (!has(rule.verbs, request.verb)) return false;
  if (!request.isResource) return rule.nonResourceURLs.some((url) => urlCovers(url, request.path));
  return (
    has(rule.apiGroups, request.group) &&
    resourceMatches(rule, request.resource, request.subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name))
  );
}

function resourceMatches(rule: PolicyRule, resource: string, subresource: string): boolean {
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  return has(rule.resources, combined) || (subresource !== "" && rule.resources.includes(`*/${subresource}`));
}

function urlCovers(owner: string, path: string): boolean {
  return owner === path || owner === "*" || (owner.endsWith("*") && path.startsWith(trimEndOf(owner, "*")));
}

/** The parts of `wanted` that no rule of `held` covers, merged for printing. Empty when everything is held. */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const parts = wanted.reduce((sum, rule) => sum + partsOf(rule), 0);
  // The same held rule is often the answer for the next part too.
  let last: PolicyRule | undefined;
  let comparisons = 0;
  if (parts > MAX_PARTS) throw tooMuch();
  const missing = wanted.flatMap(breakDown).filter((part) => {
    if (last !== undefined && ruleCovers(last, part)) return false;
    const found = held.find((rule) => ruleCovers(rule, part));
    comparisons += found === undefined ? held.length : held.indexOf(found);
    if (comparisons > MAX_COMPARISONS) throw tooMuch();
    last = found;
    return found === undefined;
  });
  return compact(missing);
}

/** Groups, resources and verbs multiply: checking what a few kilobytes of rules may grant would take the server's memory. */
const MAX_PARTS = 20_000;
const MAX_COMPARISONS = 500_000;

function partsOf({ apiGroups, resources, verbs, resourceNames, nonResourceURLs }: PolicyRule): number {
  return (
    verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)
  );
}

function tooMuch(): Error {
  return requestEntityTooLarge("the rules are too many to check whether you hold them all: split the role");
}

const EMPTY: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

/** Splits a rule into parts with one verb, group, resource and name each (validation.BreakdownRule). */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = [];
  for (const group of rule.apiGroups)
    for (const resource of rule.resources)
      for (const verb of rule.verbs) {
        const part = { ...EMPTY, apiGroups: [group], resources: [resource], verbs: [verb] };
        if (rule.resourceNames.length === 0) parts.push(part);
        else for (const name of rule.resourceNames) parts.push({ ...part, resourceNames: [name] });
      }
  for (const url of rule.nonResourceURLs)
    for (const verb of rule.verbs) parts.push({ ...EMPTY, nonResourceURLs: [url], verbs: [verb] });
  return parts;
}

/** Whether `owner` allows everything a single-valued part does (validation.ruleCovers). */
function ruleCovers(owner: PolicyRule, part: PolicyRule): boolean {
  const covers = (held: readonly string[], wanted: readonly string[]): boolean => wanted.every((w) => has(held, w));
  return (
    covers(owner.verbs, part.verbs) &&
    covers(owner.apiGroups, part.apiGroups) &&
    part.resources.every((resource) => resourceCovers(owner.resources, resource)) &&
    part.nonResourceURLs.every((url) => owner.nonResourceURLs.some((held) => urlCovers(held, url))) &&
    (owner.resourceNames.length === 0 ||
      (part.resourceNames.length > 0 && part.resourceNames.every((name) => owner.resourceNames.includes(name))))
  );
}

function resourceCovers(held: readonly string[], resource: string): boolean {
  if (has(held, resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

/** Merges the verbs of parts about the same resource (validation.CompactRules); repeated verbs stay, as upstream prints them. */
function compact(parts: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, { rule: PolicyRule; verbs: string[] }>();
  const out: PolicyRule[] = [];
  for (const part of parts) {
    if (part.nonResourceURLs.length > 0) {
      out.push(part);
      continue;
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames]);
    const known = simple.get(key);
    if (known === undefined) simple.set(key, { rule: part, verbs: [...part.verbs] });
    else known.verbs.push(...part.verbs);
  }
  for (const { rule, verbs } of simple.values()) out.push({ ...rule, verbs });
  return out;
}

/** A rule as escalation errors print it, e.g. `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function ruleText(rule: PolicyRule): string {
  const parts: string[] = [];
  const add = (name: string, values: readonly string[]): void => {
    if (values.length > 0) parts.push(`${name}:${goStrings(values)}`);
  };
  add("APIGroups", rule.apiGroups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.nonResourceURLs);
  add("ResourceNames", rule.resourceNames);
  add("Verbs", rule.verbs);
  return `{${parts.join(", ")}}`;
}

/** A list of strings as Go's %q prints it. */
export function goStrings(values: readonly string[]): string {
  return `[${values.map(goQuote).join(" ")}]`;
}
