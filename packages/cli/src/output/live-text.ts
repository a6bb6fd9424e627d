import type { CommandIo } from "../command.ts";

/** Text on standard error that is redrawn in place on a terminal; elsewhere only text printed with `line` appears. */
export class LiveText {
  readonly #io: CommandIo;
  #lines = 0;

  constructor(io: CommandIo) {
    this.#io = io;
  }

  /** Whether text is redrawn in place. */
  get live(): boolean {
    return this.#io.terminal?.redraw === true;
  }

  /** Draws the text in place of the previous one. */
  draw(text: string): void {
    if (!this.live) return;
    // A line that the terminal wraps would not be erased completely.
    const columns = this.#io.terminal?.columns ?? 0;
    // A terminal that does not know its width reports 0.
    const width = (columns === 0 ? 80 : Math.max(20, columns)) - 1;
    const lines = text.split("\n").map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line));
    this.#io.err(`${this.#erase()}${lines.join("\n")}\n`);
    this.#lines = lines.length;
  }

  /** Prints a line that stays. */
  line(text: string): void {
    this.#io.err(`${this.#erase()}${text}\n`);
    this.#lines = 0;
  }

  /** In place where that is possible, else as a line that stays. */
  show(text: string): void {
    if (this.live) this.draw(text);
    else this.line(text);
  }

  /** Erases the drawn text. */
  clear(): void {
    if (this.#lines > 0) this.#io.err(this.#erase());
    this.#lines = 0;
  }

  #erase(): string {
    return this.#lines === 0 ? "" : `\u001b[${this.#lines}A\u001b[0J`;
  }
}
