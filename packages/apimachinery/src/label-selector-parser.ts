import { badRequest } from "./errors.ts";
import { fieldErrorText, invalidValue } from "./field-error.ts";
import { type LabelOperator, type LabelRequirement, labelRequirement } from "./label-requirement.ts";
import { isQualifiedName } from "./names.ts";

/** Longest text that is parsed: URLs of servers are shorter anyway. */
const MAX_LENGTH = 64 * 1024;

type Token = { type: "id" | "op" | "end" | "error"; text: string };

const OPERATORS = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);
const SPACE = /[ \t\r\n]/;
const SYMBOL = /[=!(),><]/;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const c = text.charAt(at);
    if (c === "\0") break;
    if (SPACE.test(c)) {
      at++;
    } else if (SYMBOL.test(c)) {
      const two = text.slice(at, at + 2);
      const symbol = OPERATORS.has(two) ? two : c;
      tokens.push({ type: "op", text: symbol });
      at += symbol.length;
    } else {
      let end = at + 1;
      while (end < text.length && !SYMBOL.test(text.charAt(end)) && !SPACE.test(text.charAt(end))) end++;
      tokens.push({ type: "id", text: text.slice(at, end) });
      at = end;
    }
  }
  tokens.push({ type: "end", text: "" });
  return tokens;
}

/** Parses the grammar of label selectors: `a=b,c in (d,e),!f`. Throws BadRequest with upstream's message. */
export function parseRequirements(text: string): LabelRequirement[] {
  if (text.length > MAX_LENGTH) throw badRequest(`label selector is longer than ${MAX_LENGTH} characters: shorten it`);
  const tokens = new Tokens(tokenize(text));
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const next = tokens.peek();
    if (next.type === "end") return requirements;
    if (!startsRequirement(next)) {
      throw badRequest(`found '${next.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(tokens));
    const separator = tokens.take();
    if (separator.type === "end") return requirements;
    if (separator.text !== ",") throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    const after = tokens.peek();
    if (!startsRequirement(after)) throw badRequest(`found '${after.text}', expected: identifier after ','`);
  }
}

function startsRequirement(token: Token): boolean {
  return token.type === "id" || token.text === "!";
}

class Tokens {
  #at = 0;
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  take(): Token {
    return this.#tokens[this.#at++] ?? END;
  }
}

const END: Token = { type: "end", text: "" };

function fail(detail: string): never {
  throw badRequest(`unable to parse requirement: ${detail}`);
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  let token = tokens.take();
  const negated = token.text === "!";
  if (negated) token = tokens.take();
  if (token.type !== "id") fail(`found '${token.text}', expected: identifier`);
  const key = token.text;
  const keyErrors = isQualifiedName(key);
  if (keyErrors.length > 0) fail(fieldErrorText(invalidValue("<nil>", key, keyErrors.join("; "))));
  const next = tokens.peek();
  const atEnd = next.type === "end" || next.text === ",";
  if (negated) return requirement(key, "!", []);
  if (atEnd) return requirement(key, "exists", []);
  const operator = parseOperator(tokens);
  const values = operator === "in" || operator === "notin" ? parseValues(tokens) : parseExactValue(tokens);
  return requirement(key, operator, values);
}

function requirement(key: string, operator: LabelOperator, values: string[]): LabelRequirement {
  try {
    return labelRequirement(key, operator, values);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const BINARY = new Map<string, LabelOperator>([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

function parseOperator(tokens: Tokens): LabelOperator {
  const token = tokens.take();
  return BINARY.get(token.text) ?? fail(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
}

function parseExactValue(tokens: Tokens): string[] {
  const next = tokens.peek();
  if (next.type === "end" || next.text === ",") return [""];
  const token = tokens.take();
  return token.type === "id" ? [token.text] : fail(`found '${token.text}', expected: identifier`);
}

function parseValues(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open.text !== "(") fail(`found '${open.text}' expected: '('`);
  const first = tokens.peek();
  if (first.text === ")") {
    tokens.take();
    return [""];
  }
  if (first.type !== "id" && first.text !== ",") fail(`found '${first.text}', expected: ',', ')' or identifier`);
  const values = new Set<string>();
  // A comma without an adjacent identifier implies an empty value.
  let expectValue = true;
  for (;;) {
    const token = tokens.take();
    if (token.type === "id" && expectValue) {
      values.add(token.text);
      expectValue = false;
      const after = tokens.peek();
      if (after.text !== "," && after.text !== ")") fail(`found '${after.text}', expected: ',' or ')'`);
    } else if (token.text === ",") {
      if (expectValue) values.add("");
      expectValue = true;
    } else if (token.text === ")") {
      if (expectValue) values.add("");
      return [...values].sort();
    } else fail(`found '${token.text}', expected: ',', or identifier`);
  }
}
