/** Functions by the names that LaTeX and keyboards have for them, with the names that mathjs has. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  sqrt: "sqrt", cbrt: "cbrt", exp: "exp", ln: "log", lg: "log10", log: "log", abs: "abs", floor: "floor", ceil: "ceil",
  sin: "sin", cos: "cos", tan: "tan", cot: "cot", sec: "sec", csc: "csc",
  arcsin: "asin", arccos: "acos", arctan: "atan", arccot: "acot", asin: "asin", acos: "acos", atan: "atan",
  sinh: "sinh", cosh: "cosh", tanh: "tanh", gcd: "gcd", lcm: "lcm", max: "max", min: "min",
}; // prettier-ignore

export function isFunctionName(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name);
}

export function functionOf(name: string): { code: string; isTrigonometric: boolean } {
  const code = FUNCTIONS[name] ?? name;
  return { code, isTrigonometric: /^(?:sin|cos|tan|cot|sec|csc)$/.test(code) };
}
