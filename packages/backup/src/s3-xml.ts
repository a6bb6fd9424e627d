/** One object of a listing. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
}

/** A page of a listing. */
export interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins, if there is one. */
  readonly next: string | undefined;
}

/** The store gives at most so many in a page. */
const MAX_OBJECTS = 1_000;

/**
 * Parses a page of `ListObjectsV2`. S3's responses need only elements with text, so this reads the text once, in linear time whatever it
 * contains, and expands nothing but XML's five predefined entities.
 */
export function readListing(xml: string): ListingPage {
  const objects: ListedObject[] = [];
  let at = 0;
  for (;;) {
    const content = between(xml, at, "Contents");
    if (content === undefined) break;
    if (objects.length >= MAX_OBJECTS) throw new Error(`the store lists more than ${MAX_OBJECTS} objects in a page`);
    objects.push({ key: elementText(content.text, "Key") ?? "", size: Number(elementText(content.text, "Size") ?? 0) });
    at = content.end;
  }
  return { objects, next: elementText(xml, "NextContinuationToken") };
}

/** Returns the text of the first element with this name. */
export function elementText(xml: string, name: string): string | undefined {
  const found = between(xml, 0, name)?.text;
  if (found === undefined) return undefined;
  const quoted = found.trim();
  if (quoted.startsWith("<![CDATA[") && quoted.endsWith("]]>")) return quoted.slice(9, -3);
  if (found.includes("<")) return undefined;
  return found.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** What is between the next tags of a name. Ignores an unterminated element and everything after it. */
function between(xml: string, from: number, name: string): { text: string; end: number } | undefined {
  const open = `<${name}>`;
  const start = xml.indexOf(open, from);
  if (start < 0) return undefined;
  const close = `</${name}>`;
  const end = xml.indexOf(close, start + open.length);
  return end < 0 ? undefined : { text: xml.slice(start + open.length, end), end: end + close.length };
}
