/** What threads that read YAML load, and nothing else: each loads it again. */
export { parseStrictYaml } from "./strict-yaml.ts";
export { parseYaml, parseYamlDocuments, toGoYaml } from "./yaml.ts";
