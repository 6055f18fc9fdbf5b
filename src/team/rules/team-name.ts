// Names of teams, made from their phase and their feature, failure, SPEC or issue.

import type { Phase } from './role.ts';

/** Maximum length of a slug, in characters. */
const SLUG_MAX = 40;
const SPEC_ID = /^SPEC(-[A-Z0-9]+)+-\d{3}$/;

/** FNV-1a over UTF-16 code units as 8 hexadecimal digits, for text without ASCII letters and digits. */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Slug of a feature: a-z, 0-9 and hyphens; at most 40 characters, whole words while they fit; never empty. */
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

/** Name of the planning team of a feature. */
export function planTeamName(feature: string): string {
  return `tool-plan-${slugOf(feature)}`;
}

/** Name of the team that looks for the cause of a failure. */
export function debugTeamName(failure: string): string {
  return `tool-debug-${slugOf(failure)}`;
}

/** Name of the team that builds a SPEC; undefined unless `id` has the form `SPEC-<NAME>-<NNN>`. */
export function runTeamName(id: string): string | undefined {
  return SPEC_ID.test(id) ? `tool-run-${id.toLowerCase()}` : undefined;
}

/** Id of the SPEC that a run team builds; undefined when the name is of no SPEC. */
export function specOfRun(team: string): string | undefined {
  const id = team.replace(/^tool-run-/, '').toUpperCase();
  return runTeamName(id) === team ? id : undefined;
}

/** Name of the team that works on an issue; `life` counts how often the issue came up, `round` how often there was work in it. */
export function issueTeamName(issue: number, life: number, round = 1): string {
  const name = life === 1 ? `tool-run-issue-${issue}` : `tool-run-issue-${issue}-${life}`;
  return round === 1 ? name : `${name}-round-${round}`;
}

const TEAM_NAME = /^tool-(plan|run|debug)-[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** A file name has at most 255 bytes, and an archive's name adds a date. */
const NAME_MAX = 120;

/** Phase in the name of a team; undefined when it is no name of a team. */
export function phaseOfTeam(name: string): Phase | undefined {
  const phase = name.length > NAME_MAX ? undefined : TEAM_NAME.exec(name)?.[1];
  return phase === 'plan' || phase === 'run' || phase === 'debug' ? phase : undefined;
}
