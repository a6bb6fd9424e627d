import type { ReactNode } from "react";
import type { FleetTotals } from "./filters.ts";

interface TilesProps {
  readonly totals: FleetTotals;
  readonly problems: boolean;
  readonly onProblems: (problems: true | undefined) => void;
}

/** Shows the totals of the fleet; clicking the problems tile filters for them. */
export function Tiles({ totals, problems, onProblems }: TilesProps): ReactNode {
  return (
    <div className="tiles">
      <Tile label="Clusters" value={totals.clusters} />
      <Tile label="Healthy" value={totals.healthy} tone="good" />
      <Tile label="Progressing" value={totals.progressing} />
      <button
        type="button"
        className={`tile tile-button ${totals.problems > 0 ? "tile-bad" : ""}`}
        aria-pressed={problems}
        onClick={() => onProblems(problems ? undefined : true)}
      >
        <span className="tile-value">{totals.problems}</span>
        <span className="tile-label">With problems</span>
      </button>
      <Tile label="Workers available" value={`${totals.workers[0]} / ${totals.workers[1]}`} />
    </div>
  );
}

function Tile({ label, value, tone }: { label: string; value: ReactNode; tone?: "good" }): ReactNode {
  return (
    <div className={`tile ${tone === undefined ? "" : `tile-${tone}`}`}>
      <span className="tile-value">{value}</span>
      <span className="tile-label">{label}</span>
    </div>
  );
}
