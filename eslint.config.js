import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "dist/**",
      ".cache/**",
      "**/node_modules/**",
      "scripts/*.mjs",
      "infra/**/*.mjs",
      "bench/peers/**",
      "eslint.config.js",
      ".dependency-cruiser.cjs",
      "test/fixtures/**",
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "max-lines": ["error", { max: 300 }],
      "no-console": "error",
    },
  },
  {
    // Decisions are pure: time, randomness and the environment come in through the ports. A browser has its own.
    files: ["functions/**/*.ts"],
    ignores: [
      "functions/pages/client/**",
      "functions/local/**",
      "functions/system/**",
      "functions/aws/**",
      "functions/lambda/**",
      "functions/node.ts",
      "functions/archive.ts",
      "functions/gateway.ts",
    ],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "Use the injected clock." },
        { object: "Math", property: "random", message: "Use the injected ids or a seeded generator." },
        { object: "process", property: "env", message: "Only entries read the environment." },
      ],
    },
  },
  {
    // Its licence is for what is not passed on.
    ignores: ["test/**"],
    rules: { "no-restricted-imports": ["error", { patterns: ["@cloud-copilot/*"] }] },
  },
  {
    files: ["examples/**", "bench/**", "scripts/**", "sdk/cli/**"],
    rules: { "no-console": "off" },
  },
);
