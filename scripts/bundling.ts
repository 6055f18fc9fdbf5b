// The settings by which sources become a bundle: of dist/, and of what the network tests run against.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

/** The SDK checks what people answer to forms; the team server shows none, and what checks them is a quarter of what it would load. */
export const noForms: Plugin = {
  name: 'no-forms',
  setup(build) {
    build.onResolve({ filter: /\/ajv-provider\.js$/ }, ({ path }) => ({ path, namespace: 'no-forms' }));
    build.onLoad({ filter: /.*/, namespace: 'no-forms' }, () => ({
      contents:
        "export class AjvJsonSchemaValidator { getValidator() { throw new Error('the bundle has no validator') } }",
    }));
  },
};

/**
 * Undici's index loads what we have no use for, 6 MB of it: mocks, interceptors, caches, web sockets. Its own code runs, with
 * what it does to prototypes; the network tests, run against the bundle, use each entry that we do. Prom-client's loads the
 * metrics of a process and all that sends metrics elsewhere. Gray-matter gets a parser of YAML from us, and brings another.
 */
const SPARE =
  /\/undici\/lib\/(?:mock|interceptor|cache|web\/(?:cookies|eventsource|websocket))\/.*\.js$|\/prom-client\/lib\/(?:defaultMetrics|cluster|pushgateway|summary)\.js$|\/js-yaml\/(?:dist\/)?(?:index\.js|js-yaml\.mjs)$/;

const noSpare: Plugin = {
  name: 'no-spare',
  setup(build) {
    // Undici has the same parser twice; this one needs no vector instructions of the processor, so it runs on each.
    build.onResolve({ filter: /\/llhttp_simd-wasm\.js$/ }, ({ resolveDir }) => ({
      path: join(resolveDir, '..', 'llhttp', 'llhttp-wasm.js'),
    }));
    build.onLoad({ filter: SPARE }, ({ path }) => {
      const words = JSON.stringify(`the bundle has no ${path.slice(path.lastIndexOf('/node_modules/') + 14)}`);
      return {
        contents: `function gone() { throw new Error(${words}); }
module.exports = new Proxy(gone, { get: (of, key) => (key in of ? of[key] : gone) });`,
      };
    });
  },
};

/** A method for each of a thousand routes, of which the tracker calls none: it asks by route. */
const noRouteMethods: Plugin = {
  name: 'no-route-methods',
  setup(build) {
    build.onLoad({ filter: /\/@octokit\/plugin-rest-endpoint-methods\/.*\.js$/ }, () => ({
      contents: 'export const [restEndpointMethods, legacyRestEndpointMethods] = [() => ({}), () => ({})];',
    }));
  },
};

/** An App of ours makes tokens of its installation alone: nobody logs in through it. */
const noOauth: Plugin = {
  name: 'no-oauth',
  setup(build) {
    build.onLoad({ filter: /\/@octokit\/auth-oauth-(?:app|user)\/.*\.js$/ }, () => ({
      contents: `export const [createOAuthAppAuth, createOAuthUserAuth] = [() => undefined, () => undefined];
export const requiresBasicAuth = () => false;`,
    }));
  },
};

/** What string-width makes when it is loaded takes 60 ms, and few texts need it: made at the first of these. */
const LATE: readonly (readonly [string, string])[] = [
  ['const segmenter = new Intl.Segmenter();', 'let segmenter;'],
  ['segmenter.segment(', '(segmenter ??= new Intl.Segmenter()).segment('],
  ['const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;', 'let rgiEmojiRegex;'],
  ['rgiEmojiRegex.test(', "(rgiEmojiRegex ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v')).test("],
];

const lateWidth: Plugin = {
  name: 'late-width',
  setup(build) {
    build.onLoad({ filter: /\/string-width\/index\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const [early, late] of LATE) {
        if (contents.split(early).length !== 2) return { errors: [{ text: `${path}: expected once: ${early}` }] };
        contents = contents.replace(early, () => late);
      }
      return { contents };
    });
  },
};

/** What every bundle has in common. */
export function commonSettings(root: string) {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    // What is copied into a project has no package beside it.
    define: { TOOL_VERSION: JSON.stringify(version) },
  } as const satisfies BuildOptions;
}

/** Those of the command, beside the common ones. */
export const COMMAND_SETTINGS = {
  splitting: true,
  // The optional peer of `tool demo`.
  external: ['emulate'],
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [noForms, noSpare, noRouteMethods, noOauth, lateWidth],
  // CommonJS dependencies in an ES module bundle ask for `require`.
  banner: {
    js: "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);",
  },
} satisfies BuildOptions;
