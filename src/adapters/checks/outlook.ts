// The gate as it would run for a project as it stands. Nothing of it is run.

import { messageOf, ToolError } from '../../domain/errors.ts';
import type { Prospect } from '../../domain/gate-outlook.ts';
import type { QualitySettings } from '../../domain/quality.ts';
import { checkEnvironment, createCommands } from './command.ts';
import { planFormat } from './formatter.ts';
import { uninstalledPackages } from './node-project.ts';
import { planChecks, type Testing } from './plan.ts';
import { readText, type Ways } from './project.ts';
import { hasSource } from './unreported.ts';

const LIMIT_MS = 30_000;

function prospect(name: Prospect['name'], all: readonly Ways[]): Prospect {
  const commands = all.flatMap(({ ways }) => ways.map(({ command }) => command));
  const installs = all.flatMap(({ install }) => install ?? []);
  return {
    name,
    commands: [...new Set(commands)],
    gap: all.flatMap(({ gap }) => gap || []).join('; '),
    install: installs.join(' && ') || null,
  };
}

/** Without a command, functions of Node projects alone are read. */
function complexity(root: string, command: string | null): Prospect {
  const isRead = command !== null || readText(root, 'package.json') !== null;
  return {
    name: 'complexity',
    commands: command === null ? [] : [command],
    gap: isRead ? '' : 'only functions in JavaScript and TypeScript are read without a command',
    install: null,
  };
}

/** A manifest may stand there for its tools alone: of several projects those count that have source of their own. */
async function withSource(all: readonly Testing[], root: string): Promise<readonly Testing[]> {
  const has = await Promise.all(all.map(({ languages }) => hasSource(root, languages).catch(() => true)));
  const own = all.filter((_, at) => has[at] === true);
  return own.length === 0 ? all : own;
}

/**
 * @param env the caller's environment
 * @returns or, in words, which file of the project cannot be read
 */
export async function lookAhead(
  root: string,
  settings: QualitySettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Prospect[] | string> {
  const now = Date.now;
  const { signal } = new AbortController();
  const more = { now, deadline: now() + LIMIT_MS, signal, output: () => undefined };
  const commands = createCommands({ root, env: checkEnvironment(env, root), ...more });
  try {
    const { testing: all, lint, security } = await planChecks(settings, { root, env: commands.env, ask: commands.ask });
    const testing = await withSource(all, root);
    // A command of the settings' own may run elsewhere, as in a container.
    const isNode = testing.some(({ languages }) => languages.includes('javascript'));
    const packages = isNode && settings.commands.tests === null ? uninstalledPackages(root) : null;
    const lacking = packages === null ? [] : [packages];
    const format = await planFormat({ root, command: settings.commands.format, commands });
    return [
      prospect('tests', [...lacking, ...testing.map(({ tests }) => tests)]),
      prospect(
        'coverage',
        // A report that is named may be left by whatever runs.
        settings.coverageReport === null ? [...lacking, ...testing.map(({ coverage }) => coverage)] : [],
      ),
      prospect('lint', [lint]),
      prospect('security', [security]),
      'unmeasured' in format
        ? { name: 'format', commands: [], gap: format.unmeasured, install: null }
        : { name: 'format', commands: format.map(({ command }) => command), gap: '', install: null },
      complexity(root, settings.commands.complexity),
    ];
  } catch (error) {
    if (error instanceof ToolError && error.code === 'config') return messageOf(error);
    throw error;
  }
}
