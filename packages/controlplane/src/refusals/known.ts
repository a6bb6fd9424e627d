import { FLAGS, GATES, KUBEADM_GATES } from "./tables.ts";

/** Programs whose flags are recorded. */
export type Program = "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "etcd" | "kubelet";

/** Where a flag or gate is known, as inclusive ranges of minor versions. */
type Ranges = readonly (readonly [number, number])[];

/** A table of words with the minor versions that know them. */
class Table {
  readonly #words = new Map<string, { ranges: Ranges; value: string | undefined }[]>();
  readonly #minors: readonly number[];

  constructor(rows: Readonly<Record<string, string>>) {
    const bounds: number[] = [];
    for (const [text, words] of Object.entries(rows)) {
      const ranges = text.split(",").map((range) => range.split("-").map(Number) as [number, number]);
      bounds.push(...ranges.flat());
      for (const word of words.trim().split(/\s+/)) {
        const [name = "", value] = word.split("=");
        this.#words.set(name, [...(this.#words.get(name) ?? []), { ranges, value }]);
      }
    }
    this.#minors = [Math.min(...bounds), Math.max(...bounds)];
  }

  /** Whether this minor version is recorded. */
  covers(minor: number): boolean {
    const [first = 0, last = -1] = this.#minors;
    return minor >= first && minor <= last;
  }

  /** Whether this minor version knows the word, and the value that it is locked to. */
  find(word: string, minor: number): { lockedTo: string | undefined } | undefined {
    const row = this.#words.get(word)?.find(({ ranges }) => ranges.some(([from, to]) => from <= minor && minor <= to));
    return row === undefined ? undefined : { lockedTo: row.value };
  }

  /** The last minor version before this one that knew the word. */
  lastBefore(word: string, minor: number): number | undefined {
    const ends = (this.#words.get(word) ?? []).flatMap(({ ranges }) => ranges.map(([, to]) => to));
    const earlier = ends.filter((end) => end < minor);
    return earlier.length === 0 ? undefined : Math.max(...earlier);
  }
}

let flags: ReadonlyMap<string, Table> | undefined;
let gates: Table | undefined;
let kubeadmGates: Table | undefined;

/** The flags of a program. Tables are parsed on first use. */
export function flagsOf(program: Program): Table {
  flags ??= new Map(Object.entries(FLAGS).map(([name, rows]) => [name, new Table(rows)]));
  const table = flags.get(program);
  if (table === undefined) throw new Error(`no flags of ${program} are recorded`);
  return table;
}

/** The feature gates that all components share. */
export function featureGates(): Table {
  return (gates ??= new Table(GATES));
}

/** The feature gates of kubeadm itself. */
export function kubeadmFeatureGates(): Table {
  return (kubeadmGates ??= new Table(KUBEADM_GATES));
}
