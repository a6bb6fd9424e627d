/** Lint rules of our own that oxlint has no built-in for. */
const noBareDate = {
  create(context) {
    return {
      NewExpression(node) {
        if (node.callee.type === "Identifier" && node.callee.name === "Date" && node.arguments.length === 0)
          context.report({ node, message: "new Date() reads real time: take a Clock and use clock.now()." });
      },
    };
  },
};

const FORBIDDEN_METHODS = new Set(["transactionSync", "putSync", "removeSync"]);

/** lmdb's synchronous writes return before fdatasync and spoil the durability of what follows. */
const noSyncTransaction = {
  create(context) {
    return {
      MemberExpression(node) {
        if (node.property.type === "Identifier" && FORBIDDEN_METHODS.has(node.property.name))
          context.report({ node, message: `${node.property.name} is not durable: use the awaited transaction().` });
      },
    };
  },
};

const RANDOM_FUNCTIONS = new Set([
  "randomBytes",
  "randomUUID",
  "randomInt",
  "randomFillSync",
  "randomFill",
  "webcrypto",
]);
const TIMER_MODULES = new Set(["timers", "timers/promises", "perf_hooks"]);
const AMBIENT_GLOBALS = new Set(["setTimeout", "setInterval", "setImmediate", "performance", "crypto"]);

/** A module of Node's own has two names. */
const bare = (name) => String(name).replace(/^node:/, "");

/** Real chance and timers come from one place each (random.ts, clock.ts). */
const noAmbientImports = {
  create(context) {
    return {
      ImportDeclaration(node) {
        if (TIMER_MODULES.has(bare(node.source.value)))
          context.report({ node, message: `${node.source.value} is real time: take a Clock.` });
        if (bare(node.source.value) !== "crypto") return;
        for (const s of node.specifiers)
          if (s.type === "ImportSpecifier" && RANDOM_FUNCTIONS.has(s.imported.name))
            context.report({ node: s, message: `${s.imported.name} is real chance: take a Random.` });
          else if (s.type !== "ImportSpecifier")
            context.report({ node: s, message: "import what you need by name, so that real chance is seen." });
      },
      ImportExpression(node) {
        const name = bare(node.source.value);
        if (TIMER_MODULES.has(name) || name === "crypto")
          context.report({
            node,
            message: `${node.source.value} must be seen at the top: import what you need by name.`,
          });
      },
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "globalThis") return;
        if (node.property.type === "Identifier" && AMBIENT_GLOBALS.has(node.property.name))
          context.report({
            node,
            message: `globalThis.${node.property.name} is real time or chance: take a Clock or a Random.`,
          });
      },
    };
  },
};

export default {
  meta: { name: "capstan" },
  rules: {
    "no-bare-date": noBareDate,
    "no-sync-transaction": noSyncTransaction,
    "no-ambient-imports": noAmbientImports,
  },
};
