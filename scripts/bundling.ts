// The settings by which sources become dist/.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Hooks and the team server start at every turn, without packages beside them: node itself makes their processes. */
export const noExeca: Plugin = {
  name: 'no-execa',
  setup(build) {
    build.onLoad({ filter: /\/execa-process\.ts$/ }, ({ path }) => ({
      contents: "export { makeWithNode as makeWithExeca } from './node-process.ts'",
      resolveDir: dirname(path),
      loader: 'ts',
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

/** What hooks load late. A project gets copies of it, without packages beside them. */
export const PARTS_SETTINGS = {
  splitting: true,
  chunkNames: 'hooks/parts/[name]-[hash]',
  plugins: [noExeca, editPackages],
} satisfies BuildOptions;

/** The command finds its packages where npm put them. The protocol of the team server is bundled into all that speaks it. */
export function commandSettings(root: string) {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    splitting: true,
    external: Object.keys({ ...dependencies, ...peerDependencies }),
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [noForms],
  } satisfies BuildOptions;
}
