import {
  type ClusterPlan,
  POOL_STRATEGIES,
  type PoolShare,
  type PoolStrategy,
  versionProblem,
  type WorkerGroup,
} from "@capstan/capi";
import { type Offer, offerOf } from "../api/providers.ts";

/** The values of the wizard's fields, as typed. */
export interface PlanForm {
  readonly name: string;
  readonly namespace: string;
  readonly version: string;
  readonly placement: string;
  readonly groups: readonly GroupForm[];
  /** The groups are members of one WorkerPool. */
  readonly pooled: boolean;
  readonly pool: PoolForm;
}

/** The settings of a WorkerPool over all groups, as typed. */
export interface PoolForm {
  readonly name: string;
  readonly replicas: string;
  readonly strategy: PoolStrategy;
}

/** The settings of one worker group, as typed. */
export interface GroupForm {
  /** Identifies the group while it is edited. */
  readonly key: number;
  readonly name: string;
  /** Short name of the provider. */
  readonly provider: string;
  readonly replicas: string;
  /** `rack=1, disk=ssd` */
  readonly select: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Its part in a pool: min, max, cost or weight, as typed. */
  readonly share: Readonly<Record<ShareKey, string>>;
}

/** A setting of a pool member's share. */
export type ShareKey = keyof PoolShare;

/** Validation errors by field. */
export type FormProblems = Readonly<Record<string, string>>;

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const COUNT = /^\d{1,4}$/;
const COST = /^\d+(\.\d+)?$/;
const PAIR = /^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?=[-A-Za-z0-9_.]*$/;

/** Placements of a control plane; the empty one uses the manager's default. */
export const PLACEMENTS = ["", "Process", "Embedded", "Pods"] as const;

/** Returns a new form with default values. */
export function newForm(version: string, offers: readonly Offer[]): PlanForm {
  const [first] = offers;
  return {
    name: "",
    namespace: "default",
    version,
    placement: "",
    groups: first === undefined ? [] : [newGroup(1, first)],
    pooled: false,
    pool: { name: "workers", replicas: "2", strategy: POOL_STRATEGIES[0] },
  };
}

/** Returns a new worker group with default values. */
export function newGroup(key: number, offer: Offer): GroupForm {
  return {
    key,
    name: key === 1 ? "workers" : `workers-${key}`,
    provider: offer.name,
    replicas: "1",
    select: "",
    settings: usualSettings(offer),
    share: { min: "", max: "", cost: "", weight: "" },
  };
}

/** Returns the default values of a provider's fields. */
export function usualSettings({ workers }: Offer): Record<string, string> {
  return Object.fromEntries(
    Object.entries(workers.settings).flatMap(([key, { usual }]) => (usual === undefined ? [] : [[key, usual]])),
  );
}

/** Validates the form as far as the dashboard can; the server finds the other problems. */
export function problemsOf(form: PlanForm, offers: readonly Offer[]): FormProblems {
  const problems: Record<string, string> = {};
  const label = (field: string, text: string, max: number): void => {
    if (!LABEL.test(text) || text.length > max)
      problems[field] = `Lower-case letters, digits and dashes, at most ${max}`;
  };
  label("name", form.name, 63);
  label("namespace", form.namespace, 63);
  const unusable = versionProblem(form.version);
  if (unusable !== undefined) problems["version"] = unusable;
  if (form.pooled) {
    label("pool.name", form.pool.name, 40);
    if (!COUNT.test(form.pool.replicas)) problems["pool.replicas"] = "A number up to 9999";
    if (form.groups.length === 0) problems["pool.name"] = "A pool needs at least one group";
  }
  const names = new Set<string>();
  for (const group of form.groups) {
    const at = `groups.${group.key}`;
    label(`${at}.name`, group.name, 40);
    if (names.has(group.name)) problems[`${at}.name`] = "Another group has this name";
    names.add(group.name);
    if (!form.pooled && !COUNT.test(group.replicas)) problems[`${at}.replicas`] = "A number up to 9999";
    if (form.pooled)
      for (const [key, value] of Object.entries(group.share))
        if (value !== "" && !(key === "cost" ? COST : COUNT).test(value))
          problems[`${at}.${key}`] = key === "cost" ? "A price like 0.10" : "A number up to 9999";
    if (pairsOf(group.select) === undefined) problems[`${at}.select`] = "Labels like rack=1, disk=ssd";
    for (const [key, { required }] of Object.entries(offerOf(group.provider, offers)?.settings ?? {}))
      if (required === true && (group.settings[key] ?? "") === "")
        problems[`${at}.${key}`] = "Required by this provider";
  }
  return problems;
}

/** Parses labels from a text; undefined if it is not a list of key=value pairs. */
export function pairsOf(text: string): Record<string, string> | undefined {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  if (!parts.every((part) => PAIR.test(part))) return undefined;
  return Object.fromEntries(parts.map((part) => part.split("=", 2) as [string, string]));
}

/** Returns the plan that a form without problems describes. */
export function planOf(form: PlanForm, offers: readonly Offer[]): ClusterPlan {
  const memoryOnly =
    form.groups.length > 0 && form.groups.every((group) => offerOf(group.provider, offers)?.inMemory === true);
  const placement = form.placement === "" && memoryOnly ? "Embedded" : form.placement;
  return {
    name: form.name,
    namespace: form.namespace,
    version: form.version,
    ...(placement === "" ? {} : { placement }),
    podCidrs: ["10.244.0.0/16"],
    serviceCidrs: ["10.96.0.0/16"],
    labels: {},
    workers: form.groups.map(
      (group): WorkerGroup => ({
        name: group.name,
        provider: group.provider,
        replicas: Number(group.replicas),
        select: pairsOf(group.select) ?? {},
        settings: Object.fromEntries(Object.entries(group.settings).filter(([, value]) => value !== "")),
        ...(form.pooled ? shareOf(group) : {}),
      }),
    ),
    ...(form.pooled ? { pool: { ...form.pool, replicas: Number(form.pool.replicas) } } : {}),
  };
}

function shareOf({ share }: GroupForm): { share?: PoolShare } {
  const given = Object.entries(share).filter(([, value]) => value !== "");
  if (given.length === 0) return {};
  return { share: Object.fromEntries(given.map(([key, value]) => [key, key === "cost" ? value : Number(value)])) };
}

/** Returns the `capstan create cluster` command for a form, for use in scripts. */
export function commandOf(plan: ClusterPlan): string {
  const groups = plan.workers.map((group) => {
    const settings = Object.entries(group.settings).map(([key, value]) => `,${key}=${value}`);
    const select = Object.entries(group.select).map(([key, value]) => `,select.${key}=${value}`);
    const share = Object.entries(group.share ?? {}).map(([key, value]) => `,${key}=${String(value)}`);
    const replicas = plan.pool === undefined ? `,replicas=${group.replicas}` : "";
    const more = [replicas, ...settings, ...select, ...share].join("");
    return ` --workers name=${group.name},provider=${group.provider}${more}`;
  });
  const { pool } = plan;
  const pooled =
    pool === undefined ? "" : ` --pool name=${pool.name},replicas=${pool.replicas},strategy=${pool.strategy}`;
  const namespace = plan.namespace === "default" ? "" : ` -n ${plan.namespace}`;
  const placement = plan.placement === undefined ? "" : ` --placement ${plan.placement}`;
  return `capstan create cluster ${plan.name}${namespace} --kubernetes-version ${plan.version}${placement}${pooled}${groups.join("")}`;
}
