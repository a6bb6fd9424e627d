import { readFileSync } from "node:fs";
import { deepCopy, isObject } from "@capstan/apimachinery";
import type { ContractObject, KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";

/** The objects that a question whether a Machine is up to date is about. */
export interface UpToDateQuestion {
  readonly now: string;
  readonly controlPlane: KubeadmControlPlane;
  readonly machine: Machine;
  readonly kubeadmConfig?: KubeadmConfig;
  readonly infraMachine?: ContractObject;
  readonly templates: readonly ContractObject[];
}

/** What upstream answers: its reasons as the condition says them, or that it cannot decide. */
export interface UpToDateAnswer {
  readonly upToDate?: boolean;
  readonly messages?: readonly string[];
  readonly error?: string;
}

interface RecordedUpToDate {
  readonly bases: Readonly<Record<string, UpToDateQuestion>>;
  readonly cases: readonly {
    readonly name: string;
    readonly base: string;
    readonly set: Readonly<Record<string, unknown>>;
    readonly answer: UpToDateAnswer;
  }[];
}

/** Reads a recording of `tools/cluster-api/record-decisions.mjs`. */
export function recorded<T>(name: string): T {
  const file = new URL(`../../testdata/upstream/${name}.golden.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as T;
}

/** All questions whether a Machine is up to date, with upstream's answers. */
export function upToDateQuestions(): { name: string; question: UpToDateQuestion; answer: UpToDateAnswer }[] {
  const { bases, cases } = recorded<RecordedUpToDate>("up-to-date");
  return cases.map(({ name, base, set, answer }) => {
    const question = deepCopy(bases[base]);
    if (question === undefined) throw new Error(`${name}: no base ${base}`);
    for (const [path, value] of Object.entries(set)) setField(question as unknown as Fields, path.split("."), value);
    return { name, question, answer };
  });
}

type Fields = Record<string, unknown>;

/** Sets the field at a path; null removes it. */
function setField(object: Fields, [name = "", ...rest]: string[], value: unknown): void {
  if (rest.length > 0) {
    const inner = object[name];
    if (isObject(inner)) setField(inner as Fields, rest, value);
    else if (value !== null) setField((object[name] = {}), rest, value);
  } else if (value === null) delete object[name];
  else object[name] = value;
}
