// Routes of the status server: their paths, and the methods that each takes.

import { STEERS } from '../daemon/rules/record.ts';
import type { Order } from '../daemon/rules/steering.ts';

export type Route =
  | 'home'
  | 'issue_page'
  | 'state'
  | 'issue'
  | 'output'
  | 'steer'
  | 'team'
  | 'events'
  | 'refresh'
  | 'metrics'
  | 'healthz'
  | 'login';

export const METHODS: Readonly<Record<Route, readonly string[]>> = {
  home: ['GET', 'HEAD'],
  issue_page: ['GET', 'HEAD'],
  state: ['GET', 'HEAD'],
  issue: ['GET', 'HEAD'],
  output: ['GET', 'HEAD'],
  steer: ['POST'],
  team: ['GET', 'HEAD'],
  events: ['GET'],
  refresh: ['POST'],
  metrics: ['GET', 'HEAD'],
  healthz: ['GET', 'HEAD'],
  login: ['POST'],
};

export const ISSUE_PAGE = '/issues/';
export const ISSUE_API = '/api/v1/issues/';
const REPOSITORY = /^(\/api\/v1)?\/repositories\/([^/]+\/[^/]+)(\/issues\/.*)$/;

/** The path of an issue without its repository, which is given beside it; undefined: it names none. */
export function withoutRepository(path: string): { readonly path: string; readonly repository: string | undefined } {
  const [, api = '', repository, rest = ''] = REPOSITORY.exec(path) ?? [];
  return repository === undefined ? { path, repository } : { path: api + rest, repository };
}

export const OUTPUT_END = '/output';

const ORDERS: readonly Order[] = [...STEERS, 'tell'];

export function commandIn(path: string): Order | undefined {
  return ORDERS.find((command) => path.startsWith(ISSUE_API) && path.endsWith(`/${command}`));
}

/** The number of an issue; undefined when the text is none. */
export function numberIn(text: string): number | undefined {
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

export function routeOf(path: string): Route | undefined {
  switch (path) {
    case '/':
    case '/status':
      return 'home';
    case '/api/v1/state':
      return 'state';
    case '/api/v1/events':
      return 'events';
    case '/api/v1/refresh':
      return 'refresh';
    case '/metrics':
      return 'metrics';
    case '/healthz':
      return 'healthz';
    case '/login':
      return 'login';
    default:
      if (path === '/api/v1/teams' || path.startsWith('/api/v1/teams/')) return 'team';
      if (path.startsWith(ISSUE_PAGE)) return 'issue_page';
      if (commandIn(path) !== undefined) return 'steer';
      if (!path.startsWith(ISSUE_API)) return undefined;
      return path.endsWith(OUTPUT_END) ? 'output' : 'issue';
  }
}

/** Where a browser goes once it has given the token: a page of this server, whatever the form says. */
export function pageAfterLogin(path: string | null): string {
  return path !== null && /^\/((?:repositories\/[\w.-]+\/[\w.-]+\/)?issues\/\d+|status)?(\?[\w%&=.+:-]*)?$/.test(path)
    ? path
    : '/';
}
