// Read what `mcpframe publish` wrote into a folder as its hosts do, and print what they understand of it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { resolveConfig } from "@netlify/config";
import { getTransformedRoutes, headersSchema } from "@vercel/routing-utils";
import Ajv from "ajv";

globalThis.require = createRequire(import.meta.url); // @cloudflare/workers-utils is a bundle that needs it
const { experimental_readRawConfig, normalizeAndValidateConfig } = await import("@cloudflare/workers-utils");

const [folder] = process.argv.slice(2);
const problems = [];

const worker = join(folder, "wrangler.jsonc");
const { rawConfig } = experimental_readRawConfig({ config: worker });
const { config, diagnostics } = normalizeAndValidateConfig(rawConfig, worker, worker, {});
if (diagnostics.hasErrors()) problems.push(diagnostics.renderErrors());
if (diagnostics.hasWarnings()) problems.push(diagnostics.renderWarnings());

const vercel = JSON.parse(readFileSync(join(folder, "vercel.json"), "utf8"));
const { error, routes } = getTransformedRoutes(vercel);
if (error) problems.push(error.message);
const ajv = new Ajv({ strict: false });
if (!ajv.validate(headersSchema, vercel.headers)) problems.push(ajv.errorsText());

const netlify = await resolveConfig({
  cwd: folder,
  repositoryRoot: folder,
  config: join(folder, "netlify.toml"),
  offline: true,
  branch: "main",
});

console.log(
  JSON.stringify({
    problems,
    cloudflare: { assets: config.assets, name: config.name },
    vercel: routes.filter((route) => route.continue).map((route) => [route.src, route.headers]),
    netlify: { build: netlify.config.build, headers: netlify.config.headers },
  }),
);
