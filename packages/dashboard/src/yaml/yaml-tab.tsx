import { parseYaml, type Unstructured } from "@capstan/apimachinery";
import type { ObjectItem } from "@capstan/dashboard-server";
import { Button, Group, NativeSelect, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { queryClient } from "../api/query-client.ts";
import { apiPath, request } from "../api/request.ts";
import { useAllowed } from "../cluster/allowed.tsx";
import type { ClusterTree } from "../cluster/tree.ts";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { objectText } from "./object-text.ts";
import { Failure, ReviewDialog, type Write } from "./review-dialog.tsx";
import { YamlEditor } from "./yaml-editor.tsx";

interface YamlTabProps {
  readonly tree: ClusterTree;
  readonly object: string;
  readonly onObject: (id: string) => void;
}

/** Shows any object of the cluster as YAML and lets the user edit it. */
export function YamlTab({ tree, object, onObject }: YamlTabProps): ReactNode {
  const item = (tree.nodes.get(object) ?? tree.root)?.item;
  if (item === undefined) return null;
  return (
    <>
      <NativeSelect
        label="Object"
        value={item.id}
        onChange={(event) => onObject(event.currentTarget.value)}
        data={[...tree.nodes.keys()].sort()}
        mb="sm"
        maw={480}
      />
      <ObjectEditor key={item.id} item={item} />
    </>
  );
}

function ObjectEditor({ item }: { item: ObjectItem }): ReactNode {
  const path = apiPath(item.apiVersion, item.plural, item.namespace, item.name);
  const { data, error, refetch } = useQuery({
    queryKey: ["object", path],
    staleTime: 0,
    gcTime: 0,
    queryFn: () => request<Unstructured>(path),
  });
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState("");
  const [write, setWrite] = useState<Write>();
  const [marked, setMarked] = useState(false);
  const group = item.apiVersion.split("/")[0] ?? "";
  const mayWrite = useAllowed("update", group, item.plural, item.namespace, item.name);
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading what={item.name} />;
  const original = objectText(data);
  const review = (): void => {
    try {
      setProblem("");
      setWrite({ path, method: "PUT", body: parseYaml(text ?? original) });
    } catch (thrown) {
      setProblem((thrown as Error).message);
    }
  };
  const reload = (): void => {
    setText(undefined);
    void refetch();
  };
  return (
    <>
      <YamlEditor
        key={`${data.metadata.resourceVersion ?? ""}`}
        value={text ?? original}
        onChange={mayWrite ? setText : undefined}
        label={`${item.kind} ${item.name}`}
        original={marked ? original : undefined}
      />
      {problem !== "" && (
        <Notice tone="bad" title="This is not YAML">
          {problem}
        </Notice>
      )}
      <Group mt="sm">
        <Button onClick={review} disabled={!mayWrite || text === undefined || text === original}>
          Review changes
        </Button>
        <Button variant="default" onClick={reload}>
          Reload
        </Button>
        <Switch label="Mark changes" checked={marked} onChange={(event) => setMarked(event.currentTarget.checked)} />
        {!mayWrite && <span className="dim">You may read this object, but not change it.</span>}
      </Group>
      {write !== undefined && (
        <ReviewDialog
          title={`Change ${item.kind} ${item.name}`}
          write={write}
          action="Write"
          onClose={() => setWrite(undefined)}
          onDone={(written) => {
            queryClient.setQueryData(["object", path], written);
            setWrite(undefined);
            setText(undefined);
          }}
        />
      )}
    </>
  );
}
