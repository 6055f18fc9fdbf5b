// What a variable holds at one point of a command, and which names let another program run commands.

import type { ShellContext } from './effects.ts';
import { onlyDirectory, type Shell, setVariable } from './state.ts';
import { concat, type Field, isCounted, isList, isText, UNKNOWN, UNKNOWN_NUMBER, type Value } from './values.ts';

/** Variables that bash fills by itself with an integer, whatever was assigned. */
const NUMBERS: ReadonlySet<string> = new Set(
  '? $ ! # RANDOM SRANDOM SECONDS LINENO HISTCMD EPOCHSECONDS BASHPID PPID UID EUID OPTIND'.split(' '),
);

/** Variables that bash fills by itself with a text. */
const TEXTS: ReadonlySet<string> = new Set(
  '_ - 0 REPLY OPTARG BASH_REMATCH BASH_COMMAND BASH_SOURCE BASH_LINENO FUNCNAME DIRSTACK PIPESTATUS EPOCHREALTIME'.split(
    ' ',
  ),
);

/** What the script that a virtual environment brings keeps aside and puts back: where it is not seen, it is not set. */
const VIRTUAL = /^(_OLD_VIRTUAL_[A-Z]+|PYTHONHOME)$/;

const POSITION = /^[1-9]\d*$/;

/** What it holds; undefined when nothing is known of it: it may be set by what started the shell. */
export function lookUp(name: string, shell: Shell, context: ShellContext): Value | undefined {
  if (NUMBERS.has(name)) return UNKNOWN_NUMBER;
  if (TEXTS.has(name)) return UNKNOWN;
  if (POSITION.test(name)) {
    const { positional } = shell;
    return positional === null ? UNKNOWN : (positional[Number(name) - 1] ?? null);
  }
  if (shell.opaque) return UNKNOWN;
  const assigned = shell.vars.get(name);
  if (assigned !== undefined) return assigned;
  if (name === 'PWD') return onlyDirectory(shell);
  if (name === 'HOME') return context.home;
  if (VIRTUAL.test(name) && !Object.hasOwn(context.env, name)) return null;
  return Object.hasOwn(context.env, name) ? context.env[name] : undefined;
}

/** The text of a variable as one word; of a list the first. */
export function asField(value: Value | undefined): Field {
  if (value === undefined) return UNKNOWN;
  if (value === null) return '';
  // what is true of it by its name is not true of its text
  if (isCounted(value)) return UNKNOWN;
  return isList(value) ? (value[0] ?? '') : value;
}

function appended(before: Value | undefined, value: Value): Value {
  if (value === null) return before ?? null;
  if (isList(value)) {
    if (before === undefined || before === null) return before === null ? value : UNKNOWN;
    return isList(before) ? [...before, ...value] : [before, ...value];
  }
  if (isText(value) && value === '') return before === undefined ? UNKNOWN : before;
  if (before !== undefined && before !== null && isList(before)) return UNKNOWN;
  return concat(asField(before), value);
}

/** The state after an assignment, with `export` when the name has it already. */
export function assign(shell: Shell, name: string, value: Value, append = false, context?: ShellContext): Shell {
  const before = append
    ? (shell.vars.get(name) ?? (context === undefined ? undefined : lookUp(name, shell, context)))
    : null;
  return setVariable(shell, name, append ? appended(before, value) : value);
}

/** What a variable's text is to the programs that see it. */
export type Meaning = 'commands' | 'hidden' | 'path' | 'options' | 'number' | 'text';

const COMMANDS: ReadonlySet<string> = new Set([
  ...'EDITOR VISUAL PAGER BROWSER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS'.split(
    ' ',
  ),
  ...'SSH_ASKPASS SUDO_ASKPASS MANPAGER SYSTEMD_PAGER FCEDIT PROMPT_COMMAND GIT_SSH GIT_PROXY_COMMAND RSYNC_RSH'.split(
    ' ',
  ),
  ...'LESSOPEN LESSCLOSE GH_PAGER GH_EDITOR'.split(' '),
]);

/** Names whose text other programs take as options, as code or as a place to load code from. */
const HIDDEN: ReadonlySet<string> = new Set([
  ...'UID EUID PPID DIRSTACK BASH_COMPAT TEXTDOMAIN TEXTDOMAINDIR BASH_VERSINFO BASH_ALIASES BASH_CMDS BASH_ENV ENV POSIXLY_CORRECT SHELLOPTS BASHOPTS PS4 PS0 PS1 GLOBIGNORE EXECIGNORE LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH'.split(
    ' ',
  ),
  ...'PERL5OPT PERL5DB PERL5LIB RUBYOPT PYTHONSTARTUP PYTHONHOME PYTHONINSPECT TAR_OPTIONS MAKEFLAGS MAKEFILES GNUMAKEFLAGS'.split(
    ' ',
  ),
  ...'DYLD_INSERT_LIBRARIES GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_TRACE GIT_TRACE2'.split(
    ' ',
  ),
  ...'GIT_TRACE2_EVENT GIT_TRACE_PACKET GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE GIT_INDEX_FILE GIT_COMMON_DIR'.split(' '),
  ...'AWKPATH AWKLIBPATH SED_OPTIONS UNZIP ZIPOPT XZ_OPT WGETRC CURL_HOME HISTFILE VIMINIT EXINIT LUA_INIT LUA_INIT_5_4'.split(
    ' ',
  ),
  ...'NODE_V8_COVERAGE NODE_REPL_HISTORY NODE_COMPILE_CACHE GIT_OBJECT_DIRECTORY GIT_CEILING_DIRECTORIES'.split(' '),
]);

export function meaningOf(name: string): Meaning {
  if (name === 'PATH') return 'path';
  if (name === 'NODE_OPTIONS') return 'options';
  // bash works a text out that is assigned to one of these
  if (NUMBERS.has(name) && !HIDDEN.has(name)) return 'number';
  if (COMMANDS.has(name)) return 'commands';
  if (
    HIDDEN.has(name) ||
    name.startsWith('BASH_FUNC_') ||
    name.startsWith('GIT_CONFIG_') ||
    name.startsWith('GIT_TRACE')
  )
    return 'hidden';
  return 'text';
}
