import { type Document, isAlias, isMap, isScalar, parseAllDocuments, visit } from "yaml";

/** What a kubeconfig may hold that runs a command where the component runs. */
const COMMANDS = new Set(["exec", "auth-provider"]);

/** Fields of kubeconfigs and of the components' configuration files whose value is a path that the component reads. */
const PATHS = new Set([
  "tokenfile",
  "client-key",
  "client-certificate",
  "certificate-authority",
  "kubeconfigfile",
  "kubeconfig",
  "certfile",
  "keyfile",
  "cafile",
]);

/** Where the placements put `files`; a name alone is looked for beside the file that says it. */
const OWN_FOLDERS = /^(?:\$FILES|\/proc\/self\/cwd\/files|\/etc\/kubernetes\/pki|\.)\//;

/** What can spell one of these words: the word, an escape, or a tag. */
const NEEDS_A_LOOK = new RegExp([...COMMANDS, ...PATHS, "path", "\\\\", "!"].join("|"), "i");
/** Certificates and keys, whose letters may spell anything and name nothing. */
const PEM = /-----BEGIN [A-Z ]+-----[A-Za-z0-9+/=\s]*-----END [A-Z ]+-----/g;
/** Reading more would keep others waiting. */
const MAX_LENGTH = 16 * 1024;

/**
 * Why a file of `spec.*.files` is refused, or undefined when it is fine: one that has a command run or another file read would let a
 * tenant out of its own walls. Looks at nodes rather than values, so that no key is hidden by a second one and no alias is multiplied.
 */
export function fileContentProblem(text: string, fileNames: readonly string[]): string | undefined {
  if (!NEEDS_A_LOOK.test(text.replaceAll(PEM, ""))) return undefined;
  if (text.length > MAX_LENGTH)
    return `is longer than ${MAX_LENGTH} characters, too long to be checked for commands and paths; shorten or split it`;
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent", prettyErrors: false });
  for (const document of Array.isArray(documents) ? documents : []) {
    const broken = document.errors[0];
    // What is no YAML here (a certificate, say) may still be YAML to others.
    if (broken !== undefined && suspicious(text)) return `cannot be read as YAML (${broken.code}); correct it`;
    const problem = documentProblem(document, fileNames);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function documentProblem(document: Document, fileNames: readonly string[]): string | undefined {
  let problem: string | undefined;
  const admission = isMap(document.contents) && document.contents.get("kind") === "AdmissionConfiguration";
  visit(document, {
    Pair: (_index, pair) => {
      const key = textOf(pair.key, document);
      // Some of the readers do not tell capital letters from small ones.
      const name = key?.toLowerCase() ?? "";
      if (COMMANDS.has(name) && !isEmpty(pair.value, document))
        problem = `has ${key}, which would run a command beside other control planes; remove it and use a certificate or a token`;
      else if (PATHS.has(name) || (admission && name === "path")) {
        const path = textOf(pair.value, document) ?? "";
        if (path !== "" && !fileNames.includes(path.replace(OWN_FOLDERS, "")))
          // The value may be a secret in the wrong place.
          problem = `has a ${key} that is not one of files; add it there and name it without a folder, or write its content instead`;
      }
      return problem === undefined ? undefined : visit.BREAK;
    },
  });
  return problem;
}

function isEmpty(node: unknown, document: Document): boolean {
  const value = isAlias(node) ? node.resolve(document) : node;
  return value === null || value === undefined || (isScalar(value) && (value.value === null || value.value === ""));
}

function textOf(node: unknown, document: Document): string | undefined {
  const scalar = isAlias(node) ? node.resolve(document) : node;
  if (!isScalar(scalar) || scalar.value === null || scalar.value === undefined) return undefined;
  // `!!binary` is text to the components.
  return scalar.value instanceof Uint8Array ? Buffer.from(scalar.value).toString() : String(scalar.value);
}

function suspicious(text: string): boolean {
  const words = [...COMMANDS, ...PATHS].join("|");
  return new RegExp(`(${words}|\\bpath)["']?\\s*:|\\\\[xuU]|!!binary|!<`, "i").test(text);
}
