// .tool/installed.json: what was put into a project, as it takes to take it out again. What concerns one user's files has a record of
// its own, since the manifest is shared by version control.

import { isAbsolute } from 'node:path';
import { failure, messageOf, type ToolError } from '../base/rules/errors.ts';
import { got } from '../base/rules/text.ts';
import { INSTALLED_FILE } from '../team/config/team-config-file.ts';
import { jsonFile } from './json-layout.ts';
import type { JsonEntry, JsonPath, MergeRecord } from './json-merge.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

export const MANIFEST = INSTALLED_FILE;
/** Below a directory that version control ignores. */
export const PERSONAL_RECORD = '.tool/state/installed.json';
const FORMAT = 1;

/** A file that is ours as a whole. */
export type OwnFile = {
  readonly path: string;
  /** Of the text that we last put there or offered for it. */
  readonly sha256: string;
  /** Where the file is kept that was there before. */
  readonly before?: string;
};

/** A file of somebody else's that holds something of ours. */
export type MergedFile = MergeRecord & {
  readonly path: string;
  /** What was there when it held no JSON yet: blanks, or nothing at all (null). */
  readonly was?: string | null;
};

export type ProposedCommand = { readonly name: string; readonly command: string | null; readonly reason: string };

export type Manifest = {
  /** Of toolcrew. */
  readonly version: string;
  /** Of the host that it was made for; hooks go by it where the host does not name itself. */
  readonly hostVersion: string | null;
  /** Patterns of this project that its configuration got beside the usual ones; missing: of a version that proposed none. */
  readonly ownership?: readonly { readonly owner: string; readonly pattern: string }[];
  /** What the configuration's quality.commands got; missing: of a version that proposed none. */
  readonly commands?: readonly ProposedCommand[];
  /** Directories that were not there. */
  readonly directories: readonly string[];
  readonly files: readonly OwnFile[];
  readonly merged: readonly MergedFile[];
};

export function manifestText(manifest: Manifest): string {
  return jsonFile({ format: FORMAT, ...manifest });
}

export function personalText(merged: readonly MergedFile[]): string {
  return jsonFile({ format: FORMAT, merged });
}

/** Reads fields of a record, and says of a wrong one where it stands. */
class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #at: string;

  constructor(value: unknown, at: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(at, 'an object', value);
    this.#values = Object.fromEntries(Object.entries(value));
    this.#at = at;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  any(name: string): unknown {
    return this.#values[name];
  }

  text(name: string): string {
    const value = this.#values[name];
    if (typeof value !== 'string') throw wrong(`${this.#at}.${name}`, 'text', value);
    return value;
  }

  textOrNull(name: string): string | null {
    return this.#values[name] === null ? null : this.text(name);
  }

  /** A path below the project's root: whatever the file says, nothing outside is touched. */
  inside(name: string): string {
    return inside(this.text(name), `${this.#at}.${name}`);
  }

  list<T>(name: string, read: (value: unknown, at: string) => T): readonly T[] {
    const value = this.#values[name];
    const at = `${this.#at}.${name}`;
    if (!Array.isArray(value)) throw wrong(at, 'a list', value);
    return value.map((one: unknown, index) => read(one, `${at}[${index}]`));
  }

  texts(name: string): JsonPath {
    return this.list(name, textOf);
  }
}

function wrong(at: string, expected: string, value: unknown): ToolError {
  const fix = 'Restore the file from your version control, or remove the installation by hand.';
  return failure(INSTALL_CODES.manifest_invalid, { file: MANIFEST, key: at, expected, got: got(value), fix });
}

function textOf(value: unknown, at: string): string {
  if (typeof value !== 'string') throw wrong(at, 'text', value);
  return value;
}

function inside(path: string, at: string): string {
  const parts = path.split('/');
  if (isAbsolute(path) || path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..'))
    throw wrong(at, 'a path inside the project', path);
  return path;
}

function owned(value: unknown, at: string): { readonly owner: string; readonly pattern: string } {
  const fields = new Fields(value, at);
  return { owner: fields.text('owner'), pattern: fields.text('pattern') };
}

function proposed(value: unknown, at: string): ProposedCommand {
  const fields = new Fields(value, at);
  return { name: fields.text('name'), command: fields.textOrNull('command'), reason: fields.text('reason') };
}

function ownFile(value: unknown, at: string): OwnFile {
  const fields = new Fields(value, at);
  const before = fields.has('before') ? { before: fields.inside('before') } : {};
  return { path: fields.inside('path'), sha256: fields.text('sha256'), ...before };
}

function entry(value: unknown, at: string): JsonEntry {
  const fields = new Fields(value, at);
  const place = fields.text('place');
  if (place !== 'member' && place !== 'element') throw wrong(`${at}.place`, 'member or element', place);
  const mark = fields.has('mark') ? { mark: fields.text('mark') } : {};
  return { place, path: fields.texts('path'), value: fields.any('value'), ...mark };
}

function mergedFile(value: unknown, at: string): MergedFile {
  const fields = new Fields(value, at);
  const placed = (name: 'inner' | 'text') => (item: unknown, where: string) => {
    const inner = new Fields(item, where);
    return { path: inner.texts('path'), text: inner.text(name) };
  };
  return {
    path: fields.inside('path'),
    entries: fields.list('entries', entry),
    created: fields.list('created', (item, where) => new Fields({ path: item }, where).texts('path')),
    blanks: fields.list('blanks', placed('inner')).map(({ path, text }) => ({ path, inner: text })),
    replaced: fields.list('replaced', placed('text')),
    ...(fields.has('was') ? { was: fields.textOrNull('was') } : {}),
  };
}

function fieldsOf(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong('the file', `valid JSON (${messageOf(error)})`, text);
  }
  const fields = new Fields(value, 'the file');
  if (fields.any('format') !== FORMAT)
    throw failure(INSTALL_CODES.manifest_other_version, {
      file: MANIFEST,
      expected: FORMAT,
      got: got(fields.any('format')),
    });
  return fields;
}

/** The record of one user's files; null where it cannot be read: those files then stay as they are. */
export function parsePersonal(text: string): readonly MergedFile[] | null {
  try {
    return fieldsOf(text).list('merged', mergedFile);
  } catch {
    return null;
  }
}

export function parseManifest(text: string): Manifest {
  const fields = fieldsOf(text);
  return {
    version: fields.text('version'),
    hostVersion: fields.textOrNull('hostVersion'),
    ...(fields.has('ownership') ? { ownership: fields.list('ownership', owned) } : {}),
    ...(fields.has('commands') ? { commands: fields.list('commands', proposed) } : {}),
    directories: fields.list('directories', (item, at) => inside(textOf(item, at), at)),
    files: fields.list('files', ownFile),
    merged: fields.list('merged', mergedFile),
  };
}
