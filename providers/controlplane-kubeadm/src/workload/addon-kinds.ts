import type { KubeObject } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";

/** The part of a Deployment or DaemonSet that decides which image runs and which configuration it reads. */
export interface AddonController extends KubeObject {
  spec?: {
    template?: {
      spec?: {
        containers?: { name?: string; image?: string }[];
        volumes?: { name?: string; configMap?: { name?: string; items?: { key?: string; path?: string }[] } }[];
      };
    };
  };
}

const apps = (kind: string, plural: string) =>
  kindRef<AddonController>({ group: "apps", version: "v1", kind, plural, namespaced: true });

/** The kind of CoreDNS' controller. */
export const AddonDeployment = apps("Deployment", "deployments");
/** The kind of kube-proxy's controller. */
export const AddonDaemonSet = apps("DaemonSet", "daemonsets");

/** A container and its place in the list. */
export function containerOf(controller: AddonController, name: string): { index: number; image: string } | undefined {
  const containers = controller.spec?.template?.spec?.containers ?? [];
  const index = containers.findIndex((each) => each.name === name);
  const image = containers[index]?.image;
  return typeof image === "string" ? { index, image } : undefined;
}

/** A patch that sets a container's image if the container is still where it was. */
export function imagePatch(index: number, name: string, image: string): { op: string; path: string; value: unknown }[] {
  const path = `/spec/template/spec/containers/${index}`;
  return [
    { op: "test", path: `${path}/name`, value: name },
    { op: "replace", path: `${path}/image`, value: image },
  ];
}
