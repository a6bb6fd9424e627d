import type { HostRow } from "@capstan/dashboard-server";
import { Group, Switch, TextInput, Title } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useTopic } from "../live/live.tsx";
import { Chip } from "../ui/chip.tsx";
import { Loading } from "../ui/loading.tsx";
import { ProviderBadge } from "../ui/provider.tsx";
import { Age } from "../ui/time.tsx";
import { toneOfState } from "../ui/tone.ts";
import { BreakButton } from "./break-button.tsx";
import { filterHosts, type HostSearch } from "./host-filter.ts";

const route = getRouteApi("/shell/hosts");

/** The page of all bring-your-own and bare-metal hosts. */
export function HostsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { known, items } = useTopic<HostRow>("hosts");
  const rows = useMemo(() => filterHosts(items.values(), search), [items, search]);
  const set = (next: HostSearch): void => void navigate({ search: next, replace: true });
  if (!known) return <Loading what="hosts" />;
  const { q, problems } = search;
  return (
    <section className="page">
      <Title order={1} size="h2" mb="sm">
        Hosts{" "}
        <span className="dim count">{rows.length === items.size ? items.size : `${rows.length} of ${items.size}`}</span>
      </Title>
      <Group className="filters" mb="sm">
        <TextInput
          id="filter"
          aria-label="Filter hosts"
          placeholder="Filter by name, state, machine, address  ( / )"
          value={q ?? ""}
          className="filter"
          onChange={(event) => {
            const text = event.currentTarget.value;
            set({ ...(text === "" ? {} : { q: text }), ...(problems === true ? { problems } : {}) });
          }}
        />
        <Switch
          label="Only problems"
          checked={problems === true}
          onChange={(event) => set({ q, ...(event.currentTarget.checked ? { problems: true } : {}) })}
        />
      </Group>
      {items.size === 0 ? <NoHosts /> : <HostTable rows={rows} />}
    </section>
  );
}

function HostTable({ rows }: { rows: readonly HostRow[] }): ReactNode {
  const simulated = rows.some((row) => row.simulated !== undefined);
  return (
    // A region that scrolls must be reachable without a mouse.
    <div className="table-scroller" tabIndex={0} role="region" aria-label="Hosts">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col">State</th>
            <th scope="col">Used by</th>
            <th scope="col" className="from-sm">
              Provider
            </th>
            <th scope="col" className="from-lg">
              System
            </th>
            <th scope="col" className="from-md">
              Size
            </th>
            <th scope="col" className="from-md">
              Addresses
            </th>
            <th scope="col" className="from-sm">
              Seen
            </th>
            {simulated && <th scope="col">Try</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.kind}/${row.namespace}/${row.name}`}>
              <th scope="row">
                <strong>{row.name}</strong>
                <div className="dim small">{row.namespace}</div>
              </th>
              <td>
                <span className="chips wrap">
                  <Chip tone={toneOfState(row.health)}>{row.state}</Chip>
                  {row.ready !== "True" && <Chip tone={toneOfState(row.health)}>Not ready</Chip>}
                  {row.health.message !== "" && (
                    <span className="dim small clip problem" title={row.health.message}>
                      {row.health.message}
                    </span>
                  )}
                </span>
              </td>
              <td>
                {row.cluster === undefined ? (
                  <span className="dim">{row.machine ?? "none"}</span>
                ) : (
                  <>
                    <Link to="/clusters/$namespace/$name" params={{ namespace: row.namespace, name: row.cluster }}>
                      {row.cluster}
                    </Link>
                    <div className="dim small whole from-sm">{row.machine}</div>
                  </>
                )}
              </td>
              <td className="from-sm">
                <ProviderBadge provider={row.provider} />
              </td>
              <td className="from-lg">{[row.system, row.architecture].filter(Boolean).join(", ") || "–"}</td>
              <td className="from-md whole">{sizeOf(row)}</td>
              <td className="from-md">{row.addresses.map(plainAddress).join(", ") || "–"}</td>
              <td className="from-sm">
                <Age since={row.heartbeat ?? row.created} />
              </td>
              {simulated && (
                <td>{row.simulated !== undefined && <BreakButton compact host={row} simulated={row.simulated} />}</td>
              )}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={9} className="empty">
                No host matches.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Agents report addresses with their prefix length, which is not shown here. */
function plainAddress(address: string): string {
  return address.split("/")[0] ?? "";
}

function sizeOf(row: HostRow): string {
  const cpus = row.cpus === undefined ? "" : `${row.cpus} CPUs`;
  const memory = row.memoryMiB === undefined ? "" : `${Math.round(row.memoryMiB / 1024)} GiB`;
  return [cpus, memory].filter(Boolean).join(", ") || "–";
}

function NoHosts(): ReactNode {
  return (
    <div className="card empty">
      <p>There are no hosts yet, or none that you may see.</p>
      <p>
        Enrol one of your own hosts with <code>capstan host add NAME</code>; a bare-metal host is a BareMetalHost that
        specifies its management controller.
      </p>
    </div>
  );
}
