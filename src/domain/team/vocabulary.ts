// Words that hint at a part of a program. A hint alone decides nothing: it counts with what the repository shows, or with another.

import type { Area } from './areas.ts';
import { stemsOf } from './words.ts';

export type DomainName = Area | 'security';

export type CriticalFeature = 'payment' | 'authentication' | 'user data';

const WORDS: Readonly<Record<DomainName, string>> = {
  backend:
    'api, endpoint, server, route, rest, graphql, webhook, service, controller, handler, backend, queue, callback, command, admin, middleware',
  frontend:
    'page, form, button, screen, ui, component, modal, dialog, frontend, menu, layout, checkbox, label, dropdown, tooltip, banner, front end, user interface, error message',
  database:
    'database, store, table, column, migration, schema, sql, persist, record, model, data model, foreign key, transaction log',
  tests: 'tests, unit test, end-to-end test, e2e, coverage, regression test, integration test, test suite',
  design: 'design, design token, theme, typography, spacing, figma, mockup, wireframe, palette, colour scheme',
  infrastructure:
    'docker, ci, workflow, pipeline, deploy, kubernetes, terraform, container image, github action, build step, helm, cron',
  documentation: 'documentation, docs, readme, guide, changelog, manual, tutorial',
  security:
    'authentication, authorization, login, log in, sign in, password, oauth, session, permission, csrf, encryption, sso, two-factor, access token, rate limit',
  core: '',
};

const CRITICAL: Readonly<Record<CriticalFeature, string>> = {
  payment:
    'payment, pay, checkout, refund, invoice, billing, stripe, paypal, sepa, iban, credit card, direct debit, charge, payout',
  authentication:
    'authentication, login, log in, sign in, password, oauth, session, sso, two-factor, credentials, passkey, sign up',
  'user data':
    'personal data, user data, gdpr, privacy, user account, delete account, date of birth, email address, data export, consent',
};

// How a critical feature shows in the names of files.
const CRITICAL_FILES: Readonly<Record<CriticalFeature, string>> = {
  payment: 'payment, pay, checkout, refund, invoice, billing, stripe, paypal, donation',
  authentication: 'auth, authentication, login, signin, password, oauth, session, hasher, credential',
  'user data': 'account, user, profile, privacy, gdpr, consent',
};

const SECURITY_FILES =
  'auth, authentication, authorization, login, signin, password, oauth, session, hasher, permission, csrf, security';

const EXTERNAL =
  'stripe, paypal, oauth, webhook, github, google, auth0, okta, s3, third-party, external api, external service, smtp, twilio, sepa, ldap, saml';

const SCHEMA =
  'migration, column, schema change, data model, store, persist, new table, table, foreign key, database field, add field';

type Phrase = { readonly shown: string; readonly stems: readonly string[] };

function phrases(list: string): readonly Phrase[] {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((shown) => ({ shown, stems: stemsOf(shown) }));
}

function inAll<K extends string>(lists: Readonly<Record<K, string>>, names: readonly K[]) {
  return names.map((name) => ({ name, phrases: phrases(lists[name]) }));
}

const DOMAINS: readonly DomainName[] = [
  'backend',
  'frontend',
  'database',
  'tests',
  'design',
  'infrastructure',
  'documentation',
  'security',
];
const FEATURES: readonly CriticalFeature[] = ['payment', 'authentication', 'user data'];

const DOMAIN_PHRASES = inAll(WORDS, DOMAINS);
const CRITICAL_PHRASES = inAll(CRITICAL, FEATURES);
const CRITICAL_STEMS = inAll(CRITICAL_FILES, FEATURES);
const SECURITY_STEMS = new Set(phrases(SECURITY_FILES).map((one) => one.stems.join('')));
const EXTERNAL_PHRASES = phrases(EXTERNAL);
const SCHEMA_PHRASES = phrases(SCHEMA);

// `their sign in lists` is about a sign, `the log in the root` about a log.
const BEFORE_NOUNS = new Set(['a', 'an', 'the', 'its', 'their', 'each', 'every', 'this', 'that', 'no']);

function hasPhrase(stems: readonly string[], wanted: readonly string[]): boolean {
  return stems.some(
    (_, at) =>
      wanted.every((word, index) => stems[at + index] === word) &&
      !(wanted.at(-1) === 'in' && BEFORE_NOUNS.has(stems[at - 1] ?? '')),
  );
}

/** The phrases that a text has; one within another, like `model` within `data model`, is not a hint of its own. */
function found(stems: readonly string[], all: readonly Phrase[]): readonly string[] {
  const there = all.filter((one) => hasPhrase(stems, one.stems));
  const isWhole = (one: Phrase) =>
    !there.some((other) => other.stems.length > one.stems.length && hasPhrase(other.stems, one.stems));
  return there.filter(isWhole).map(({ shown }) => shown);
}

export type Hints = ReadonlyMap<DomainName, readonly string[]>;

/** The hints of a text by domain, each named once. `tests` hints by its plural alone: to test is what anybody may do. */
export function hintsOf(text: string): Hints {
  const stems = stemsOf(text);
  const hasTests = /\btests\b/i.test(text);
  return new Map(
    DOMAIN_PHRASES.map(({ name, phrases: all }): [DomainName, readonly string[]] => [
      name,
      found(stems, name === 'tests' && !hasTests ? all.filter((one) => one.shown !== 'tests') : all),
    ]).filter(([, hints]) => hints.length > 0),
  );
}

/** The words of a text that name a critical feature, by feature. */
export function criticalHintsOf(text: string): ReadonlyMap<CriticalFeature, readonly string[]> {
  const stems = stemsOf(text);
  return new Map(
    CRITICAL_PHRASES.map(({ name, phrases: all }): [CriticalFeature, readonly string[]] => [
      name,
      found(stems, all),
    ]).filter(([, hints]) => hints.length > 0),
  );
}

function pathStems(path: string): readonly string[] {
  const stems = stemsOf(path);
  return [...stems, ...stems.slice(1).map((one, index) => `${stems[index] ?? ''}${one}`)];
}

/** Whether a file's path names the critical feature. */
export function isOfFeature(path: string, feature: CriticalFeature): boolean {
  const wanted = CRITICAL_STEMS.find((one) => one.name === feature)?.phrases ?? [];
  return pathStems(path).some((one) => wanted.some((phrase) => phrase.stems.join('') === one));
}

/** Whether a file's path says that it guards something. */
export function isOfSecurity(path: string): boolean {
  return pathStems(path).some((one) => SECURITY_STEMS.has(one));
}

/** Words for what is outside of the program and is talked to. */
export function externalHintsOf(text: string): readonly string[] {
  return found(stemsOf(text), EXTERNAL_PHRASES);
}

/** Words for data that is kept in another shape than before. */
export function schemaHintsOf(text: string): readonly string[] {
  return found(stemsOf(text), SCHEMA_PHRASES);
}

/** The domain that a single word hints at; a word of this kind says where something happens, not what. */
export function hintedBy(word: string): DomainName | undefined {
  return DOMAIN_PHRASES.find(({ phrases: all }) => all.some(({ stems }) => stems.length === 1 && stems[0] === word))
    ?.name;
}
