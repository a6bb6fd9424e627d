import type { ClusterItem } from "@capstan/dashboard-server";
import { Tabs, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { useTopic } from "../live/live.tsx";
import type { Tab } from "../router.tsx";
import { Chip, StateChip } from "../ui/chip.tsx";
import { Loading } from "../ui/loading.tsx";
import { Age } from "../ui/time.tsx";
import { Actions } from "./actions.tsx";
import { Machines } from "./machines.tsx";
import { ObjectDrawer } from "./object-drawer.tsx";
import { Outline } from "./outline.tsx";
import { Pools } from "./pools.tsx";
import { Summary } from "./summary.tsx";
import { Timeline } from "./timeline.tsx";
import { type ClusterTree, clusterTree, type TreeNode } from "./tree.ts";
import { WhyPanel } from "./why-panel.tsx";

const route = getRouteApi("/shell/clusters/$namespace/$name");
const ClusterGraph = lazy(() => import("./graph.tsx").then((module) => ({ default: module.ClusterGraph })));
const YamlTab = lazy(() => import("../yaml/yaml-tab.tsx").then((module) => ({ default: module.YamlTab })));

/** The page of one cluster, with live updates. */
export function ClusterPage(): ReactNode {
  const { namespace, name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { known, items } = useTopic<ClusterItem>(`cluster:${namespace}/${name}`);
  const tree = useMemo(() => clusterTree(items.values()), [items]);
  const [open, setOpen] = useState<string>();
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  if (!known) return <Loading what={name} />;
  if (tree.root === undefined) return <Gone namespace={namespace} name={name} />;
  const { root } = tree;
  const tab = search.tab ?? "overview";
  const opened = open === undefined ? undefined : tree.nodes.get(open);
  return (
    <section className="page">
      <Header root={root} tree={tree} />
      <Tabs
        value={tab}
        onChange={(value) =>
          void navigate({ search: value === "overview" || value === null ? {} : { tab: value as Tab } })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="overview">Overview</Tabs.Tab>
          <Tabs.Tab value="machines">Machines</Tabs.Tab>
          <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
          <Tabs.Tab value="yaml">YAML</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="overview">
          <WhyPanel root={root} onOpen={setOpen} />
          {narrow === true ? (
            <Outline root={root} onOpen={setOpen} />
          ) : (
            <Suspense fallback={<div className="graph" />}>
              <ClusterGraph root={root} onOpen={setOpen} />
            </Suspense>
          )}
          <div className="grid-2">
            <Summary root={root} tree={tree} />
            <Pools tree={tree} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="machines">
          <Machines tree={tree} onOpen={setOpen} />
        </Tabs.Panel>
        <Tabs.Panel value="timeline">
          <Timeline items={tree.timeline} onOpen={setOpen} />
        </Tabs.Panel>
        <Tabs.Panel value="yaml">
          <Suspense fallback={<Loading what="the editor" />}>
            <YamlTab
              tree={tree}
              object={search.object ?? root.item.id}
              onObject={(object) => void navigate({ search: { tab: "yaml", object } })}
            />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
      {opened !== undefined && (
        <ObjectDrawer
          item={opened.item}
          onClose={() => setOpen(undefined)}
          onYaml={() => {
            setOpen(undefined);
            void navigate({ search: { tab: "yaml", object: opened.item.id } });
          }}
        />
      )}
    </section>
  );
}

function Header({ root, tree }: { root: TreeNode; tree: ClusterTree }): ReactNode {
  const { item } = root;
  const version = [...tree.nodes.values()].find((node) => node.kind.endsWith("ControlPlane"))?.item.facts.version;
  const machines = [...tree.nodes.values()].filter((node) => node.kind === "Machine").length;
  return (
    <header className="cluster-head">
      <div>
        <Title order={1} size="h2">
          {item.name} <span className="dim count">{item.namespace}</span>
        </Title>
        <div className="chips wrap">
          <StateChip state={item.state} deleting={item.deleting} />
          {version !== undefined && <Chip tone="plain">{version}</Chip>}
          <span className="dim">
            <Age since={item.created} /> old
          </span>
        </div>
        {item.activities?.map(({ kind, name, counts, progress, doing, since }) => (
          <p className="dim" key={`${kind}/${name}`}>
            {kind} {name}: {progress.done} of {progress.total} Machines {counts}
            {doing !== "" && (
              <>
                ; {doing}, for <Age since={since} />
              </>
            )}
          </p>
        ))}
      </div>
      <Actions item={item} machines={machines} />
    </header>
  );
}

function Gone({ namespace, name }: { namespace: string; name: string }): ReactNode {
  return (
    <section className="page">
      <Title order={1} size="h2">
        {name} is not here
      </Title>
      <p>
        Cluster {name} not found in {namespace}: it was deleted, was never created, or you may not see it.{" "}
        <Link to="/clusters">All clusters</Link>
      </p>
    </section>
  );
}
