import { FileRefusal } from "./shape.ts";

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,40})-----$/;
const CERTIFICATE = ["CERTIFICATE"];
/** PEM labels of certificates and keys. */
const LABELS = [
  ...CERTIFICATE,
  "PUBLIC KEY",
  "RSA PUBLIC KEY",
  "PRIVATE KEY",
  "RSA PRIVATE KEY",
  "EC PRIVATE KEY",
  "EC PARAMETERS",
];

/** Reports whether a text contains a PEM block and is therefore not YAML. */
export function isPem(text: string): boolean {
  return text.split(/\r?\n/).some((line) => BEGIN.test(line.trim()));
}

/** Returns only the certificates of a PEM file. */
export const certificates = (text: string): string => blocks(text, CERTIFICATE);

/** Returns only the certificates and keys of a PEM file. */
export const certificatesAndKeys = (text: string): string => blocks(text, LABELS);

function blocks(text: string, labels: readonly string[]): string {
  const out: string[] = [];
  let label: string | undefined;
  let body = "";
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (label === undefined) {
      label = BEGIN.exec(line)?.[1];
      body = "";
    } else if (line === `-----END ${label}-----`) {
      out.push(block(label, body, labels));
      label = undefined;
    } else body += line;
  }
  if (label !== undefined) throw new FileRefusal(`has a ${label} without its END line; complete it`);
  if (out.length === 0)
    throw new FileRefusal(`has no ${labels === CERTIFICATE ? "certificate" : "block"} in PEM; add it`);
  return out.join("");
}

function block(label: string, body: string, labels: readonly string[]): string {
  if (!labels.includes(label))
    throw new FileRefusal(`has a ${label}, and only ${labels.join(", ")} is accepted here; remove it`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body) || body.length % 4 !== 0)
    throw new FileRefusal(`has a ${label} that is not base64 without headers; write it again without a passphrase`);
  return `-----BEGIN ${label}-----\n${body.replaceAll(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;
}
