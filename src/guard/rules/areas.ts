// The part of a program that a file belongs to, from its path alone.

export type Area =
  | 'backend'
  | 'frontend'
  | 'database'
  | 'tests'
  | 'design'
  | 'infrastructure'
  | 'documentation'
  | 'core';

/** What a plan may call the part that a task changes. */
export type DomainName = Area | 'security';

/** In the order in which they are shown. */
export const DOMAINS: readonly DomainName[] = [
  'backend',
  'frontend',
  'database',
  'security',
  'tests',
  'design',
  'infrastructure',
  'documentation',
  'core',
];

type Rule = {
  readonly area: Area;
  readonly folders?: RegExp;
  readonly file?: RegExp;
  /** Files of other names alone; of all where it is missing. */
  readonly unless?: RegExp;
};

/** What is written in these draws no screen in a browser: there a store keeps data, and a client calls another service. */
const SERVERS = /\.(?:go|py|java|kt|rb|rs|php|cs|scala|exs?)$/;

const SOURCE =
  /\.(?:[cm]?[jt]sx?|py|go|rb|java|kt|cs|php|rs|ex|exs|scala|swift|vue|svelte|c|h|cc|hh|[ch](?:pp|xx)|mm?|dart|lua|p[lm]|hs|clj[cs]?|zig|r|sol|erl|ml|fs|groovy|jl|nim)$/i;

// The first that matches counts. `folders` is tried on each folder of the path, `file` on its name.
const RULES: readonly Rule[] = [
  { area: 'tests', folders: /^(?:tests?|__tests__|specs?|e2e|cypress|playwright|testing|test_?data|integration)$/ },
  {
    area: 'tests',
    file: /\.(?:test|spec|cy|tst)\.|^test_.*\.py$|_test\.(?:go|py|rb|dart)$|^(?:tests?|conftest)\.py$|_spec\.rb$/,
  },
  {
    area: 'infrastructure',
    folders:
      /^(?:\.github|\.circleci|\.husky|\.gitlab|terraform|k8s|kubernetes|helm|charts|deploy|deployments?|infra|ansible|docker|ci|settings|config|conf)$/,
  },
  {
    area: 'infrastructure',
    file: /^(?:Dockerfile.*|docker-compose.*|compose\.ya?ml|\.dockerignore|Makefile|Jenkinsfile|Procfile|\.nvmrc|\.node-version|\.gitlab-ci\.yml|nginx\.conf|.*\.tf)$/,
  },
  { area: 'documentation', file: /\.(?:mdx?|rst|adoc|drawio)$|^(?:LICENSE|NOTICE|AUTHORS)(?:\..*)?$/ },
  { area: 'documentation', folders: /^examples?$/ },
  { area: 'database', folders: /^(?:migrations?|prisma|db|database|models?|entities|seeds?|seeders)$/ },
  {
    area: 'database',
    file: /\.(?:sql|prisma)$|^models?\.(?:py|rb|go|ts|js)$|^database\.|\.(?:entity|model)\.|^(?:generate)?[-_]?seed/i,
  },
  { area: 'design', folders: /^(?:design|tokens|design-tokens|themes?|figma)$/ },
  { area: 'design', file: /\.(?:fig|sketch)$|^(?:design-)?tokens\./ },
  {
    area: 'backend',
    folders:
      /^(?:api|server|backend|services?|controllers?|routes|routers|handlers?|middlewares?|resolvers?|graphql|repositories|rpc|grpc|cmd|management)$/,
  },
  {
    area: 'backend',
    file: /^(?:urls|views|admin|manage|wsgi|asgi|serializers)\.py$|-routes\.[a-z]+$|\.(?:routes?|controller|service|resolver|handler)\.[a-z]+$|_handler\.go$|\.(?:graphql|proto)$/,
  },
  { area: 'frontend', file: /\.(?:tsx|jsx|vue|svelte|html?|hbs|ejs|pug|css|scss|sass|less)$/ },
  {
    area: 'frontend',
    folders: /^(?:components|pages|containers|screens|layouts|widgets|styles|frontend|ui)$/,
  },
  {
    area: 'frontend',
    folders: /^(?:stores?|templates|static|public|assets|client|web)$/,
    unless: SERVERS,
  },
];

function byRule(path: string): Area | null {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  const rule = RULES.find(
    ({ folders: named, file: called, unless }) =>
      (called?.test(file) === true || folders.some((folder) => named?.test(folder) === true)) &&
      unless?.test(file) !== true,
  );
  return rule?.area ?? null;
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/')).concat('');
}

/**
 * The area of each file. Source that no rule names belongs where most of its neighbours do, looking from its own folder
 * upwards; in a repository with neither a server nor a screen it is `core`. What is left is configuration.
 */
export function areasOf(files: readonly string[]): ReadonlyMap<string, Area> {
  const areas = new Map<string, Area>();
  const votes = new Map<string, { backend: number; frontend: number }>();
  for (const file of files) {
    const area = byRule(file);
    if (area === null) continue;
    areas.set(file, area);
    const side = area === 'database' ? 'backend' : area;
    if (side !== 'backend' && side !== 'frontend') continue;
    for (const folder of foldersOf(file)) {
      const count = votes.get(folder) ?? { backend: 0, frontend: 0 };
      count[side]++;
      votes.set(folder, count);
    }
  }
  for (const file of files)
    if (!areas.has(file)) areas.set(file, SOURCE.test(file) ? fromNeighbours(file, votes) : otherThanSource(file));
  return areas;
}

function fromNeighbours(
  file: string,
  votes: ReadonlyMap<string, { readonly backend: number; readonly frontend: number }>,
): Area {
  for (const folder of foldersOf(file)) {
    const count = votes.get(folder);
    if (count !== undefined && count.backend !== count.frontend)
      return count.backend > count.frontend ? 'backend' : 'frontend';
  }
  const isScript = /^(?:scripts?|build|tools?|bin)\//.test(file) || !file.includes('/');
  return isScript && /config|^(?:scripts?|build|tools?)\//.test(file) ? 'infrastructure' : 'core';
}

function otherThanSource(file: string): Area {
  return /^docs?\//.test(file) ? 'documentation' : 'infrastructure';
}

/** The area of a path that need not be there yet. */
export function areaOf(path: string, files: readonly string[]): Area {
  return areasOf([...files, path]).get(path) ?? 'core';
}

/** A source's or a test's name without what marks a test: `Form.cy.tsx`, `test_form.py` → form. */
export function subjectOf(path: string): string {
  const file = path.slice(path.lastIndexOf('/') + 1);
  const name = file.replace(/^test_|(?:\.(?:test|spec|cy|tst))?(?:\.d)?\.\w+$/g, '');
  return name.replace(/_(?:test|spec)$/, '').toLowerCase();
}
