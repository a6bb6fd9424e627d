/** Rules for names, label keys and label values; each function returns Kubernetes' error messages; an empty list means valid. */

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;

const labelRegex = new RegExp(`^${LABEL}$`);
const subdomainRegex = new RegExp(`^${SUBDOMAIN}$`);
const dns1035Regex = new RegExp(`^${DNS1035}$`);
const qualifiedRegex = new RegExp(`^${QUALIFIED}$`);
const labelValueRegex = new RegExp(`^${LABEL_VALUE}$`);

const ENDS = "and must start and end with an alphanumeric character";
const LABEL_TEXT = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${ENDS}`;
const SUBDOMAIN_TEXT = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${ENDS}`;
const DNS1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const QUALIFIED_TEXT = `must consist of alphanumeric characters, '-', '_' or '.', ${ENDS}`;
const LABEL_VALUE_TEXT = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${ENDS}`;

function regexError(text: string, regex: string, ...examples: string[]): string {
  return `${text} (e.g. ${examples.map((e) => `'${e}', `).join(" or ")}regex used for validation is '${regex}')`;
}

/** Length in bytes, which is what Go's len() counts. */
function bytes(text: string): number {
  return Buffer.byteLength(text);
}

/** Label keys and values count in bytes, all other names in characters, as in Kubernetes' messages. */
function lengthError(text: string, max: number, unit: "bytes" | "characters" = "characters"): string[] {
  return bytes(text) > max ? [`must be no more than ${max} ${unit}`] : [];
}

/** RFC 1123 label: at most 63 of `a-z0-9-`. */
export function isDns1123Label(text: string): string[] {
  const errors = lengthError(text, 63);
  if (labelRegex.test(text)) return errors;
  if (subdomainRegex.test(text)) return [...errors, "must not contain dots"];
  return [...errors, regexError(LABEL_TEXT, LABEL, "my-name", "123-abc")];
}

/** RFC 1123 subdomain: labels joined by dots, at most 253. */
export function isDns1123Subdomain(text: string): string[] {
  return subdomainErrors(text, "characters");
}

function subdomainErrors(text: string, unit: "bytes" | "characters"): string[] {
  const errors = lengthError(text, 253, unit);
  return subdomainRegex.test(text) ? errors : [...errors, regexError(SUBDOMAIN_TEXT, SUBDOMAIN, "example.com")];
}

/** RFC 1035 label, as Service names and CRD short names must be. */
export function isDns1035Label(text: string): string[] {
  const errors = lengthError(text, 63);
  return dns1035Regex.test(text) ? errors : [...errors, regexError(DNS1035_TEXT, DNS1035, "my-name", "abc-123")];
}

/** A label or annotation key, a finalizer: `[prefix/]name`. */
export function isQualifiedName(text: string): string[] {
  const slash = text.indexOf("/");
  if (slash >= 0 && text.indexOf("/", slash + 1) >= 0) {
    const rule = regexError(QUALIFIED_TEXT, QUALIFIED, "MyName", "my.name", "123-abc");
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  if (slash === 0) errors.push("prefix part must be non-empty");
  else if (slash > 0) errors.push(...subdomainErrors(text.slice(0, slash), "bytes").map((e) => `prefix part ${e}`));
  const name = text.slice(slash + 1);
  if (name === "") errors.push("name part must be non-empty");
  else errors.push(...lengthError(name, 63, "bytes").map((e) => `name part ${e}`));
  if (!qualifiedRegex.test(name)) {
    errors.push(`name part ${regexError(QUALIFIED_TEXT, QUALIFIED, "MyName", "my.name", "123-abc")}`);
  }
  return errors;
}

/** A label's value: empty, or at most 63 letters, digits, `-`, `_`, `.`. */
export function isLabelValue(text: string): string[] {
  const errors = lengthError(text, 63, "bytes");
  if (labelValueRegex.test(text)) return errors;
  return [...errors, regexError(LABEL_VALUE_TEXT, LABEL_VALUE, "MyValue", "my_value", "12345")];
}

/** A name that can be a segment of a URL path; as prefix of a generated name `.` and `..` are fine. */
export function isPathSegment(text: string, prefix = false): string[] {
  if (!prefix && (text === "." || text === "..")) return [`may not be '${text}'`];
  return ["/", "%"].filter((c) => text.includes(c)).map((c) => `may not contain '${c}'`);
}
