/** One kubectl command, sent to both servers. */
export interface KubectlStep {
  /** Arguments as one would type them; quotes group words, `$ns` is the namespace. */
  readonly run: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is compared; by default exit code, output and errors. `code` for output that must differ. */
  readonly compare?: "all" | "stdout" | "code";
  /** Parts of the output that differ by nature. */
  readonly mask?: readonly RegExp[];
  /** The real server may need some time until it does this well. */
  readonly awaited?: boolean;
  /** Must be in the output of both. */
  readonly contains?: string;
}

/** Splits a command line into words. */
export function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}
