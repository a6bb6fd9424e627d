import { type ReasonCatalogue, SHARED_REASONS } from "@capstan/capi";
import { PROVIDERS } from "../providers.ts";

/** Where the reference of reasons is, relative to the repository. */
export const REASONS_PAGE = "docs/reference/reasons.md";

/** The catalogue of each provider, by the provider's title. */
async function reasonCatalogues(): Promise<Map<string, ReasonCatalogue>> {
  const catalogues = new Map<string, ReasonCatalogue>();
  for (const { title, reasons } of PROVIDERS) if (reasons !== undefined) catalogues.set(title, await reasons());
  return catalogues;
}

/** Renders the reference of the reasons of all conditions. */
export async function reasonsPage(): Promise<string> {
  const sections = [...(await reasonCatalogues())].map(([title, catalogue]) => section(title, catalogue));
  return [
    "<!-- Written by `npm run generate` from the catalogues of reasons of the providers. -->\n\n",
    "# Reasons of conditions\n\n",
    "`capstan why NAME` shows the condition at fault with its message and the next step. Without a cure nothing has to be done: the\n",
    "condition is good, or changes by itself.\n\n",
    section("All providers", SHARED_REASONS),
    ...sections,
  ].join("");
}

function section(title: string, catalogue: ReasonCatalogue): string {
  const rows = Object.entries(catalogue)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, { meaning, cure = "" }]) => `| \`${reason}\` | ${meaning} | ${cure} |\n`);
  return `## ${title}\n\n| reason | meaning | cure |\n|---|---|---|\n${rows.join("")}\n`;
}
