#!/usr/bin/env node
/**
 * Makes the command a package of its own in `dist/capstan`: few files that start at once, with the dashboard's page when that is built.
 * `npm publish`, `npm pack` and `npm install -g` take that folder as it is; lmdb, which brings native code, is its only dependency. Run
 * after the build.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const outdir = join(root, "dist/capstan");
/** @param {string} path */
const manifest = (path) => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
const result = await build({
  entryPoints: {
    capstan: join(root, "packages/cli/dist/main.js"),
    // What the API's thread for large YAML texts loads; it looks for it beside the program.
    "yaml-library": join(root, "packages/apimachinery/dist/yaml.js"),
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
  ],
  logOverride: { "ignored-bare-import": "error" },
  metafile: true,
});

const { name, version, description, license, engines } = manifest("packages/cli");
const lmdb = manifest("packages/apiserver").dependencies.lmdb;
writeFileSync(
  join(outdir, "package.json"),
  `${JSON.stringify(
    {
      name,
      version,
      description,
      license,
      type: "module",
      engines,
      bin: { capstan: "capstan.js", "kubectl-capstan": "capstan.js" },
      dependencies: { lmdb },
    },
    null,
    2,
  )}\n`,
);
for (const file of ["README.md", "LICENSE"]) copyFileSync(join(root, file), join(outdir, file));
const page = join(root, "packages/dashboard/dist");
if (existsSync(join(page, "index.html"))) cpSync(page, join(outdir, "dashboard"), { recursive: true });
const bytes = Object.keys(result.metafile.outputs).reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
console.log(`${outdir} (${Math.round(bytes / 1024)} KiB of programs)`);

/**
 * Modules of this repository only define things, so that a command takes along what it uses and no more.
 * @param {import("esbuild").PluginBuild} esbuild
 */
function ownCodeHasNoSideEffects(esbuild) {
  const own = [join(root, "packages/"), join(root, "providers/")];
  esbuild.onResolve({ filter: /^(\.|@capstan\/)/ }, async ({ path, pluginData, ...options }) => {
    if (pluginData === "asked" || options.kind === "entry-point") return undefined;
    if (!own.some((folder) => dirname(options.importer).startsWith(folder))) return undefined;
    const found = await esbuild.resolve(path, { ...options, pluginData: "asked" });
    // These register what they define; forgetting another such module would be an error, see logOverride.
    const registers = /[/\\]apimachinery[/\\]dist[/\\]cel[/\\]lib-/.test(found.path);
    return found.errors.length > 0 || registers ? found : { ...found, sideEffects: false };
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
