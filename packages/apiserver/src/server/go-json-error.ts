/** What a scanner of Go's encoding/json expects next. */
type Place =
  | "looking for beginning of value"
  | "looking for beginning of object key string"
  | "after object key"
  | "after object key:value pair"
  | "after array element"
  | "after top-level value";

const UNEXPECTED_END = "unexpected end of JSON input";

/**
 * The error Go's JSON decoder gives for a text that is not JSON; clients and people know these words. Assumes that the text is
 * broken, and walks it only to say where.
 */
export function goJsonError(text: string): string {
  const stack: ("object" | "array")[] = [];
  let place: Place = "looking for beginning of value";
  let emptyAllowed = false;
  let i = 0;
  const fail = (where: string): string => `invalid character ${quoteCharacter(text, i)} ${where}`;
  for (;;) {
    while (i < text.length && " \t\r\n".includes(text[i] ?? "")) i++;
    if (i >= text.length) return UNEXPECTED_END;
    const c = text[i] ?? "";
    if (place === "after top-level value") return fail(place);
    if (place === "after object key") {
      if (c !== ":") return fail(place);
      place = "looking for beginning of value";
      emptyAllowed = false;
      i++;
      continue;
    }
    if (place === "after object key:value pair" || place === "after array element") {
      const close = place === "after array element" ? "]" : "}";
      if (c === ",") {
        place =
          place === "after array element"
            ? "looking for beginning of value"
            : "looking for beginning of object key string";
        emptyAllowed = false;
      } else if (c === close) {
        stack.pop();
        place = after(stack);
      } else return fail(place);
      i++;
      continue;
    }
    if (place === "looking for beginning of object key string") {
      if (c === "}" && emptyAllowed) {
        stack.pop();
        place = after(stack);
        i++;
        continue;
      }
      if (c !== '"') return fail(place);
    }
    if (c === "]" && emptyAllowed && stack[stack.length - 1] === "array") {
      stack.pop();
      place = after(stack);
      i++;
      continue;
    }
    if (c === "{" || c === "[") {
      stack.push(c === "{" ? "object" : "array");
      place = c === "{" ? "looking for beginning of object key string" : "looking for beginning of value";
      emptyAllowed = true;
      i++;
      continue;
    }
    const key: boolean = place === "looking for beginning of object key string";
    const end: number | string = scanScalar(text, i);
    if (typeof end === "string") return end;
    if (end === i) return fail(place);
    i = end;
    place = key ? "after object key" : after(stack);
  }
}

function after(stack: readonly string[]): Place {
  const top = stack[stack.length - 1];
  return top === undefined
    ? "after top-level value"
    : top === "object"
      ? "after object key:value pair"
      : "after array element";
}

/** The end of a string, number or literal; the same index when none starts here; an error text when it is broken. */
function scanScalar(text: string, start: number): number | string {
  const c = text[start] ?? "";
  if (c === '"') return scanString(text, start + 1);
  for (const literal of ["true", "false", "null"]) {
    if (c !== literal[0]) continue;
    for (let i = 1; i < literal.length; i++) {
      if (start + i >= text.length) return UNEXPECTED_END;
      if (text[start + i] !== literal[i]) {
        return `invalid character ${quoteCharacter(text, start + i)} in literal ${literal} (expecting '${literal[i] ?? ""}')`;
      }
    }
    return start + literal.length;
  }
  const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(text.slice(start, start + 400));
  if (number !== null) return start + number[0].length;
  if (c === "-")
    return start + 1 >= text.length
      ? UNEXPECTED_END
      : `invalid character ${quoteCharacter(text, start + 1)} in numeric literal`;
  return start;
}

function scanString(text: string, start: number): number | string {
  for (let i = start; i < text.length; i++) {
    const c = text[i] ?? "";
    if (c === '"') return i + 1;
    if (c < " ") return `invalid character ${quoteCharacter(text, i)} in string literal`;
    if (c !== "\\") continue;
    i++;
    if (i < text.length && !'"\\/bfnrtu'.includes(text[i] ?? "")) {
      return `invalid character ${quoteCharacter(text, i)} in string escape code`;
    }
  }
  return UNEXPECTED_END;
}

function quoteCharacter(text: string, at: number): string {
  const c = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (c === "'") return "'\\''";
  if (c === '"') return "'\"'";
  const known: Readonly<Record<string, string>> = {
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\\": "\\\\",
    "\0": "\\x00",
  };
  if (known[c] === undefined && !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(c))
    return `'\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}'`;
  return `'${known[c] ?? c}'`;
}

/** How upstream shows the body it could not read: the text of what looks like JSON, else its bytes. */
export function summarizeBody(bytes: Buffer): string {
  const MAX = 30;
  if (bytes.length === 0) return "<empty>";
  const encoding = bytes[0] === 0x7b ? "utf8" : "hex";
  return bytes.length > MAX ? `${bytes.toString(encoding, 0, MAX)} ...` : bytes.toString(encoding);
}
