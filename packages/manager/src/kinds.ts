import { kindsOf, PROVIDERS } from "./providers.ts";

/** Every kind that the providers of this manager serve. */
export const KINDS = kindsOf(PROVIDERS);
