/** The log of one component, in a file or a pod. */
export interface LogSource {
  component: string;
  /** The last lines; -1 means all. */
  begin(lines: number): Promise<string>;
  /** What was appended since the last call. */
  next(): Promise<string>;
}
