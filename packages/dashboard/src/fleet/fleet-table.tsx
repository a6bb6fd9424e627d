import type { FleetRow } from "@capstan/dashboard-server";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import { Chip, StateChip } from "../ui/chip.tsx";
import { ProviderBadge } from "../ui/provider.tsx";
import { Age } from "../ui/time.tsx";
import { toneOf } from "../ui/tone.ts";
import type { FleetSearch, Sort } from "./filters.ts";

const ROW_PX = 54;
const COLUMNS = 7;

/** Short words for condition types, so that all chips of a row fit. */
const CHIP_LABELS: Readonly<Record<string, string>> = {
  InfrastructureReady: "infra",
  ControlPlaneAvailable: "control plane",
  WorkersAvailable: "workers",
};

interface FleetTableProps {
  readonly rows: readonly FleetRow[];
  readonly search: FleetSearch;
  readonly onSort: (sort: Sort) => void;
}

/** The table of clusters, virtualized so that only visible rows are rendered. */
export function FleetTable({ rows, search, onSort }: FleetTableProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const visible = virtual.getVirtualItems();
  const above = visible[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (visible.at(-1)?.end ?? 0);
  const sortable = (sort: Sort, label: string, className?: string): ReactNode => {
    const active = (search.sort ?? "name") === sort;
    return (
      <th
        scope="col"
        className={className}
        aria-sort={active ? (search.desc === true ? "descending" : "ascending") : "none"}
      >
        <button type="button" className="sort" onClick={() => onSort(sort)}>
          {label}
          <span aria-hidden="true">{active ? (search.desc === true ? " ↓" : " ↑") : ""}</span>
        </button>
      </th>
    );
  };
  return (
    // A region that scrolls must be reachable without a mouse.
    <div ref={scroller} className="table-scroller" tabIndex={0} role="region" aria-label="Clusters">
      <table className="table" aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {sortable("name", "Cluster")}
            {sortable("problem", "State")}
            {sortable("version", "Version", "from-sm")}
            <th scope="col" className="from-sm">
              Control plane
            </th>
            {sortable("workers", "Workers")}
            <th scope="col" className="from-md">
              Providers
            </th>
            {sortable("age", "Age", "from-sm")}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr className="spacer" aria-hidden="true" style={{ height: above }} />}
          {visible.map(({ index }) => {
            const row = rows[index];
            return row === undefined ? null : <Row key={`${row.namespace}/${row.name}`} row={row} index={index} />;
          })}
          {below > 0 && <tr className="spacer" aria-hidden="true" style={{ height: below }} />}
          {rows.length === 0 && (
            <tr>
              <td colSpan={COLUMNS} className="empty">
                No cluster matches.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, index }: { row: FleetRow; index: number }): ReactNode {
  const { namespace, name } = row;
  return (
    <tr aria-rowindex={index + 2} style={{ height: ROW_PX }}>
      <th scope="row">
        <Link to="/clusters/$namespace/$name" params={{ namespace, name }} className="name">
          {name}
        </Link>
        <div className="dim small">{namespace}</div>
      </th>
      <td>
        <span className="chips">
          <StateChip state={row.state} deleting={row.deleting === true} />
          {(row.state.state === "Degraded" ? row.chips : [])
            .filter(([type, status]) => type !== "Available" && status !== "True")
            .map(([type, status]) => (
              <Chip key={type} tone={toneOf(status)} title={`${type} is ${status}`}>
                {CHIP_LABELS[type] ?? type}
              </Chip>
            ))}
        </span>
        {row.state.message !== "" && (
          <div className="dim small clip problem" title={row.state.message}>
            {row.state.message}
          </div>
        )}
      </td>
      <td className="from-sm">{row.version || "–"}</td>
      <td className="from-sm">{row.controlPlane[1] === 0 ? "–" : `${row.controlPlane[0]}/${row.controlPlane[1]}`}</td>
      <td>
        <Meter available={row.workers[0]} desired={row.workers[1]} />
      </td>
      <td className="from-md">
        <span className="chips">
          {row.providers.map((provider) => (
            <ProviderBadge key={provider} provider={provider} />
          ))}
        </span>
      </td>
      <td className="from-sm">
        <Age since={row.created} />
      </td>
    </tr>
  );
}

/** Two counters and their ratio as a bar. */
function Meter({ available, desired }: { available: number; desired: number }): ReactNode {
  const share = desired === 0 ? 0 : Math.min(1, available / desired);
  return (
    <span className="meter">
      <span className="number">{`${available}/${desired}`}</span>
      <svg className="meter-bar from-sm" viewBox="0 0 48 6" aria-hidden="true">
        <rect className="meter-back" width="48" height="6" rx="3" />
        <rect className={share === 1 ? "meter-full" : "meter-part"} width={48 * share} height="6" rx="3" />
      </svg>
    </span>
  );
}
