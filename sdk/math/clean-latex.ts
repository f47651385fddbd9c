const SIGNS: Readonly<Record<string, string>> = {
  "×": "\\times ",
  "·": "\\cdot ",
  "∙": "\\cdot ",
  "⋅": "\\cdot ",
  "÷": "\\div ",
  "−": "-",
  "–": "-",
  "≤": "\\le ",
  "≥": "\\ge ",
  "≠": "\\ne ",
  "∞": "\\infty ",
  "√": "\\sqrt ",
  "∪": "\\cup ",
  "∩": "\\cap ",
  "∈": "\\in ",
  "∅": "\\emptyset ",
  "±": "\\pm ",
  "°": "\\degree ",
  ℝ: "\\reals ",
  "²": "^2",
  "³": "^3",
  "½": "\\frac{1}{2}",
  "¼": "\\frac{1}{4}",
  "¾": "\\frac{3}{4}",
  π: "\\pi ",
  α: "\\alpha ",
  β: "\\beta ",
  γ: "\\gamma ",
  δ: "\\delta ",
  θ: "\\theta ",
  λ: "\\lambda ",
  μ: "\\mu ",
  φ: "\\phi ",
  ω: "\\omega ",
};

const SIGN = new RegExp(`[${Object.keys(SIGNS).join("")}]`, "g");

/** Each applies to what those before it left. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\\m?(?:left|right)(?![a-zA-Z])\.?|\\[bB]igg?[lrm]?(?![a-zA-Z])|\\(?:display|text|script)style/g, ""],
  [/(?<!\\)\\[,;:!> ]|\\q?quad(?![a-zA-Z])|~|\\n(?![a-zA-Z])/g, " "],
  [/\\[dtc]frac(?![a-zA-Z])/g, "\\frac"],
  [/\\(?:mathrm|mathit|mbox|hbox|operatorname\*?|text(?:bf|it|rm|normal|sf|tt)|mathsf)(?=\s*\{)/g, "\\text"],
  [/\\(?:mathbf|boldsymbol|vec|mathcal|bar|hat)\s*\{([^{}]*)\}/g, "{$1}"],
  [/\\mathbb\s*\{?R\}?|\\(?:R|Reals)(?![a-zA-Z])/g, "\\reals "],
  [/\{,\}/g, ","],
  [/\\text\s*\{\s*(?:percent(?:age)?|pct)\s*\}|\b(?:percent(?:age)?|pct)\b|\\%/gi, "%"],
  [/\\text\s*\{[\s,]*(?:and|or)\s*\}|,?\s*(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])/g, ", "],
  [/\\\$|[$€£¥₹₩₽₿]|\\(?:pounds|euro)(?![a-zA-Z])/g, ""],
  [/\^\s*\{\s*\\circ\s*\}|\^\s*\\circ(?![a-zA-Z])|\\degrees?(?![a-zA-Z])|\bdegrees?\b/g, "\\degree "],
  [/\\text\s*\{\s*\\degree\s*\}/g, "\\degree "],
  [/\\leqs?lant(?![a-zA-Z])|\\leq?(?![a-zA-Z])|<=/g, "\\le "],
  [/\\geqs?lant(?![a-zA-Z])|\\geq?(?![a-zA-Z])|>=/g, "\\ge "],
  [/\\lt(?![a-zA-Z])/g, "<"],
  [/\\gt(?![a-zA-Z])/g, ">"],
  [/\\neq?(?![a-zA-Z])|!=/g, "\\ne "],
  [/\\l(?:brace|group)(?![a-zA-Z])/g, "\\{"],
  [/\\r(?:brace|group)(?![a-zA-Z])/g, "\\}"],
  [/\\[lr]?(?:vert|Vert)(?![a-zA-Z])|\\\|/g, "|"],
  [/\\(?:varnothing|O)(?![a-zA-Z])/g, "\\emptyset "],
  [/(?<![\\a-zA-Z])infinity|(?<![\\a-zA-Z])inf(?![a-zA-Z])/g, "\\infty "],
  [/\*\*/g, "^"],
  [/\\l?dots|\\cdots|…/g, " "],
  [/(?<!\\)["'`]/g, ""],
  [/\s+/g, " "],
];

/** One way to write each thing, of the many that LaTeX and keyboards have. */
export function cleanLatex(text: string): string {
  const signs = text.replace(SIGN, (sign) => SIGNS[sign] ?? sign);
  const clean = RULES.reduce((result, [pattern, by]) => result.replace(pattern, by), signs);
  return clean
    .trim()
    .replace(/^=\s*/, "")
    .replace(/[\s.,;:]+$/, "");
}
