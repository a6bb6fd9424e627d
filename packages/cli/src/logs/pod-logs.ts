import type { KubeObject } from "@capstan/apimachinery";
import { type Client, kindRef } from "@capstan/runtime";
import type { LogSource } from "./log-source.ts";

interface PodObject extends KubeObject {
  spec?: { containers?: { name: string }[] };
}

const Pod = kindRef<PodObject>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
/** How the pods of hosted control planes are marked in the cluster that runs them. */
const HOSTED_LABEL = "capstan.dev/hosted";
const OWNER_ANNOTATION = "capstan.dev/hosted-by";
const COMPONENT_LABEL = "app.kubernetes.io/component";

/** Returns the logs of a control plane's pods, one per container, read through the API of the cluster that runs them. */
export async function podLogs(client: Client, namespace: string, plane: string): Promise<LogSource[]> {
  const { items } = await client.list(Pod, { namespace, labelSelector: HOSTED_LABEL });
  const own = items.filter(({ metadata }) => metadata.annotations?.[OWNER_ANNOTATION] === `${namespace}/${plane}`);
  const components = own.map(({ metadata }) => metadata.labels?.[COMPONENT_LABEL]);
  return own
    .flatMap((pod) => {
      const name = pod.metadata.name ?? "";
      const component = pod.metadata.labels?.[COMPONENT_LABEL] ?? name;
      // Several pods of one component are distinguished by their names.
      const several = components.filter((other) => other === component).length > 1;
      return (pod.spec?.containers ?? []).map((container) => {
        const label = container.name === component ? component : container.name;
        return new PodLog(client, namespace, name, container.name, several ? `${label} ${name}` : label);
      });
    })
    .sort((a, b) => a.component.localeCompare(b.component));
}

/**
 * Follows by polling for newer lines, with the kubelet's timestamps: `sinceTime` has a resolution of whole seconds, and the timestamps of
 * the lines show which were printed already. A pod that is not running yet is reported once and retried.
 */
class PodLog implements LogSource {
  readonly component: string;
  readonly #client: Client;
  readonly #path: string;
  readonly #container: string;
  #last = "";
  #lastNotice = "";

  constructor(client: Client, namespace: string, pod: string, container: string, component: string) {
    this.#client = client;
    this.#path = `/api/v1/namespaces/${namespace}/pods/${pod}/log`;
    this.#container = container;
    this.component = component;
  }

  begin(lines: number): Promise<string> {
    return this.#read(lines < 0 ? {} : { tailLines: String(lines) });
  }

  next(): Promise<string> {
    return this.#read(this.#last === "" ? {} : { sinceTime: `${this.#last.slice(0, 19)}Z` });
  }

  async #read(query: Record<string, string>): Promise<string> {
    const { status, body } = await this.#client.transport.request({
      method: "GET",
      path: this.#path,
      query: { container: this.#container, timestamps: "true", ...query },
    });
    if (status !== 200) {
      const text = (body as { message?: string } | undefined)?.message ?? `the log cannot be read (${status})`;
      const news = text === this.#lastNotice ? "" : `(${text})`;
      this.#lastNotice = text;
      return news;
    }
    const lines = String(body)
      .split("\n")
      .filter((line) => line !== "")
      .map(splitTime);
    const fresh = lines.filter(({ time }) => time > this.#last);
    this.#last = fresh.at(-1)?.time ?? this.#last;
    return fresh.map(({ text }) => text).join("\n");
  }
}

function splitTime(line: string): { time: string; text: string } {
  const space = line.indexOf(" ");
  return space < 0 ? { time: line, text: "" } : { time: line.slice(0, space), text: line.slice(space + 1) };
}
