/** The log of one component, wherever it is written. */
export interface LogSource {
  component: string;
  /** The last lines; -1 means all. */
  begin(lines: number): Promise<string>;
  /** What was written since. */
  next(): Promise<string>;
}
