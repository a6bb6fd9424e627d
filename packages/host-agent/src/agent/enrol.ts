import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { type Clock, isObject, type Random } from "@capstan/apimachinery";
import { Client, type ClientConfig, httpTransport, kubeconfigFromText } from "@capstan/runtime";
import { offerEnrolment } from "../enrolment.ts";
import { type Credentials, type Enrolment, expiredAt, loadCredentials, requestCertificate } from "./identity.ts";

/**
 * How a host enrols: with the line that `capstan host add` prints, with the kubeconfig of a BootstrapKubeconfig, or as agents of 2022 did,
 * with a kubeconfig whose user may add hosts. The latter serves to do what `capstan host add` does, once; the agent's own identity is the
 * same in all cases.
 */
export interface EnrolOptions {
  line?: string;
  bootstrapKubeconfig?: string;
  kubeconfig?: string;
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
  const ended = known === undefined ? undefined : expiredAt(known.certPem, deps.clock.now());
  const offer = await readOffer(options, ended === undefined ? known : undefined, deps);
  // A service restarts with its original arguments, so a used token must not be used again.
  if (known !== undefined && ended === undefined && (offer === undefined || offer.tokenID === known.tokenID))
    return known;
  if (offer === undefined || (known !== undefined && offer.tokenID === known.tokenID))
    throw new Error(
      ended === undefined
        ? "this host is not enrolled yet: run the command that `capstan host add NAME` prints"
        : `the certificate of this host expired at ${ended.toISOString()} (the clock shows ${new Date(deps.clock.now()).toISOString()}): correct the clock, or run the command that \`capstan host add ${known?.name}\` prints`,
    );
  const { token, ...enrolment } = offer;
  const credentials = await requestCertificate(enrolment, { token }, deps);
  say(`enrolled as ${offer.namespace}/${offer.name} at ${offer.server}\n`);
  if (options.kubeconfig !== undefined)
    say(`this host has a certificate of its own now and needs ${options.kubeconfig} no longer: remove that file\n`);
  return { ...enrolment, ...credentials };
}

async function readOffer(
  options: EnrolOptions,
  known: Enrolment | undefined,
  deps: { clock: Clock; random: Random },
): Promise<Offer | undefined> {
  if (options.line !== undefined) return parseLine(options.line);
  const namespace = options.namespace ?? "default";
  const name = options.name ?? hostname().toLowerCase();
  if (options.kubeconfig !== undefined) return await ownOffer(options.kubeconfig, { namespace, name }, known, deps);
  if (options.bootstrapKubeconfig === undefined) return undefined;
  const config = await kubeconfigFromText(await readFile(options.bootstrapKubeconfig, "utf8"), deps);
  const token = (await config.credentials?.get())?.token;
  if (token === undefined) throw new Error(`${options.bootstrapKubeconfig} has no token`);
  const caPem = caOf(config, options.bootstrapKubeconfig);
  return { server: config.server, caPem, namespace, name, token, tokenID: idOf(token) };
}

/** Registers this host with the kubeconfig of someone who may; an enrolled host needs that no more, and may have lost the file. */
async function ownOffer(
  file: string,
  host: { namespace: string; name: string },
  known: Enrolment | undefined,
  deps: { clock: Clock; random: Random },
): Promise<Offer | undefined> {
  const isSame = known?.namespace === host.namespace && known.name === host.name;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (isSame) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const config = await kubeconfigFromText(text, deps);
  const { server } = config;
  if (isSame && known.server === server) return undefined;
  const caPem = caOf(config, file);
  const transport = httpTransport(config, deps);
  try {
    const client = new Client(transport, { fieldManager: "capstan-host-agent", clock: deps.clock });
    const { id, secret } = await offerEnrolment(client, host, deps);
    return { ...host, server, caPem, token: `${id}.${secret}`, tokenID: id };
  } catch (error) {
    throw new Error(
      `${error instanceof Error ? error.message : String(error)}: ${file} must be the kubeconfig of a user who may create ByoHosts in ${host.namespace} and Secrets in kube-system; or run the command that \`capstan host add ${host.name}\` prints`,
      { cause: error },
    );
  } finally {
    await transport.close();
  }
}

function caOf({ tls }: ClientConfig, file: string): string {
  if (tls?.caPem === undefined) throw new Error(`${file} has no certificate-authority-data`);
  return tls.caPem;
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
    throw new Error("the text after --enrol is incomplete: copy the whole command that `capstan host add NAME` prints");
  const offer = { server, caPem, namespace, name, token } as Omit<Offer, "tokenID">;
  return { ...offer, tokenID: idOf(offer.token) };
}

function idOf(token: string): string {
  return token.split(".")[0] ?? "";
}
