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
 * Undici's index loads what we have no use for, 6 MB of it: mocks, interceptors, caches, web sockets, HTTP/2, SOCKS, forms.
 * Its own code runs, with what it does to prototypes; the network tests, run against the bundle, use each entry that we do.
 * Prom-client's loads the metrics of a process and all that sends metrics elsewhere. Gray-matter gets a parser of YAML from
 * us, and brings another.
 */
const SPARE = new RegExp(
  [
    'undici/lib/(?:mock|interceptor|cache|web/(?:cookies|eventsource|websocket))/.*',
    'undici/lib/dispatcher/(?:client-h2|h2c-client|balanced-pool|round-robin-pool|retry-agent|socks5-proxy-agent)',
    'undici/lib/(?:handler/(?:retry|redirect)-handler|api/api-(?:pipeline|stream|upgrade)|web/fetch/formdata-parser)',
    'prom-client/lib/(?:defaultMetrics|cluster|pushgateway|summary)',
    'js-yaml/(?:dist/)?(?:index|js-yaml)',
  ]
    .map((path) => `/${path}\\.m?js$`)
    .join('|'),
);

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

/** Changes to the text of a package; each stands there once. */
type Edits = readonly (readonly [from: string, to: string])[];

const EDITED: readonly (readonly [RegExp, Edits])[] = [
  // What string-width makes when it is loaded takes 60 ms, and few texts need it: made at the first of these.
  [
    /\/string-width\/index\.js$/,
    [
      ['const segmenter = new Intl.Segmenter();', 'let segmenter;'],
      ['segmenter.segment(', '(segmenter ??= new Intl.Segmenter()).segment('],
      ['const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;', 'let rgiEmojiRegex;'],
      ['rgiEmojiRegex.test(', "(rgiEmojiRegex ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v')).test("],
    ],
  ],
  // The parser knows languages that nothing here reads.
  [
    /\/@babel\/parser\/lib\/index\.js$/,
    [
      [
        'const mixinPlugins = {\n  estree,\n  jsx,\n  flow,\n  typescript,\n  v8intrinsic,\n  placeholders\n};',
        'const mixinPlugins = { jsx, typescript };',
      ],
    ],
  ],
  // Keys in the form of PKCS #12 are files that are not text, and the rules get text alone: no need of node-forge.
  [
    /\/@secretlint\/secretlint-rule-preset-recommend\/module\/index-Cq-34xZU\.js$/,
    [["(await import('./index-BDnqZat0.js').then(function (n) { return n.i; })).default", 'undefined']],
  ],
];

const editPackages: Plugin = {
  name: 'edit-packages',
  setup(build) {
    for (const [filter, edits] of EDITED)
      build.onLoad({ filter }, ({ path }) => {
        let contents = readFileSync(path, 'utf8');
        for (const [from, to] of edits) {
          if (contents.split(from).length !== 2) return { errors: [{ text: `${path}: expected once: ${from}` }] };
          contents = contents.replace(from, () => to);
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
  // The optional peers: of `tool demo`, of a queue, and of traces.
  external: ['emulate', 'bullmq', 'ioredis', '@opentelemetry/*'],
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [noForms, noSpare, noRouteMethods, noOauth, editPackages],
  // CommonJS dependencies in an ES module bundle ask for `require`.
  banner: {
    js: "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);",
  },
} satisfies BuildOptions;
