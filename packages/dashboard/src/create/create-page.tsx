import { toYaml } from "@capstan/apimachinery";
import { DEFAULT_VERSION } from "@capstan/capi";
import { Button, CopyButton, Group, NativeSelect, TextInput, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import { type Offer, offersOf, useProviders } from "../api/providers.ts";
import { useSession } from "../api/session.ts";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Failure } from "../yaml/review-dialog.tsx";
import { ClassFields } from "./class-fields.tsx";
import { type ClassForm, classProblems, newClassForm, topologyCluster } from "./class-form.ts";
import { type CreateState, failed, failureOf } from "./create-state.ts";
import { ObstacleNotices } from "./obstacle-notices.tsx";
import { isBlocked } from "./obstacles.ts";
import { commandOf, newForm, PLACEMENTS, type PlanForm, planOf, problemsOf } from "./plan-form.ts";
import {
  clusterClasses,
  ObjectRefused,
  plannedCluster,
  servedInfrastructure,
  tryObjects,
  writeObjects,
} from "./send-objects.ts";
import { useObstacles } from "./use-obstacles.ts";
import { WorkerFields } from "./worker-fields.tsx";

/** The wizard that creates a cluster. It previews the objects while the form is edited, and validates them with a server dry run first. */
export function CreatePage(): ReactNode {
  const providers = useProviders();
  return providers === undefined ? <Loading what="providers" /> : <CreateForm all={offersOf(providers)} />;
}

function CreateForm({ all }: { all: readonly Offer[] }): ReactNode {
  const navigate = useNavigate();
  const [form, setForm] = useState<PlanForm>(() => newForm(DEFAULT_VERSION, all));
  const [state, setState] = useState<CreateState>({ type: "editing" });
  const [touched, setTouched] = useState(false);
  const [className, setClassName] = useState("");
  const [classForm, setClassForm] = useState<ClassForm>();
  const { data: classes = [] } = useQuery({
    queryKey: ["cluster-classes", form.namespace],
    staleTime: 10_000,
    queryFn: () => clusterClasses(form.namespace),
  });
  const chosen = classes.find((candidate) => candidate.metadata.name === className);
  const { data: served } = useQuery({ queryKey: ["infrastructure"], queryFn: servedInfrastructure });
  const offers = all.filter(({ workers }) => served === undefined || served.has(workers.templateKind));
  const ofClass = chosen !== undefined && classForm !== undefined;
  const problems = useMemo(
    () =>
      ofClass
        ? { ...problemsOf({ ...form, groups: [], pooled: false }, all), ...classProblems(classForm, chosen) }
        : problemsOf(form, all),
    [form, all, ofClass, classForm, chosen],
  );
  const shown = touched ? problems : {};
  const plan = useMemo(() => planOf({ ...form, name: form.name || "NAME" }, all), [form, all]);
  const planned = useQuery({
    queryKey: ["plan", plan],
    queryFn: () => plannedCluster(plan),
    enabled: !ofClass,
    placeholderData: keepPreviousData,
  });
  const objects = useMemo(
    () =>
      ofClass
        ? [topologyCluster({ ...form, name: form.name || "NAME" }, classForm, chosen)]
        : (planned.data?.objects ?? []),
    [planned.data, form, ofClass, classForm, chosen],
  );
  const yaml = useMemo(() => objects.map((object) => toYaml(object)).join("---\n"), [objects]);
  const change = (next: Partial<PlanForm>): void => {
    setForm({ ...form, ...next });
    setMayWait(false);
    setState({ type: "editing" });
  };
  const choose = (name: string): void => {
    const found = classes.find((candidate) => candidate.metadata.name === name);
    setClassName(name);
    setClassForm(found === undefined ? undefined : newClassForm(found));
    setState({ type: "editing" });
  };
  const failure = failureOf(state);
  const nowhere = useSession()?.clusters.create === "nowhere";
  // A write that failed half-way may have claimed hosts already, so it is repeated unchanged.
  const reviewed = state.type === "accepted" && failure === undefined && !ofClass;
  const obstacles = useObstacles(plan, reviewed);
  const [mayWait, setMayWait] = useState(false);
  const blocked = reviewed && (obstacles === undefined || isBlocked(obstacles, mayWait));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTouched(true);
    if (Object.keys(problems).length > 0 || blocked) return;
    if (state.type === "accepted") {
      setState({ type: "writing" });
      writeObjects(objects)
        .then(() =>
          navigate({ to: "/clusters/$namespace/$name", params: { namespace: form.namespace, name: form.name } }),
        )
        .catch((error: unknown) => setState(failed("writing", error as Error)));
      return;
    }
    setState({ type: "checking" });
    // The obstacles on display may be those of an earlier keystroke.
    const wanted = ofClass ? Promise.resolve(objects) : plannedCluster(plan).then((answer) => answer.objects);
    wanted.then(tryObjects).then(
      () => setState({ type: "accepted" }),
      (error: unknown) => setState(failed("checking", error as Error)),
    );
  };
  return (
    <section className="page">
      <Title order={1} size="h2" mb="sm">
        Create a cluster
      </Title>
      {nowhere && (
        <Notice tone="bad" title="You do not have permission to create clusters">
          Ask an administrator for a role that may create clusters in a namespace, for example <code>edit</code>.
        </Notice>
      )}
      <div className="grid-2">
        <form className="card" onSubmit={submit} noValidate>
          <Group grow align="start">
            <TextInput
              label="Name"
              value={form.name}
              error={shown["name"]}
              autoComplete="off"
              onChange={(event) => change({ name: event.currentTarget.value })}
            />
            <TextInput
              label="Namespace"
              value={form.namespace}
              error={shown["namespace"]}
              onChange={(event) => change({ namespace: event.currentTarget.value })}
            />
          </Group>
          <Group grow align="start" mt="sm">
            <TextInput
              label="Kubernetes version"
              value={form.version}
              error={shown["version"]}
              onChange={(event) => change({ version: event.currentTarget.value })}
            />
            {!ofClass && (
              <NativeSelect
                label="Control plane runs"
                value={form.placement}
                onChange={(event) => change({ placement: event.currentTarget.value })}
                data={PLACEMENTS.map((placement) => ({ value: placement, label: PLACEMENT_LABELS[placement] }))}
              />
            )}
          </Group>
          {(classes.length > 0 || className !== "") && (
            <NativeSelect
              mt="sm"
              label="Pattern"
              description="A ClusterClass defines the objects of the cluster; you set its variables."
              value={className}
              onChange={(event) => choose(event.currentTarget.value)}
              data={[
                { value: "", label: "none: choose the workers here" },
                ...classes.map(({ metadata: { name = "" } }) => ({ value: name, label: `ClusterClass ${name}` })),
              ]}
            />
          )}
          {ofClass ? (
            <ClassFields
              chosen={chosen}
              form={classForm}
              problems={shown}
              onChange={(next) => {
                setClassForm(next);
                setState({ type: "editing" });
              }}
            />
          ) : (
            <WorkerFields form={form} offers={offers} problems={shown} onChange={change} />
          )}
          {failure !== undefined && <Refusal failure={failure} />}
          {state.type === "accepted" && failure !== undefined && (
            <p>Earlier objects may already exist; create it again to continue.</p>
          )}
          {state.type === "accepted" && failure === undefined && (
            <Notice tone="good" title="Accepted by the server">
              {objects.length} objects would be created. Nothing has been created yet.
            </Notice>
          )}
          {obstacles !== undefined && (
            <ObstacleNotices obstacles={obstacles} mayWait={mayWait} onMayWait={setMayWait} />
          )}
          <Group mt="md" justify="flex-end">
            <Button
              type="submit"
              disabled={nowhere || blocked || (state.type === "accepted" && planned.isPlaceholderData)}
              loading={state.type === "checking" || state.type === "writing"}
            >
              {state.type === "accepted" || state.type === "writing" ? "Create cluster" : "Check"}
            </Button>
          </Group>
        </form>
        <section aria-label="YAML" className="sticky">
          <Group justify="space-between" mb="xs">
            <Title order={2} size="h4">
              YAML
            </Title>
            <Group gap="xs">
              <Copy text={yaml} label="Copy YAML" />
              {!ofClass && (
                <Copy text={`${commandOf(plan)}${mayWait ? " --wait-for-capacity" : ""}`} label="Copy as command" />
              )}
            </Group>
          </Group>
          {/* A region that scrolls must be reachable without a mouse. */}
          <pre className="diff yaml" tabIndex={0}>
            {yaml}
          </pre>
        </section>
      </div>
    </section>
  );
}

const PLACEMENT_LABELS: Readonly<Record<(typeof PLACEMENTS)[number], string>> = {
  "": "the manager's default",
  Process: "as processes next to the manager",
  Embedded: "inside the manager (no real nodes)",
  Pods: "as pods",
};

function Refusal({ failure }: { failure: Error }): ReactNode {
  if (!(failure instanceof ObjectRefused)) return <Failure error={failure} />;
  return (
    <>
      <p>
        <strong>
          {failure.object.kind}/{failure.object.metadata.name}
        </strong>{" "}
        was refused:
      </p>
      <Failure error={failure.cause} />
    </>
  );
}

function Copy({ text, label }: { text: string; label: string }): ReactNode {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-sm" variant="default" onClick={copy}>
          {copied ? "Copied" : label}
        </Button>
      )}
    </CopyButton>
  );
}
