import type { AdmissionCase } from "./admission.cases.mjs";

export declare const FOREIGN_CRDS: { apiVersion: string; kind: string; metadata: { name: string } }[];
export declare const TOPOLOGY_CASES: Record<string, AdmissionCase>;
