// What is passed along while a command is read, and how one part of the reading asks for another.

import type { ParsedScript, Word } from 'unbash';
import type { ShellContext, ShellEffects, ShellWrite } from './effects.ts';
import type { Input, Shell } from './state.ts';
import type { Field } from './values.ts';

/** The states after a command that went well and after one that failed; null: it does not end that way. */
export type Outcome = {
  readonly ok: Shell | null;
  readonly fail: Shell | null;
  /** What it prints, as far as that is known. */
  readonly out: Input;
};

export type WriteOptions = {
  readonly tree?: boolean;
  /** Nothing but a directory is made there. */
  readonly directory?: boolean;
  /** The entry itself is changed: a link at its end is not followed. */
  readonly entry?: boolean;
  /** What stands there afterwards may be a link. */
  readonly link?: boolean;
  /** What stood there is gone, or stands elsewhere. */
  readonly removes?: boolean;
  /** It stays as it is unless it is out of date. */
  readonly renews?: boolean;
  /** What makes the same command one that does not write there. */
  readonly hint?: string;
};

/** Ways out of what is being read: states that `break`, `return` and `exit` carry away. */
export type Exits = {
  loop: (Shell | null)[];
  isInLoop: boolean;
  function: (Shell | null)[];
  shell: (Shell | null)[];
  /** States in which a mistake may end the line that runs; the next line runs all the same. */
  line: (Shell | null)[];
  /** Texts that `trap` was given, to run at the end or at any moment. */
  traps: string[];
  /** What may be known at any moment since the first trap was set. */
  moments: Shell | null;
};

export type Reader = {
  readonly context: ShellContext;
  /** A path that is written from the shell's directory. */
  readonly write: (shell: Shell, path: Field, by: string, options?: WriteOptions) => void;
  readonly unresolved: (line: string) => void;
  /** A command that writes a repository itself, whatever becomes of the files. */
  readonly inRepository: (by: string) => void;
  readonly onlyReads: (code: string) => readonly string[] | null;
  readonly command: (words: readonly Field[]) => void;
  /**
   * A file whose text is run as a program; `guess`: if there is one of this name; a number: what `changes` was when it began,
   * since when it was the one that wrote.
   */
  readonly executed: (shell: Shell, path: Field, by: string, how?: 'guess' | number) => void;
  /** What is there at the moment when the shell is in this state; `maybe`: the command itself may have changed it. */
  readonly kindAt: (shell: Shell, path: string) => 'file' | 'directory' | 'none' | 'maybe';
  /** Absolute paths that a path stands for, with links followed; null when the shell's directory is not known. */
  readonly places: (shell: Shell, path: string) => readonly string[] | null;
  /** What was done that may change what a pattern matches, of which these are the words between slashes, or any listing. */
  readonly stirredBy: (shell: Shell, segments: readonly string[] | null) => 'nothing' | 'names' | 'links';
  /** Grows with each file that is found to be written. */
  readonly changes: () => number;
  /** Descriptors were turned round, so that /dev/stdout may be any file. */
  readonly oddDescriptor: () => void;
  readonly background: () => void;
  /** Names may stand for programs in other places. */
  readonly otherPrograms: () => void;
  /** A mistake found while it runs may end the line here. */
  readonly mayStop: (shell: Shell) => void;
  /** Counts the work, and ends the reading when it is too much. */
  readonly step: () => void;
  /** Something is written by a script, whatever else of the command may come of that. */
  readonly wroteAsScript: (write: ShellWrite) => void;
  /** Runs `inner` one level deeper, unless that is too deep. */
  readonly deeper: (inner: () => Outcome, shell: Shell) => Outcome;
  readonly exits: Exits;
  readonly runScript: (script: ParsedScript, shell: Shell) => Outcome;
  /** Reads a text as a script and runs it in the shell itself. */
  readonly runText: (text: string, shell: Shell) => Outcome;
  /** Runs a text in a shell that is started for it, which is bash or as plain unless a kind is named. */
  readonly runChild: (text: string, shell: Shell, kind?: ShellKind) => Outcome;
  /** A pattern with `**` was met where it depends on the person's settings what that is. */
  readonly metDeep: () => void;
  /** What a text would do in a shell that is started for it, told apart from all else. */
  readonly tried: (text: string, shell: Shell) => ShellEffects;
  /** What a script of that name surely or likely writes, as far as it can be read; of one that runs itself, nothing more. */
  readonly writesOfScript: (name: string, text: string, shell: Shell) => readonly ShellWrite[];
  readonly runFunction: (name: string, args: readonly Field[], shell: Shell, stdin: Input) => Outcome;
  readonly runWords: (words: readonly Field[], shell: Shell, stdin: Input, how?: Lookup) => Outcome;
  readonly expandWord: (word: Word, holder: Holder) => readonly Field[];
  readonly expandText: (word: Word, holder: Holder) => Field;
};

/** `own`: with the settings of the person, as the shell is that runs the command. */
export type ShellKind = 'plain' | 'own' | 'zsh';

/** `program`: neither functions nor what the shell has built in; `builtin`: no functions. */
export type Lookup = 'all' | 'builtin' | 'program';

/** Words change the state while they are expanded (`${x:=y}`). */
export type Holder = { shell: Shell };

export type Call = {
  readonly reader: Reader;
  readonly shell: Shell;
  readonly name: string;
  readonly args: readonly Field[];
  readonly stdin: Input;
};

/** What a program does to files; it answers with what it prints when that is known. */
export type Program = (call: Call) => Input | undefined;

/** What a command built into the shell does, also to the shell. */
export type Builtin = (call: Call) => Outcome;

export function both(shell: Shell | null, out: Input = { kind: 'unknown' }): Outcome {
  return { ok: shell, fail: shell, out };
}

/** A command that is read to its end, and the end is not reached. */
export class TooMuch extends Error {}

/** What stands for `>(…)` and `<(…)` in a command: a pipe, no file. */
export const PIPE_OUT = '/dev/fd/pipe-out';
export const PIPE_IN = '/dev/fd/pipe-in';
