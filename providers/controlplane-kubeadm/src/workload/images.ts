/** An image reference in its parts. */
export interface Image {
  readonly repository: string;
  readonly name: string;
  readonly tag: string;
}

/** Takes an image reference apart; undefined if it has no repository or no tag, or names a digest, which no tag can replace. */
export function parseImage(text: string): Image | undefined {
  if (text.length > 512 || text.includes("@")) return undefined;
  const match = /^(.+)\/([a-z0-9][-a-z0-9._]*):([\w][-\w.]{0,127})$/.exec(text);
  const [, repository, name, tag] = match ?? [];
  return repository === undefined || name === undefined || tag === undefined ? undefined : { repository, name, tag };
}

/** Writes an image reference. */
export const imageText = ({ repository, name, tag }: Image): string => `${repository}/${name}:${tag}`;

/** The tag of Kubernetes' images for a version: build metadata is not allowed in tags. */
export const versionTag = (version: string): string => version.replace(/[^-\w.]/g, "_");
