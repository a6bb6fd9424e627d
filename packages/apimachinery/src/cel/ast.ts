/** A literal's value: ints are bigint, doubles number, uints a wrapper. */
export type Literal = null | boolean | bigint | number | string | Uint8Array | { readonly uint: bigint };

/** Fields that every expression has: `id` keys tables of types and costs, `pos` is an offset into the source. */
interface Base {
  readonly id: number;
  readonly pos: number;
}

/** A parsed expression; macros are expanded into comprehensions as CEL defines them. */
export type Expr =
  | (Base & { readonly kind: "literal"; readonly value: Literal })
  | (Base & { readonly kind: "ident"; readonly name: string })
  | (Base & { readonly kind: "select"; readonly operand: Expr; readonly field: string; readonly testOnly: boolean })
  | (Base & { readonly kind: "call"; readonly fn: string; readonly target?: Expr; readonly args: readonly Expr[] })
  | (Base & { readonly kind: "list"; readonly elements: readonly Expr[]; readonly optional: ReadonlySet<number> })
  | (Base & { readonly kind: "map"; readonly entries: readonly MapEntry[] })
  | (Base & Comprehension);

/** One entry of a map literal; `optional` entries are left out when their value is none. */
export interface MapEntry {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

/** A fold over a list or a map. */
export interface Comprehension {
  readonly kind: "comprehension";
  readonly iterRange: Expr;
  readonly iterVar: string;
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly loopCondition: Expr;
  readonly loopStep: Expr;
  readonly result: Expr;
}

/** The accumulator of expanded macros; not writable in source. */
export const ACCU = "@result";

/** A mistake in a source text, with its offset. */
export class CelIssue extends Error {
  readonly pos: number;
  constructor(pos: number, message: string) {
    super(message);
    this.pos = pos;
  }
}

/** Formats issues as cel-go prints them: position, message, the line and a marker. */
export function formatIssues(source: string, issues: readonly CelIssue[]): string {
  const lines = source.split("\n");
  return issues
    .map((issue) => {
      let line = 0;
      let column = Math.min(issue.pos, source.length);
      while (line < lines.length - 1 && column > (lines[line]?.length ?? 0)) {
        column -= (lines[line]?.length ?? 0) + 1;
        line++;
      }
      const text = (lines[line] ?? "").replaceAll("\t", " ");
      return `ERROR: <input>:${line + 1}:${column + 1}: ${issue.message}\n | ${text}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
