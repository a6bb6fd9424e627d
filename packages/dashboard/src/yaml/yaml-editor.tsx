import { yaml } from "@codemirror/lang-yaml";
import { unifiedMergeView } from "@codemirror/merge";
import { basicSetup, EditorView } from "codemirror";
import { type ReactNode, useEffect, useRef } from "react";
import { styleNonce } from "../nonce.ts";

interface YamlEditorProps {
  /** The initial text; a different one needs a new key. */
  readonly value: string;
  /** Absent: to be read only. */
  readonly onChange?: ((text: string) => void) | undefined;
  readonly label: string;
  /** Marks what differs from this text. */
  readonly original?: string | undefined;
}

/** A text editor with YAML support. */
export function YamlEditor({ value, onChange, label, original }: YamlEditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const start = useRef({ value, onChange });
  start.current.onChange = onChange;
  start.current.value = value;
  const editable = onChange !== undefined;
  useEffect(() => {
    if (place.current === null) return undefined;
    const view = new EditorView({
      doc: start.current.value,
      parent: place.current,
      extensions: [
        basicSetup,
        yaml(),
        ...(original === undefined ? [] : [unifiedMergeView({ original, mergeControls: false })]),
        EditorView.cspNonce.of(styleNonce()),
        EditorView.editable.of(editable),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `${label} as YAML` }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) start.current.onChange?.(update.state.doc.toString());
        }),
      ],
    });
    return () => view.destroy();
  }, [editable, label, original]);
  return <div ref={place} className="editor" />;
}
