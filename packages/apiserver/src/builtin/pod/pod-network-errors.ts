import { type FieldError, invalidValue, isDns1123Subdomain, required } from "@capstan/apimachinery";
import { isAddress } from "../ip.ts";
import { at, list, text, texts } from "../read.ts";

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_NAME = 253;
const SEARCH_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SEARCH = `${SEARCH_LABEL}(\\.${SEARCH_LABEL})*`;
const SEARCH_PATTERN = new RegExp(`^${SEARCH}$`);
const IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** What is wrong with the dnsConfig of a PodSpec. */
export function dnsConfigErrors(spec: unknown, path: string): FieldError[] {
  const config = at(spec, "dnsConfig");
  const here = `${path}.dnsConfig`;
  const nameservers = texts(at(config, "nameservers"));
  if (at(spec, "dnsPolicy") === "None") {
    if (config === undefined) return [required(here, "must provide `dnsConfig` when `dnsPolicy` is None")];
    if (nameservers.length === 0)
      return [required(`${here}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None")];
  }
  const errors: FieldError[] = [];
  if (nameservers.length > MAX_NAMESERVERS)
    errors.push(
      invalidValue(`${here}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`),
    );
  nameservers.forEach((ip, i) => {
    if (!isAddress(ip)) errors.push(invalidValue(`${here}.nameservers[${i}]`, ip, IP_TEXT));
  });
  errors.push(...searchErrors(texts(at(config, "searches")), `${here}.searches`));
  list(at(config, "options")).forEach((option, i) => {
    if (text(at(option, "name")) === "") errors.push(required(`${here}.options[${i}]`, "must not be empty"));
  });
  return errors;
}

function searchErrors(searches: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > MAX_SEARCHES)
    errors.push(invalidValue(path, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS)
    errors.push(
      invalidValue(
        path,
        searches,
        `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
      ),
    );
  searches.forEach((search, i) => {
    if (search === ".") return;
    const name = search.replace(/\.$/, "");
    errors.push(...searchNameProblems(name).map((m) => invalidValue(`${path}[${i}]`, name, m)));
  });
  return errors;
}

/** Search paths may have underscores. */
function searchNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > MAX_NAME) problems.push(`must be no more than ${MAX_NAME} characters`);
  if (!SEARCH_PATTERN.test(name))
    problems.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SEARCH}')`,
    );
  return problems;
}

/** What is wrong with the hostAliases of a PodSpec. */
export function hostAliasErrors(aliases: readonly unknown[], path: string): FieldError[] {
  return aliases.flatMap((alias, i) => {
    const ip = text(at(alias, "ip"));
    const errors = isAddress(ip) ? [] : [invalidValue(`${path}[${i}].ip`, ip, IP_TEXT)];
    texts(at(alias, "hostnames")).forEach((name, j) => {
      errors.push(...isDns1123Subdomain(name).map((m) => invalidValue(`${path}[${i}].hostnames[${j}]`, name, m)));
    });
    return errors;
  });
}
