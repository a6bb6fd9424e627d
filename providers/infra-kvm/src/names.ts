import { createHash } from "node:crypto";

/** Identifies an object of the management cluster. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** Returns namespace and name of an object. */
export function keyOf({ metadata }: { metadata: { namespace?: string; name?: string } }): Key {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** Returns the text by which a placement knows a machine. */
export function idOf({ namespace, name }: Key): string {
  return `${namespace}/${name}`;
}

/** Returns which machine an id is of. */
export function keyOfId(id: string): Key {
  const [namespace = "", name = ""] = id.split("/");
  return { namespace, name };
}

/** Returns the Node's provider ID: it follows from the name, so that it is the same after a move to another management cluster. */
export function providerIdOf({ namespace, name }: Key): string {
  return `kvm://${namespace}/${name}`;
}

/** Returns the identity that the guest sees, from which its network addresses follow. */
export function uuidOf(key: Key): string {
  const hex = hexOf(providerIdOf(key));
  // Version 8 of RFC 9562: its content is up to whoever makes it.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** Returns a text's SHA-256 in hexadecimal digits. */
export function hexOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
