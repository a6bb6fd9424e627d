import type { Client } from "@capstan/runtime";
import type { AdmissionCase } from "./admission.cases.mjs";

/** What a server said: an acceptance has no reason and no fields. */
export interface AdmissionAnswer {
  code: number;
  reason: string;
  fields: string[];
  message: string;
  /** What a case wanted to see of the accepted object. */
  values?: Record<string, unknown>;
}

export declare function ask(
  client: Client,
  question: AdmissionCase,
  where: { namespace: string; ready?: (given: object[]) => Promise<void> },
): Promise<AdmissionAnswer>;
