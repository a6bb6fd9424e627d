import { ApiError } from "@capstan/apimachinery";
import type { DeleteOptions, ListOptions } from "../server/query-options.ts";
import type { WriteRequest } from "./core.ts";
import { deleteObject } from "./delete.ts";
import { type ListPage, listObjects } from "./list.ts";
import type { View } from "./views.ts";

/** Enough to fill a commit, few enough that other requests are served in between. */
const AT_ONCE = 50;

/** Deletes everything a list with the same selectors shows, each with the same options; answers with that list. */
export async function deleteCollection(
  write: WriteRequest,
  list: ListOptions,
  options: DeleteOptions,
): Promise<ListPage> {
  const page = await listObjects(write.core, write.type, write.namespace, list);
  const deleteOne = async ({ object }: View): Promise<void> => {
    const { name = "", namespace = "" } = object.metadata;
    const attributes = { ...write.attributes, verb: "delete", name, namespace };
    try {
      await deleteObject({ ...write, name, attributes }, options);
    } catch (error) {
      // Another client deleted it first: the desired result.
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  };
  for (let i = 0; i < page.items.length; i += AT_ONCE)
    await Promise.all(page.items.slice(i, i + AT_ONCE).map(deleteOne));
  return page;
}
