import type { FleetRow } from "@capstan/dashboard-server";
import { Button, Group, NativeSelect, Switch, TextInput, Title } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useProviders } from "../api/providers.ts";
import { useSession } from "../api/session.ts";
import { useTopic } from "../live/live.tsx";
import { Loading } from "../ui/loading.tsx";
import { providerLabel } from "../ui/provider.tsx";
import { choicesOf, type FleetSearch, filterFleet, type Sort, totalsOf } from "./filters.ts";
import { FleetTable } from "./fleet-table.tsx";
import { subjectOf } from "./subject.ts";
import { Tiles } from "./tiles.tsx";

const route = getRouteApi("/shell/clusters");

/** The page of all clusters that the user may see. */
export function FleetPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const providers = useProviders();
  const { known, items } = useTopic<FleetRow>("fleet");
  const rows = useMemo(() => filterFleet(items.values(), search), [items, search]);
  const totals = useMemo(() => totalsOf(items.values()), [items]);
  const choices = useMemo(() => choicesOf(items.values()), [items]);
  const set = (change: { [K in keyof FleetSearch]?: FleetSearch[K] | undefined }): void => {
    const next = Object.fromEntries(
      Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined),
    ) as FleetSearch;
    void navigate({ search: next, replace: true });
  };
  const sort = (column: Sort): void =>
    set({ sort: column, desc: (search.sort ?? "name") === column && search.desc !== true ? true : undefined });
  if (!known) return <Loading what="clusters" />;
  return (
    <section className="page">
      <Group justify="space-between" mb="sm">
        <Title order={1} size="h2">
          Clusters{" "}
          {rows.length !== items.size && <span className="dim count">{`${rows.length} of ${items.size}`}</span>}
        </Title>
        <CreateButton />
      </Group>
      {items.size > 0 && (
        <Tiles totals={totals} problems={search.problems === true} onProblems={(problems) => set({ problems })} />
      )}
      <Group className="filters" mb="sm">
        <TextInput
          id="filter"
          aria-label="Filter clusters"
          placeholder="Filter by name, reason, provider  ( / )"
          value={search.q ?? ""}
          onChange={(event) => set({ q: event.currentTarget.value || undefined })}
          className="filter"
        />
        <Choice
          label="Namespace"
          all="All namespaces"
          options={choices.namespaces}
          value={search.namespace}
          onChange={(namespace) => set({ namespace })}
        />
        <Choice
          label="Provider"
          all="All providers"
          options={choices.providers}
          value={search.provider}
          onChange={(provider) => set({ provider })}
          text={(provider) => providerLabel(provider, providers)}
        />
        <Choice
          label="Version"
          all="All versions"
          options={choices.versions}
          value={search.version}
          onChange={(version) => set({ version })}
        />
        <Switch
          label="Only problems"
          checked={search.problems === true}
          onChange={(event) => set({ problems: event.currentTarget.checked ? true : undefined })}
        />
      </Group>
      {items.size === 0 ? <Empty /> : <FleetTable rows={rows} search={search} onSort={sort} />}
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly options: readonly string[];
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly text?: (value: string) => string;
}

function Choice({ label, all, options, value, onChange, text = String }: ChoiceProps): ReactNode {
  if (options.length < 2 && value === undefined) return null;
  return (
    <NativeSelect
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      data={[{ value: "", label: all }, ...options.map((option) => ({ value: option, label: text(option) }))]}
    />
  );
}

/** Links to the form if the user may create clusters in some namespace. */
function CreateButton(): ReactNode {
  const access = useSession()?.clusters;
  if (access?.create !== "nowhere")
    return (
      <Button component={Link} to="/create">
        Create cluster
      </Button>
    );
  return (
    <Button disabled title="You do not have permission to create clusters in any namespace">
      Create cluster
    </Button>
  );
}

/** Why the list is empty, and what to do. */
function Empty(): ReactNode {
  const session = useSession();
  if (session?.clusters.see === "nowhere") return <SeesNothing user={session.user} />;
  return (
    <div className="card empty">
      <p>
        {session?.clusters.see === "somewhere"
          ? "There are no clusters that you may see."
          : "There are no clusters yet."}
      </p>
      {session?.clusters.create !== "nowhere" && (
        <p>
          <Link to="/create">Create one here</Link>, or apply one: <code>kubectl apply -f cluster.yaml</code>. The demo
          builds a mixed one: <code>capstan up --demo</code>.
        </p>
      )}
    </div>
  );
}

function SeesNothing({ user }: { readonly user: string }): ReactNode {
  return (
    <div className="card empty" role="status">
      <p>
        <strong>You do not have permission to see clusters in any namespace.</strong>
      </p>
      <p>
        You are signed in as <code>{user}</code>. Ask an administrator for a role, for example:
      </p>
      <p>
        <code>{`kubectl create clusterrolebinding NAME --clusterrole=view ${subjectOf(user)}`}</code>
      </p>
    </div>
  );
}
