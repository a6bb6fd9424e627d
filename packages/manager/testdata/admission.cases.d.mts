/** An object to create, and perhaps a merge patch to it. */
export declare const CASES: Record<string, { create: object; change?: object }>;
