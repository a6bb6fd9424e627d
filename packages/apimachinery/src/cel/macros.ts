import { ACCU, CelIssue, type Expr } from "./ast.ts";
import type { Builder } from "./parser.ts";

/** Expands a macro call into what CEL defines it to mean; undefined when the call is not a macro. */
export function expandMacro(
  make: Builder,
  name: string,
  target: Expr | undefined,
  args: readonly Expr[],
  pos: number,
): Expr | undefined {
  if (target === undefined) return name === "has" && args.length === 1 ? has(make, args, pos) : undefined;
  const [a, b, c, d] = args;
  if (a === undefined || b === undefined) return undefined;
  switch (`${name}/${args.length}`) {
    case "all/2":
    case "exists/2":
    case "exists_one/2":
    case "existsOne/2":
      return quantifier(make, name, target, variable(a), undefined, b, pos);
    case "all/3":
    case "exists/3":
    case "exists_one/3":
    case "existsOne/3":
      return c === undefined ? undefined : quantifier(make, name, target, variable(a), variable(b), c, pos);
    case "filter/2":
      return listFold(make, target, [variable(a)], b, a, pos);
    case "map/2":
      return listFold(make, target, [variable(a)], undefined, b, pos);
    case "map/3":
      return c === undefined ? undefined : listFold(make, target, [variable(a)], b, c, pos);
    case "transformList/3":
      return c === undefined ? undefined : listFold(make, target, [variable(a), variable(b)], undefined, c, pos);
    case "transformList/4":
      return c === undefined || d === undefined
        ? undefined
        : listFold(make, target, [variable(a), variable(b)], c, d, pos);
    case "transformMap/3":
    case "transformMap/4":
    case "transformMapEntry/3":
    case "transformMapEntry/4":
      return mapFold(make, name, target, args, pos);
    case "optMap/2":
    case "optFlatMap/2":
      return optionalMap(make, name, target, variable(a), b, pos);
    default:
      return name === "sortBy" && args.length === 2 ? sortBy(make, target, variable(a), b, pos) : undefined;
  }
}

function variable(expr: Expr): string {
  if (expr.kind !== "ident") throw new CelIssue(expr.pos, "argument must be a simple name");
  return expr.name;
}

function has(make: Builder, args: readonly Expr[], pos: number): Expr {
  const arg = args[0];
  if (arg?.kind !== "select") throw new CelIssue(arg?.pos ?? pos, "invalid argument to has() macro");
  return make.select(pos, arg.operand, arg.field, true);
}

function quantifier(
  make: Builder,
  name: string,
  target: Expr,
  iterVar: string,
  iterVar2: string | undefined,
  predicate: Expr,
  pos: number,
): Expr {
  const accu = (): Expr => make.ident(pos, ACCU);
  const base = { iterRange: target, iterVar, accuVar: ACCU, ...(iterVar2 === undefined ? {} : { iterVar2 }) };
  if (name === "all" || name === "exists") {
    const all = name === "all";
    return make.fold(pos, {
      ...base,
      accuInit: make.literal(pos, all),
      loopCondition: make.call(pos, "@not_strictly_false", [all ? accu() : make.call(pos, "!_", [accu()])]),
      loopStep: make.call(pos, all ? "_&&_" : "_||_", [accu(), predicate]),
      result: accu(),
    });
  }
  return make.fold(pos, {
    ...base,
    accuInit: make.literal(pos, 0n),
    loopCondition: make.literal(pos, true),
    loopStep: make.call(pos, "_?_:_", [predicate, make.call(pos, "_+_", [accu(), make.literal(pos, 1n)]), accu()]),
    result: make.call(pos, "_==_", [accu(), make.literal(pos, 1n)]),
  });
}

function listFold(
  make: Builder,
  target: Expr,
  vars: readonly string[],
  condition: Expr | undefined,
  element: Expr,
  pos: number,
): Expr {
  const accu = (): Expr => make.ident(pos, ACCU);
  const append = make.call(pos, "_+_", [accu(), make.list(pos, [element])]);
  const [iterVar = "", iterVar2] = vars;
  return make.fold(pos, {
    iterRange: target,
    iterVar,
    ...(iterVar2 === undefined ? {} : { iterVar2 }),
    accuVar: ACCU,
    accuInit: make.list(pos, []),
    loopCondition: make.literal(pos, true),
    loopStep: condition === undefined ? append : make.call(pos, "_?_:_", [condition, append, accu()]),
    result: accu(),
  });
}

function mapFold(make: Builder, name: string, target: Expr, args: readonly Expr[], pos: number): Expr | undefined {
  const [a, b] = args;
  const element = args[args.length - 1];
  const condition = args.length === 4 ? args[2] : undefined;
  if (a === undefined || b === undefined || element === undefined) return undefined;
  const accu = (): Expr => make.ident(pos, ACCU);
  const insert =
    name === "transformMap"
      ? make.call(pos, "cel.@mapInsert", [accu(), make.ident(pos, variable(a)), element])
      : make.call(pos, "cel.@mapInsert", [accu(), element]);
  return make.fold(pos, {
    iterRange: target,
    iterVar: variable(a),
    iterVar2: variable(b),
    accuVar: ACCU,
    accuInit: make.map(pos, []),
    loopCondition: make.literal(pos, true),
    loopStep: condition === undefined ? insert : make.call(pos, "_?_:_", [condition, insert, accu()]),
    result: accu(),
  });
}

/** A local name for a value: a fold over nothing whose result uses the accumulator. */
function bind(make: Builder, name: string, value: Expr, result: Expr, pos: number): Expr {
  return make.fold(pos, {
    iterRange: make.list(pos, []),
    iterVar: "#unused",
    accuVar: name,
    accuInit: value,
    loopCondition: make.literal(pos, false),
    loopStep: make.ident(pos, name),
    result,
  });
}

function optionalMap(make: Builder, name: string, target: Expr, iterVar: string, body: Expr, pos: number): Expr {
  // The target gets a name of its own: writing it out twice would make chains grow exponentially.
  const held = "@optional";
  const mapped = bind(make, iterVar, make.call(pos, "value", [], make.ident(pos, held)), body, pos);
  const choice = make.call(pos, "_?_:_", [
    make.call(pos, "hasValue", [], make.ident(pos, held)),
    name === "optMap" ? make.call(pos, "optional.of", [mapped]) : mapped,
    make.call(pos, "optional.none", []),
  ]);
  return bind(make, held, target, choice, pos);
}

function sortBy(make: Builder, target: Expr, iterVar: string, key: Expr, pos: number): Expr {
  const list = "@__sortBy_input__";
  const keys = listFold(make, make.ident(pos, list), [iterVar], undefined, key, pos);
  return bind(make, list, target, make.call(pos, "@sortByAssociatedKeys", [keys], make.ident(pos, list)), pos);
}
