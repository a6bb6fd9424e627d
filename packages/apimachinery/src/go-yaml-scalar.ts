/** Where a scalar begins, where its folded lines continue, and whether it may be folded (keys may not). */
export interface Place {
  column: number;
  indent: number;
  foldable: boolean;
}

const WIDTH = 80;

/** Scalars that YAML 1.1 reads as something other than text. */
const WORDS =
  /^(?:~|null|Null|NULL|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF|true|True|TRUE|false|False|FALSE|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))?$/;
const NUMBER =
  /^(?:[-+]?(?:0x[0-9a-fA-F]+|0o?[0-7]+|0b[01]+|\d+|(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?)$/;
const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?)?$/;

/** A text as go-yaml writes it: plain, else in single quotes, else in double quotes. */
export function goScalar(text: string, place: Place): string {
  if (text.includes("\n") || !resolvesToText(text)) return doubleQuoted(text, place);
  if (plainAllowed(text)) return fold(text, text, place, 0);
  return printable(text)
    ? fold(text.replaceAll("'", "''"), `'${text.replaceAll("'", "''")}'`, place, 1)
    : doubleQuoted(text, place);
}

function resolvesToText(text: string): boolean {
  return !WORDS.test(text) && !NUMBER.test(text.replaceAll("_", "")) && !TIMESTAMP.test(text);
}

function plainAllowed(text: string): boolean {
  return (
    printable(text) &&
    !/^\s|\s$/.test(text) &&
    !/^(?:---|\.\.\.)/.test(text) &&
    !/^[#,[\]{}&*!|>'"%@`]/.test(text) &&
    !/^[-?:](?:\s|$)/.test(text) &&
    !/:(?:\s|$)/.test(text) &&
    !/\s#/.test(text)
  );
}

/** Tabs, line breaks and everything beyond the basic plane count as special here: only double quotes can show them. */
function printable(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff\u{10000}-\u{10ffff}]/u.test(text);
}

/** Breaks a long text at the first space after the width, as the emitter does while writing. */
function fold(body: string, whole: string, place: Place, quotes: number): string {
  if (!place.foldable || !body.includes(" ") || place.column + whole.length <= WIDTH) return whole;
  let column = place.column + quotes;
  let out = "";
  for (let i = 0; i < body.length; i++) {
    const space = body[i] === " ";
    const single = space && body[i - 1] !== " " && body[i + 1] !== " ";
    const inside = quotes === 0 || (i > 0 && i < body.length - 1);
    if (single && inside && column > WIDTH) {
      out += `\n${" ".repeat(place.indent)}`;
      column = place.indent;
    } else {
      out += body[i];
      column++;
    }
  }
  return quotes === 0 ? out : `'${out}'`;
}

const ESCAPES: Record<string, string> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\x85": "\\N",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function doubleQuoted(text: string, place: Place): string {
  const characters = Array.from(text);
  let out = "";
  let column = place.column + 1;
  characters.forEach((character, i) => {
    const inside = i > 0 && i < characters.length - 1;
    if (character === " " && place.foldable && inside && column > WIDTH && characters[i - 1] !== " ") {
      const rest = characters[i + 1] === " " ? "\\" : "";
      out += `\n${" ".repeat(place.indent)}${rest}`;
      column = place.indent + rest.length;
      return;
    }
    const escaped = escape(character);
    out += escaped;
    column += escaped.length;
  });
  return `"${out}"`;
}

function escape(character: string): string {
  const known = ESCAPES[character];
  if (known !== undefined) return known;
  if (printable(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** A text of several lines in literal style with the end of its last line; undefined where that style cannot hold it. */
export function literalScalar(text: string, indent: number): string | undefined {
  const lines = text.split("\n");
  if (!lines.every((line) => printable(line)) || lines.some((line) => line.endsWith(" "))) return undefined;
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const chomp = !text.endsWith("\n") ? "-" : text === "\n" || text.endsWith("\n\n") ? "+" : "";
  const body = text.endsWith("\n") ? lines.slice(0, -1) : lines;
  const margin = " ".repeat(indent);
  return `|${hint}${chomp}\n${body.map((line) => (line === "" ? "" : margin + line)).join("\n")}\n`;
}
