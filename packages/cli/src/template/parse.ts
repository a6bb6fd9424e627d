import { UserError } from "../command.ts";

/** A part of a template: literal text, or a variable substitution. */
export type TemplatePart = string | Substitution;

/** `${NAME}` or `${NAME<operator>arguments}`. */
export interface Substitution {
  name: string;
  /** Empty for a plain `${NAME}`. */
  operator: string;
  arguments: TemplatePart[];
}

const NAME = /[\p{L}\p{Nd}_]+/uy;

/**
 * Parses a template in clusterctl's syntax: `${VAR}` with defaults, cases, substrings, trims, replacements and lengths. `$VAR` is literal
 * text, and `$$` is a dollar sign.
 */
export function parseTemplate(text: string): TemplatePart[] {
  return new Parser(text).template();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  template(): TemplatePart[] {
    const parts: TemplatePart[] = [];
    while (this.#at < this.#text.length) {
      if (this.#take("${")) parts.push(this.#substitution());
      else parts.push(this.#literal(() => true, "$"));
    }
    return parts;
  }

  /** Text up to `${` or a character that is not accepted; `escapes` are the characters that doubling or a backslash escapes. */
  #literal(wanted: (char: string) => boolean, escapes: "" | "$" | "$\\"): string {
    let out = "";
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? "";
      const next = this.#text[this.#at + 1] ?? "";
      if (char === "$" && next === "{") break;
      const escaped =
        (char === "$" && next === "$" && escapes.includes("$")) ||
        (char === "\\" && (next === "/" || next === "\\") && escapes.includes("\\"));
      if (!escaped && !wanted(char)) break;
      out += escaped ? next : char;
      this.#at += escaped ? 2 : 1;
    }
    return out;
  }

  #substitution(): Substitution {
    if (this.#take("#")) {
      const name = this.#name("bad substitution");
      return this.#closed({ name, operator: "#", arguments: [] });
    }
    const name = this.#name("unable to parse variable name");
    const next = this.#text[this.#at] ?? "";
    switch (next) {
      case ":":
        return "=-?+".includes(this.#text[this.#at + 1] ?? " ")
          ? this.#default(name, this.#operator(2))
          : this.#substring(name);
      case "=":
        return this.#default(name, this.#operator(1));
      case ",":
      case "^":
        return this.#closed({ name, operator: this.#operatorOf(/[,^]{1,2}/y), arguments: [] });
      case "/":
        return this.#replacement(name);
      case "#":
      case "%": {
        const operator = this.#operatorOf(next === "#" ? /#{1,2}/y : /%{1,2}/y);
        return this.#closed({ name, operator, arguments: [this.#argument((char) => char !== "}", "")] });
      }
      default:
        if (!this.#take("}")) throw this.#bad("missing closing brace");
        return { name, operator: "", arguments: [] };
    }
  }

  #default(name: string, operator: string): Substitution {
    const parts: TemplatePart[] = [];
    while (this.#text[this.#at] !== "}") parts.push(this.#argument((char) => char !== "}", ""));
    return this.#closed({ name, operator, arguments: parts });
  }

  #substring(name: string): Substitution {
    const operator = this.#operator(1);
    const position = this.#argument((char) => char !== ":" && char !== "}", "");
    if (this.#take("}")) return { name, operator, arguments: [position] };
    if (this.#operatorOf(/:+/y) === "") throw this.#bad("bad substitution");
    return this.#closed({ name, operator, arguments: [position, this.#argument((char) => char !== "}", "")] });
  }

  #replacement(name: string): Substitution {
    const operator = this.#operatorOf(/\/[/#%]?/y);
    const pattern = this.#argument((char) => char !== "/", "$\\");
    if (this.#operatorOf(/\/+/y) === "") throw this.#bad("bad substitution");
    if (this.#text[this.#at] === "}") return this.#closed({ name, operator, arguments: [pattern] });
    const replacement = this.#argument((char) => char !== "}", "$\\");
    return this.#closed({ name, operator, arguments: [pattern, replacement] });
  }

  /** One argument: another substitution, or text that is not empty. */
  #argument(wanted: (char: string) => boolean, escapes: "" | "$\\"): TemplatePart {
    if (this.#take("${")) return this.#substitution();
    const text = this.#literal(wanted, escapes);
    if (text === "") throw this.#bad("unable to parse substitution within function");
    return text;
  }

  #name(problem: string): string {
    NAME.lastIndex = this.#at;
    const found = NAME.exec(this.#text)?.[0];
    if (found === undefined) throw this.#bad(problem);
    this.#at += found.length;
    return found;
  }

  #operator(length: number): string {
    this.#at += length;
    return this.#text.slice(this.#at - length, this.#at);
  }

  #operatorOf(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return this.#operator(pattern.exec(this.#text)?.[0].length ?? 0);
  }

  #closed(substitution: Substitution): Substitution {
    if (!this.#take("}")) throw this.#bad("bad substitution");
    return substitution;
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #bad(problem: string): UserError {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - before.lastIndexOf("\n");
    return new UserError(`template, line ${line}, column ${column}: ${problem}`, {
      hint: "text that begins with ${ is a variable; write $${ for the characters themselves",
    });
  }
}
