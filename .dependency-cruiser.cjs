/** The import directions of docs/architecture.md, enforced. */
const rule = (name, from, to, comment) => ({ name, severity: "error", comment, from, to });

module.exports = {
  forbidden: [
    rule(
      "schema-imports-nothing-of-ours",
      { path: "^sdk/schema/" },
      { path: "^(sdk|functions|engine|infra)/", pathNot: "^sdk/schema/" },
      "sdk/schema is the wire contract shared by all",
    ),
    rule(
      "sdk-not-functions",
      { path: "^sdk/" },
      { path: "^(functions|engine|infra)/" },
      "the SDK finds or spawns the daemon",
    ),
    rule(
      "functions-only-schema",
      { path: "^functions/" },
      { path: "^(sdk|engine|infra)/", pathNot: "^sdk/schema/" },
      "the control plane knows the wire contract only",
    ),
    rule(
      "functions-through-ports",
      {
        path: "^functions/",
        pathNot: "^functions/(local|aws|lambda)/|^functions/(node|gateway|archive|dev)\\.ts$",
      },
      { path: "^functions/(local|aws)/" },
      "adapters are wired up in the entries",
    ),
    rule(
      "homes-apart",
      { path: "^functions/(aws|lambda)/" },
      { path: "^functions/local/" },
      "what both homes share is in functions/system",
    ),
    rule(
      "engine-only-schema",
      { path: "^engine/" },
      { path: "^(sdk|functions|infra)/", pathNot: "^sdk/schema/" },
      "a container knows a URL and a job token",
    ),
    rule(
      "infra-alone",
      { path: "^infra/" },
      { path: "^(sdk|functions|engine)/" },
      "infra bundles entries by path",
    ),
    rule(
      "no-cycles",
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
      "no import cycles",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|fixtures)/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node"] },
  },
};
