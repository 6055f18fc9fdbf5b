// How teams are called: by their phase, and by what they work on.

import type { Phase } from './role.ts';

/** At most so many characters of a feature's words go into a name. */
const SLUG_MAX = 40;
const SPEC_ID = /^SPEC(-[A-Z0-9]+)+-\d{3}$/;

/** FNV-1a over UTF-16 code units, 8 hexadecimal digits: for words of which ASCII keeps nothing. */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** A feature's words in lower-case ASCII letters, digits and hyphens, at most 40 characters, whole words while they fit; never empty. */
export function slugOf(feature: string): string {
  const plain = feature.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== '');
  let slug = words[0]?.slice(0, SLUG_MAX) ?? digestOf(feature);
  for (const word of words.slice(1)) {
    if (slug.length + 1 + word.length > SLUG_MAX) break;
    slug = `${slug}-${word}`;
  }
  return slug;
}

/** The planning team of a feature. */
export function planTeamName(feature: string): string {
  return `tool-plan-${slugOf(feature)}`;
}

/** The team that looks for the cause of a failure. */
export function debugTeamName(failure: string): string {
  return `tool-debug-${slugOf(failure)}`;
}

/** The team that builds a SPEC; undefined when `id` is no SPEC's: `SPEC-<NAME>-<NNN>`. */
export function runTeamName(id: string): string | undefined {
  return SPEC_ID.test(id) ? `tool-run-${id.toLowerCase()}` : undefined;
}

/** The SPEC that the team of that name builds; undefined: its name is of none. */
export function specOfRun(team: string): string | undefined {
  const id = team.replace(/^tool-run-/, '').toUpperCase();
  return runTeamName(id) === team ? id : undefined;
}

/** The team that works on an issue; `life` counts how often the issue came up. */
export function issueTeamName(issue: number, life: number): string {
  return life === 1 ? `tool-run-issue-${issue}` : `tool-run-issue-${issue}-${life}`;
}

const TEAM_NAME = /^tool-(plan|run|debug)-[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** A file's name may have 255 bytes; an archive's has a date besides. */
const NAME_MAX = 120;

/** The phase that a team's name tells; undefined when it is no name of a team. */
export function phaseOfTeam(name: string): Phase | undefined {
  const phase = name.length > NAME_MAX ? undefined : TEAM_NAME.exec(name)?.[1];
  return phase === 'plan' || phase === 'run' || phase === 'debug' ? phase : undefined;
}
