import { isFunctionName, functionOf } from "./functions.ts";
import { TokenReader, Unreadable } from "./token-reader.ts";
import type { Token } from "./tokens.ts";
import type { Expression } from "./value.ts";

/** Of brackets within brackets: deeper is nobody's answer, and would fill the stack. */
const MAX_DEPTH = 60;
/** Of a sum that is written out. */
const MAX_TERMS = 200;
/** Of numbers in one expression. */
const MAX_NUMBERS = 1_000;
/** Ways to choose from more are counted one by one, which takes for ever. */
const MAX_CHOICE = 1_000;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const GREEK = /^\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|upsilon|phi|chi|psi|omega)$/i; // prettier-ignore
const CONSTANTS: Readonly<Record<string, string>> = {
  e: "e",
  i: "i",
  pi: "pi",
  infty: "infinity",
  "\\infty": "infinity",
};

/** Reads one expression, all of the tokens. Undefined where it is none. */
export function readExpression(tokens: readonly Token[]): Expression | undefined {
  try {
    return new Reader(tokens).read();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/** Recursive descent, from LaTeX or plain writing to the syntax of mathjs. */
class Reader extends TokenReader {
  readonly #numbers: string[] = [];
  readonly #variables = new Set<string>();
  /** Indexes of sums, with the number that each stands for. */
  readonly #bound = new Map<string, string>();
  #depth = 0;
  #isAngle = false;
  #isPercent = false;
  #hasImaginary = false;

  read(): Expression {
    const code = this.#sum();
    if (this.at < this.tokens.length) throw new Unreadable();
    const bare = this.tokens.filter(({ text }) => text !== "-" && text !== "%");
    return {
      kind: "expression",
      code,
      numbers: this.#numbers,
      variables: [...this.#variables],
      isDecimal: bare.length === 1 && bare[0]?.type === "number" && bare[0].text.includes("."),
      isPercent: this.#isPercent,
      hasImaginary: this.#hasImaginary,
    };
  }

  #sum(): string {
    let code = this.#product();
    for (;;) {
      if (this.take("+")) code = `${code} + ${this.#product()}`;
      else if (this.take("-")) code = `${code} - ${this.#product()}`;
      else return code;
    }
  }

  #product(): string {
    if (++this.#depth > MAX_DEPTH) throw new Unreadable();
    const code = this.#factors();
    this.#depth--;
    return code;
  }

  #factors(): string {
    if (this.take("-")) return `(-${this.#product()})`;
    if (this.take("+")) return this.#product();
    let code = this.#power();
    for (;;) {
      if (this.take("*") || this.take("\\cdot") || this.take("\\times")) code = `${code} * ${this.#factor()}`;
      else if (this.take("/") || this.take("\\div")) code = `${code} / ${this.#factor()}`;
      else if (this.#beginsFactor()) code = `${code} * ${this.#power()}`;
      else return code;
    }
  }

  /** After an operator a sign may stand: `2 * -3`. */
  #factor(): string {
    return this.take("-") ? `(-${this.#power()})` : this.#power();
  }

  #beginsFactor(): boolean {
    const token = this.peek();
    if (token === undefined || token.type === "words") return false;
    if (token.type === "name") return true;
    // Two numbers side by side are no product, but for 1 1/2, which is read where the first one is.
    if (token.type === "number") return this.tokens[this.at - 1]?.type !== "number";
    return (
      ["(", "{", "[", "\\frac", "\\binom", "\\lfloor", "\\lceil"].includes(token.text) || isSymbol(token.text)
    );
  }

  #power(): string {
    let code = this.#base();
    for (;;) {
      if (this.take("^")) code = `(${code})^(${this.#script()})`;
      else if (this.take("!")) code = `factorial(${code})`;
      else if (this.take("\\degree")) code = this.#isAngle ? `(${code} * pi / ${this.#number("180")})` : code;
      else if (this.take("%")) {
        this.#isPercent = true;
        code = `(${code} / ${this.#number("100")})`;
      } else return code;
    }
  }

  #base(): string {
    const token = this.next();
    if (token.type === "words") throw new Unreadable();
    if (token.type === "number") return this.#mixed(token.text);
    if (token.text === "sqrt") return this.#root();
    if (token.type === "name" && isFunctionName(token.text)) return this.#function(token.text);
    if (token.type === "name" || isSymbol(token.text)) return this.#symbol(token.text);
    const { text } = token;
    if (text in CLOSING) return this.#group(text);
    if (text === "|") return this.#until("|", "abs");
    if (text === "\\lfloor") return this.#until("\\rfloor", "floor");
    if (text === "\\lceil") return this.#until("\\rceil", "ceil");
    if (text === "\\frac") return `((${this.#argument()}) / (${this.#argument()}))`;
    if (text === "\\binom") return this.#binomial();
    if (text === "\\sum" || text === "\\prod") return this.#series(text === "\\sum" ? " + " : " * ");
    throw new Unreadable();
  }

  /** `1\frac{1}{2}` and `1 1/2` are one and a half. */
  #mixed(whole: string): string {
    const [slash, over] = [this.tokens[this.at + 1], this.tokens[this.at + 2]];
    const code = this.#number(whole);
    if (!/^\d+$/.test(whole)) return code;
    if (this.peek()?.text === "\\frac") {
      const parts = this.tokens.slice(this.at + 1, this.at + 7);
      if (/^(?:\{\d+\}|\d)(?:\{\d+\}|\d)/.test(parts.map(({ text }) => text).join("")))
        return `(${code} + ${this.#power()})`;
    }
    if (this.peek()?.type === "number" && slash?.text === "/" && over?.type === "number") {
      const [up] = [this.next(), this.next()];
      return `(${code} + ${this.#number(up.text)} / ${this.#number(this.next().text)})`;
    }
    return code;
  }

  #symbol(text: string): string {
    const constant = CONSTANTS[text];
    const subscript = this.take("_") ? this.#subscript() : "";
    const bound = this.#bound.get(text);
    if (bound !== undefined && subscript === "") return this.#number(bound);
    if (constant !== undefined && subscript === "") {
      if (constant === "i") this.#hasImaginary = true;
      return constant;
    }
    const name = `v_${`${text}_${subscript}`.replace(/[^a-zA-Z0-9]+/g, "_")}`;
    this.#variables.add(name);
    return name;
  }

  #subscript(): string {
    const token = this.next();
    if (token.text !== "{") return token.text;
    let text = "";
    for (let each = this.next(); each.text !== "}"; each = this.next()) text += each.text;
    return text;
  }

  #function(name: string): string {
    const { code, isTrigonometric } = functionOf(name);
    const power = this.take("^") ? this.#script() : undefined;
    const base = this.take("_") ? this.#script() : undefined;
    const wasAngle = this.#isAngle;
    this.#isAngle ||= isTrigonometric;
    const given = this.#given();
    this.#isAngle = wasAngle;
    const inverse = power === undefined ? undefined : this.#inverse(name, power);
    if (inverse !== undefined) return `${inverse}(${given})`;
    const call = name === "log" ? `log(${given}, ${base ?? this.#number("10")})` : `${code}(${given})`;
    return power === undefined ? call : `(${call})^(${power})`;
  }

  /** `\sin^{-1} x` is the arc sine. */
  #inverse(name: string, power: string): string | undefined {
    const [, place] = /^\(?-k(\d+)\)?$/.exec(power) ?? [];
    return place !== undefined && this.#numbers[Number(place)] === "1" && ["sin", "cos", "tan"].includes(name)
      ? `a${name}`
      : undefined;
  }

  /** What a function is of: what brackets hold, or all up to the next sign or function. */
  #given(): string {
    const first = this.peek()?.text;
    if (first === "(" || first === "{") {
      this.at++;
      const list = [this.#sum()];
      while (this.take(",")) list.push(this.#sum());
      this.expect(CLOSING[first] ?? "");
      return list.join(", ");
    }
    if (this.take("-")) return `(-${this.#given()})`;
    let code = this.#power();
    for (;;) {
      const next = this.peek();
      if (!this.#beginsFactor() || (next?.type === "name" && isFunctionName(next.text))) return code;
      code = `${code} * ${this.#power()}`;
    }
  }

  #root(): string {
    let index: string | undefined;
    if (this.take("[")) {
      index = this.#sum();
      this.expect("]");
    }
    const of = this.#argument();
    return index === undefined ? `sqrt(${of})` : `nthRoot(${of}, ${index})`;
  }

  /** Of small numbers what mathjs counts; else what it means for any number. */
  #binomial(): string {
    const [from, chosen] = [this.#argument(), this.#argument()];
    const isSmall = this.#variables.size === 0 && this.#numbers.every((each) => Number(each) <= MAX_CHOICE);
    if (isSmall) return `combinations(${from}, ${chosen})`;
    const one = this.#number("1");
    const gamma = (code: string) => `gamma(${code} + ${one})`;
    return `(${gamma(from)} / (${gamma(chosen)} * ${gamma(`(${from}) - (${chosen})`)}))`;
  }

  /** `\sum_{i=1}^{4} i`, written out. */
  #series(operator: string): string {
    this.expect("_");
    this.expect("{");
    const name = this.next().text;
    this.expect("=");
    const from = Number(this.next().text);
    this.expect("}");
    this.expect("^");
    const isBraced = this.take("{");
    const to = Number(this.next().text);
    if (isBraced) this.expect("}");
    if (!Number.isInteger(from) || !Number.isInteger(to) || to < from || to - from >= MAX_TERMS)
      throw new Unreadable();
    const start = this.at;
    const terms: string[] = [];
    for (let value = from; value <= to; value++) {
      this.at = start;
      this.#bound.set(name, String(value));
      terms.push(`(${this.#product()})`);
    }
    this.#bound.delete(name);
    return `(${terms.join(operator)})`;
  }

  /** Of `\frac` and `\sqrt`: a group, or one digit, letter or command. */
  #argument(): string {
    const token = this.peek();
    // \frac12 is a half: of digits without braces the first one is meant.
    if (token?.type === "number" && /^\d\d+$/.test(token.text)) {
      const digits = [token.text.slice(0, 1), token.text.slice(1)];
      this.tokens.splice(this.at, 1, ...digits.map((text) => ({ type: "number" as const, text })));
    }
    return this.#base();
  }

  /** Of `^`: also with a sign. */
  #script(): string {
    if (++this.#depth > MAX_DEPTH) throw new Unreadable();
    const code = this.take("-") ? `(-${this.#script()})` : this.#base();
    const raised = this.take("^") ? `(${code})^(${this.#script()})` : code;
    this.#depth--;
    return raised;
  }

  #group(open: string): string {
    const code = this.#sum();
    this.expect(CLOSING[open] ?? "");
    return `(${code})`;
  }

  #until(close: string, name: string): string {
    const code = this.#sum();
    this.expect(close);
    return `${name}(${code})`;
  }

  #number(text: string): string {
    if (this.#numbers.length >= MAX_NUMBERS) throw new Unreadable();
    return `k${this.#numbers.push(text) - 1}`;
  }
}

function isSymbol(text: string): boolean {
  return text === "\\infty" || text === "\\pi" || GREEK.test(text);
}
