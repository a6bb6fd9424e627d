import { isObject } from "@capstan/apimachinery";
import { firstAccepted, patch } from "./boot.ts";
import { linkOf, type RedfishClient, type Resource } from "./client.ts";
import { RedfishError } from "./errors.ts";

const CD = ["CD", "DVD"];
/** An ISO 9660 image is as good on a stick: systems look at the label. */
const ANY = ["CD", "DVD", "USBStick"];

/** Returns the virtual drives of a system; newer controllers list them under the System, older ones under its Manager. */
export async function virtualMedia(client: RedfishClient, system: Resource, signal: AbortSignal): Promise<Resource[]> {
  const own = linkOf(system["VirtualMedia"]) ?? `${String(system["@odata.id"])}/VirtualMedia`;
  const found = await client.members(own, signal);
  if (found.length > 0) return found;
  const links = isObject(system["Links"]) ? system["Links"] : {};
  const managers = Array.isArray(links["ManagedBy"]) ? links["ManagedBy"] : [];
  for (const entry of managers) {
    const manager = linkOf(entry);
    const resource = manager === undefined ? undefined : await client.find(manager, signal);
    const media = resource === undefined ? undefined : linkOf(resource["VirtualMedia"]);
    const members = media === undefined ? [] : await client.members(media, signal);
    if (members.length > 0) return members;
  }
  return [];
}

/** Chooses the drives for the image and the config drive; the same ones on every call. */
export function chooseDrives(all: readonly Resource[]): { image: Resource | undefined; config: Resource | undefined } {
  const sorted = [...all].sort((a, b) => (String(a["@odata.id"]) < String(b["@odata.id"]) ? -1 : 1));
  const image = sorted.find((media) => typesOf(media).some((type) => CD.includes(type)));
  const config = sorted.find((media) => media !== image && typesOf(media).some((type) => ANY.includes(type)));
  return { image, config };
}

function typesOf(media: Resource): string[] {
  return Array.isArray(media["MediaTypes"]) ? media["MediaTypes"].map(String) : [];
}

/** Returns the image in a drive; undefined if it is empty. */
export function imageIn(media: Resource): string | undefined {
  const image = media["Image"];
  return media["Inserted"] !== false && typeof image === "string" && image !== "" ? image : undefined;
}

/** Annotation on a BareMetalHost: whether its management controller fetches media by `http` or `https`. */
export const MEDIA_ANNOTATION = "capstan.dev/media-transport";

/** Reports whether a drive fetches its image by HTTPS: as already inserted, else as annotated, else if the drive supports it. */
export function isSecure(media: Resource, annotations: Readonly<Record<string, string>>): boolean {
  const wish = annotations[MEDIA_ANNOTATION];
  const inserted = imageIn(media);
  // What a machine runs from does not change under it.
  if (inserted !== undefined && /\/media\/[\w-]{43}\/media\.iso$/.test(inserted)) return inserted.startsWith("https:");
  if (wish !== undefined) return wish === "https";
  const actions = isObject(media["Actions"]) ? media["Actions"] : {};
  const action = actions["#VirtualMedia.InsertMedia"];
  const allowed = isObject(action) ? action["TransferProtocolType@Redfish.AllowableValues"] : undefined;
  return Array.isArray(allowed) && allowed.includes("HTTPS");
}

/** Inserts an image into a drive, after ejecting whatever is in it. */
export async function insert(
  client: RedfishClient,
  media: Resource,
  { url, isOwn }: { url: string; isOwn: boolean },
  signal: AbortSignal,
): Promise<void> {
  await eject(client, media, signal);
  const target = actionOf(media, "#VirtualMedia.InsertMedia");
  const protocol = url.startsWith("https:") ? "HTTPS" : "HTTP";
  // It cannot know the authority that we made ourselves: the way is encrypted, and the address is known to it alone.
  if (isOwn && protocol === "HTTPS" && media["VerifyCertificate"] === true)
    await patch(client, String(media["@odata.id"]), { VerifyCertificate: false }, signal);
  if (target === undefined) {
    await patch(client, String(media["@odata.id"]), { Image: url, Inserted: true }, signal);
    return;
  }
  const variants = [
    { Image: url, Inserted: true, WriteProtected: true },
    { Image: url, Inserted: true, WriteProtected: true, TransferProtocolType: protocol },
    { Image: url },
  ];
  try {
    await firstAccepted(variants, (body) => client.request("POST", target, body, signal));
  } catch (error) {
    if (!isOwn || protocol === "HTTP" || !(error instanceof RedfishError) || error.access !== undefined) throw error;
    throw new RedfishError(
      `${error.message}; if it cannot download over HTTPS, annotate the BareMetalHost ${MEDIA_ANNOTATION}=http`,
    );
  }
}

/** Ejects the image of a drive; an empty drive is not an error. */
export async function eject(client: RedfishClient, media: Resource, signal: AbortSignal): Promise<void> {
  if (imageIn(media) === undefined && media["Inserted"] !== true) return;
  const path = String(media["@odata.id"]);
  const target = actionOf(media, "#VirtualMedia.EjectMedia");
  try {
    if (target === undefined) await patch(client, path, { Image: null, Inserted: false }, signal);
    else await client.request("POST", target, {}, signal);
  } catch (error) {
    if (!(error instanceof RedfishError) || error.access !== undefined) throw error;
    const now = await client.get(path, signal);
    if (imageIn(now) !== undefined) throw error;
  }
}

function actionOf(media: Resource, name: string): string | undefined {
  const actions = media["Actions"];
  const action = isObject(actions) ? actions[name] : undefined;
  return isObject(action) && typeof action["target"] === "string" ? action["target"] : undefined;
}
