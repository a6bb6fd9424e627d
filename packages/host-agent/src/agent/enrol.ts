import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { type Clock, isObject, type Random } from "@capstan/apimachinery";
import { kubeconfigFromText } from "@capstan/runtime";
import { type Credentials, type Enrolment, expiredAt, loadCredentials, requestCertificate } from "./identity.ts";

/** How a host enrols: with the line that `capstan host add` prints, or with the kubeconfig of a BootstrapKubeconfig. */
export interface EnrolOptions {
  line?: string;
  bootstrapKubeconfig?: string;
  namespace?: string;
  name?: string;
}

type Offer = Enrolment & { token: string; tokenID: string };

/** Returns the stored identity of this host, or enrols it. Errors say what to do. */
export async function identify(
  options: EnrolOptions,
  deps: { clock: Clock; random: Random; stateDir: string },
  say: (text: string) => void,
): Promise<Enrolment & Credentials> {
  const known = await loadCredentials(deps.stateDir);
  const offer = await readOffer(options, deps.clock);
  const ended = known === undefined ? undefined : expiredAt(known.certPem, deps.clock.now());
  // A service restarts with the line it was first started with: a token that was used is not used again.
  if (known !== undefined && ended === undefined && (offer === undefined || offer.tokenID === known.tokenID))
    return known;
  if (offer === undefined || (known !== undefined && offer.tokenID === known.tokenID))
    throw new Error(
      ended === undefined
        ? "this host is not enrolled yet: run the line that `capstan host add NAME` prints"
        : `the certificate of this host ended at ${ended.toISOString()} (the clock says ${new Date(deps.clock.now()).toISOString()}): set the clock right, or run the line that \`capstan host add ${known?.name}\` prints`,
    );
  const { token, ...enrolment } = offer;
  const credentials = await requestCertificate(enrolment, { token }, deps);
  say(`enrolled as ${offer.namespace}/${offer.name} at ${offer.server}\n`);
  return { ...enrolment, ...credentials };
}

async function readOffer(options: EnrolOptions, clock: Clock): Promise<Offer | undefined> {
  if (options.line !== undefined) return parseLine(options.line);
  if (options.bootstrapKubeconfig === undefined) return undefined;
  const config = await kubeconfigFromText(await readFile(options.bootstrapKubeconfig, "utf8"), { clock });
  const token = (await config.credentials?.get())?.token;
  const { caPem } = config.tls ?? {};
  if (token === undefined || caPem === undefined)
    throw new Error(`${options.bootstrapKubeconfig} has no token or no certificate-authority-data`);
  const namespace = options.namespace ?? "default";
  const name = options.name ?? hostname().toLowerCase();
  return { server: config.server, caPem, namespace, name, token, tokenID: idOf(token) };
}

/** The line is base64url of JSON; one that was truncated when copied is distinguished from an invalid one. */
function parseLine(text: string): Offer {
  let line: unknown;
  try {
    line = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    line = undefined;
  }
  const fields = isObject(line) ? line : {};
  const [server, caPem, namespace, name, token] = ["server", "ca", "namespace", "name", "token"].map(
    (key) => fields[key],
  );
  if (![server, caPem, namespace, name, token].every((value) => typeof value === "string"))
    throw new Error("the text after --enrol is not complete: copy the whole line that `capstan host add NAME` prints");
  const offer = { server, caPem, namespace, name, token } as Omit<Offer, "tokenID">;
  return { ...offer, tokenID: idOf(offer.token) };
}

function idOf(token: string): string {
  return token.split(".")[0] ?? "";
}
