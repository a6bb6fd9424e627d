/** Words that begin something which another word ends. */
const OPENING: Readonly<Record<string, string>> = {
  if: "fi",
  case: "esac",
  for: "done",
  while: "done",
  until: "done",
  "{": "}",
};
const CLOSING: ReadonlySet<string> = new Set(Object.values(OPENING));
/** Words after which another command follows. */
const LEADING: ReadonlySet<string> = new Set(["then", "do", "else", "elif", "if", "while", "until", "{", "!"]);

const MAX_DEPTH = 50;

/** Returns whether a word means something else to a shell than the program of its name. */
export function isReserved(word: string): boolean {
  return word in OPENING || CLOSING.has(word) || LEADING.has(word);
}

/**
 * Joins lines that are one command only together, such as the parts of an if: cloud-init runs all lines as one script, in which they may be
 * spread. After something that never ends all lines are left as they are. Reads every line at most twice.
 */
export function wholeCommands(lines: readonly string[]): string[][] {
  const reader = new Reader(lines.join("\n"));
  const commands: string[][] = [];
  for (let at = 0, end = 0; at < lines.length; ) {
    let next = at;
    do end += (lines[next++] ?? "").length + 1;
    while (next < lines.length && !reader.isWholeAt(end - 1));
    if (next > at + 1 && !reader.isWholeAt(end - 1)) return [...commands, ...lines.slice(at).map((line) => [line])];
    commands.push(lines.slice(at, next));
    at = next;
  }
  return commands;
}

/** Reads shell commands only as far as it takes to know where they end. */
class Reader {
  readonly #text: string;
  #at = 0;
  /** What has begun: the word that ends it, or a bracket. */
  readonly #stack: string[] = [];
  readonly #documents: { readonly end: string; readonly tabs: boolean }[] = [];
  #startsCommand = true;
  #continues = false;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads up to the end of a line, and returns whether commands end there. Must be called with growing offsets. */
  isWholeAt(end: number): boolean {
    while (this.#at < end) if (!this.#step()) this.#at = Number.POSITIVE_INFINITY;
    return this.#at === end && !this.#continues && this.#stack.length === 0 && this.#documents.length === 0;
  }

  /** Reads one token; false if the text ends inside of it. */
  #step(): boolean {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    const char = rest[0] ?? "";
    if (char === "\n") return this.#newline();
    if (char === " " || char === "\t") return this.#skip(1);
    if (char === "#") return this.#comment();
    if (rest.startsWith("<<")) return this.#document();
    if (rest.startsWith("&&") || rest.startsWith("||")) return this.#operator(2, true);
    if (char === "|") return this.#operator(1, true);
    if (char === ";" || char === "&") return this.#operator(1, false);
    if (char === "(") {
      this.#stack.push(")");
      return this.#operator(1, false);
    }
    if (char === ")") {
      // Otherwise it ends a pattern of a case.
      if (this.#stack.at(-1) === ")") this.#stack.pop();
      return this.#operator(1, false);
    }
    return this.#word();
  }

  #skip(count: number): true {
    this.#at += count;
    return true;
  }

  #operator(length: number, continues: boolean): true {
    this.#startsCommand = true;
    this.#continues = continues;
    return this.#skip(length);
  }

  #comment(): true {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
    return true;
  }

  #newline(): boolean {
    this.#at++;
    this.#startsCommand = true;
    while (this.#documents[0] !== undefined) {
      if (this.#at >= this.#text.length) return false;
      const { end, tabs } = this.#documents[0];
      const found = this.#text.indexOf("\n", this.#at);
      const line = this.#text.slice(this.#at, found < 0 ? undefined : found);
      const isLast = (tabs ? line.replace(/^\t+/, "") : line) === end;
      if (isLast) this.#documents.shift();
      // The end of the last line is the end of the command.
      this.#at = found < 0 ? this.#text.length : isLast && this.#documents.length === 0 ? found : found + 1;
    }
    return true;
  }

  #document(): true {
    const begin = /<<(-?)[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\])+)/y;
    begin.lastIndex = this.#at;
    const match = begin.exec(this.#text);
    if (match === null) return this.#skip(2);
    const [all, dash, word = ""] = match;
    this.#documents.push({ end: word.replaceAll(/['"\\]/g, ""), tabs: dash === "-" });
    return this.#skip(all.length);
  }

  #word(): boolean {
    const from = this.#at;
    while (this.#at < this.#text.length && !/[\s;&|()<]/.test(this.#text[this.#at] ?? ""))
      if (!this.#piece()) return false;
    // A lone redirection is passed over.
    if (this.#at === from) this.#at++;
    this.#continues = false;
    const word = this.#text.slice(from, this.#at);
    const starts = this.#startsCommand;
    this.#startsCommand = starts && (LEADING.has(word) || /^\w+=/.test(word));
    if (!starts) return true;
    if (CLOSING.has(word)) {
      if (this.#stack.at(-1) === word) this.#stack.pop();
    } else if (Object.hasOwn(OPENING, word)) this.#stack.push(OPENING[word] ?? "");
    return true;
  }

  /** Reads a character of a word, or what is quoted in it. */
  #piece(): boolean {
    const char = this.#text[this.#at];
    if (char === "'") return this.#until("'");
    if (char === '"' || char === "`") return this.#inner(() => this.#quoted(char));
    if (char === "\\") {
      this.#at += 2;
      // At the end of a text it joins the next line.
      return this.#at <= this.#text.length;
    }
    if (char === "$") return this.#inner(() => this.#expansion());
    return this.#skip(1);
  }

  /** Nobody writes more levels. */
  #inner(read: () => boolean): boolean {
    if (this.#depth >= MAX_DEPTH) return false;
    this.#depth++;
    const isClosed = read();
    this.#depth--;
    return isClosed;
  }

  #until(end: string): boolean {
    const found = this.#text.indexOf(end, this.#at + 1);
    this.#at = found + 1;
    return found >= 0;
  }

  #quoted(end: string): boolean {
    this.#at++;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at];
      if (char === end) return this.#skip(1);
      if (char === "'" || (char === "`" && end === "`")) this.#at++;
      else if (char === '"' && end === "`") this.#at++;
      else if (!this.#piece()) return false;
    }
    return false;
  }

  /** What is in brackets after a dollar, brackets in it included. */
  #expansion(): boolean {
    const open = this.#text[this.#at + 1];
    if (open !== "(" && open !== "{") return this.#skip(1);
    const close = open === "(" ? ")" : "}";
    this.#at += 2;
    for (let depth = 1; this.#at < this.#text.length; ) {
      const char = this.#text[this.#at];
      if (char === open) depth++;
      if (char === close && --depth === 0) return this.#skip(1);
      if (char === open || char === close) this.#at++;
      else if (!this.#piece()) return false;
    }
    return false;
  }
}
