/** How programs of this repository become few files that start at once: Node spends most of a start on finding and linking modules. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** @param {string} path */
export const manifest = (path) => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));

/**
 * Bundles built programs, by name, into `outdir`; lmdb, which brings native code, stays a package. Run after the build.
 * @param {Record<string, string>} programs
 * @param {string} outdir
 */
export async function bundle(programs, outdir) {
  const doors = await readDoors();
  return build({
    entryPoints: {
      ...programs,
      // What the API's thread for large YAML texts loads; it looks for it next to the program.
      "yaml-library": join(root, "packages/apimachinery/dist/yaml-library.js"),
    },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: "chunk-[hash]",
    platform: "node",
    target: "node20",
    format: "esm",
    minify: true,
    legalComments: "none",
    external: ["lmdb"],
    // CommonJS dependencies ask for Node's own modules.
    banner: { js: "import{createRequire as __require}from'node:module';const require=__require(import.meta.url);" },
    plugins: [
      { name: "own-code", setup: ownCodeHasNoSideEffects },
      { name: "named-exports", setup: keepNamedExports },
      { name: "commander", setup: withoutSubprograms },
      { name: "no-doors", setup: (esbuild) => importPastDoors(esbuild, doors) },
    ],
    logOverride: { "ignored-bare-import": "error" },
    metafile: true,
  });
}

/**
 * Modules of this repository only define things, so that a command takes along what it uses and no more.
 * @param {import("esbuild").PluginBuild} esbuild
 */
function ownCodeHasNoSideEffects(esbuild) {
  const own = [join(root, "packages/"), join(root, "providers/")];
  esbuild.onResolve({ filter: /^(\.|\/|@capstan\/)/ }, async ({ path, pluginData, ...options }) => {
    if (pluginData === "asked" || options.kind === "entry-point") return undefined;
    if (!own.some((folder) => dirname(options.importer).startsWith(folder))) return undefined;
    const found = await esbuild.resolve(path, { ...options, pluginData: "asked" });
    // These register what they define; forgetting another such module would be an error, see logOverride.
    const registers = /[/\\]apimachinery[/\\]dist[/\\]cel[/\\]lib-/.test(found.path);
    return found.errors.length > 0 || registers ? found : { ...found, sideEffects: false };
  });
}

/**
 * Commander can run commands as programs of their own, which none of ours is; what it loads for that takes as long as the rest of it.
 * @param {import("esbuild").PluginBuild} esbuild
 */
function withoutSubprograms(esbuild) {
  esbuild.onLoad({ filter: /[/\\]commander[/\\]lib[/\\]command\.js$/ }, ({ path }) => {
    const text = readFileSync(path, "utf8");
    const contents = text.replace("require('node:child_process')", "{}");
    return contents === text
      ? { errors: [{ text: "commander no longer loads node:child_process here" }] }
      : { contents };
  });
}

/**
 * A CommonJS package that is loaded when first needed has its exports by name in Node, but only as `default` in a bundle.
 * @param {import("esbuild").PluginBuild} esbuild
 */
function keepNamedExports(esbuild) {
  esbuild.onResolve({ filter: /^[a-z]/ }, ({ path, kind, importer, resolveDir }) =>
    kind === "dynamic-import" && path !== "lmdb" && !importer.includes("node_modules")
      ? { path, namespace: "named", pluginData: resolveDir }
      : undefined,
  );
  esbuild.onLoad({ filter: /.*/, namespace: "named" }, async ({ path, pluginData: resolveDir }) => {
    const names = Object.keys(await import(path)).filter((key) => /^[A-Za-z_]\w*$/.test(key) && key !== "default");
    const contents = `import * as all from "${path}";
const found = all.default ?? all;
${names.map((key, at) => `const x${at} = found.${key};`).join("\n")}
export { ${names.map((key, at) => `x${at} as ${key}`).join(", ")} };`;
    return { contents, resolveDir };
  });
}

/**
 * Where each export of each package comes from: package, then name, then file.
 * @returns {Promise<Map<string, Map<string, string>>>}
 */
async function readDoors() {
  const found = new Map();
  for (const group of ["packages", "providers"])
    for (const folder of readdirSync(join(root, group)))
      for (const door of ["", "/foreign"]) {
        const index = join(root, group, folder, `dist${door}/index.js`);
        if (!existsSync(index)) continue;
        /** @type {Map<string, string>} */
        const names = new Map();
        for (const [, list, from] of readFileSync(index, "utf8").matchAll(/export (\*|\{[^}]*\}) from "(\.[^"]+)";/g)) {
          const file = join(dirname(index), from ?? "");
          const exported = list === "*" ? Object.keys(await import(file)) : (list ?? "").slice(1, -1).split(",");
          // What is renamed on its way out stays behind the door.
          for (const name of exported) if (!name.includes(" as ")) names.set(name.trim(), file);
        }
        found.set(`${manifest(join(group, folder)).name}${door}`, names);
      }
  return found;
}

/**
 * Chunks follow files: whoever imports from a package's door would take along all that anybody takes from it. So imports name the files.
 * @param {import("esbuild").PluginBuild} esbuild
 * @param {Map<string, Map<string, string>>} packages
 */
function importPastDoors(esbuild, packages) {
  esbuild.onLoad({ filter: /[/\\](packages|providers)[/\\][^/\\]+[/\\]dist[/\\].*\.js$/ }, ({ path }) => {
    const text = readFileSync(path, "utf8");
    const contents = text.replace(
      /^import \{([^}]*)\} from "(@capstan\/[a-z0-9-]+(?:\/foreign)?)";/gm,
      (line, list, name) => {
        const files = packages.get(name);
        if (files === undefined) return line;
        return list
          .split(",")
          .filter((part) => part.trim() !== "")
          .map((part) => {
            const file = files.get(part.trim().split(" as ")[0] ?? "");
            return `import {${part}} from ${JSON.stringify(file ?? name)};`;
          })
          .join("");
      },
    );
    return { contents, loader: "js", resolveDir: dirname(path) };
  });
}
