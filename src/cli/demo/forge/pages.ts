// Pages of the embedded forge for people: an issue, a pull request with its diff. Plain HTML, no script.

import { visibleLines } from '../../../base/rules/text.ts';
import { isObject } from '../../../base/rules/values.ts';
import { tryGit } from '../../../git/git.ts';
import type { RestLayer } from './rest.ts';

export type PageOptions = { readonly owner: string; readonly repo: string; readonly repository: string };

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:24px auto;padding:0 16px;color:#1c2330}pre{background:#f6f8fb;border:1px solid #dfe4ee;border-radius:8px;padding:12px;overflow:auto;font-size:13px;white-space:pre-wrap}.label{border:1px solid #8ab0ff;border-radius:999px;padding:1px 10px;font-size:12px;margin-right:6px}.muted{color:#5d6880}.add{color:#0b7a4b}.del{color:#b3261e}a{color:#2456c9}';

type Fields = Readonly<Record<string, unknown>>;

function text(value: unknown): string {
  return visibleLines(String(value ?? '')).replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

function wrap(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}

function loginOf(value: unknown): string {
  return isObject(value) && isObject(value.user) ? text(value.user.login) : 'nobody known';
}

async function diffOf(options: PageOptions, head: string): Promise<string> {
  const { stdout } = await tryGit(['diff', '--no-ext-diff', `refs/heads/main...refs/heads/${head}`], {
    cwd: options.repository,
  });
  return stdout
    .split('\n')
    .map((line) =>
      line.startsWith('+')
        ? `<span class="add">${text(line)}</span>`
        : line.startsWith('-')
          ? `<span class="del">${text(line)}</span>`
          : text(line),
    )
    .join('\n');
}

/** The page at a path; undefined when the path is not one of these. */
export async function forgePage(path: string, options: PageOptions, rest: RestLayer): Promise<string | undefined> {
  const base = `/${options.owner}/${options.repo}`;
  const match = /^\/(issues|pull)\/(\d+)$/.exec(path.slice(base.length));
  if (path !== base && (!path.startsWith(base) || match === null)) return undefined;
  const read = async (suffix: string): Promise<unknown> =>
    JSON.parse((await rest.upstream('GET', `/repos${base}${suffix}`, undefined)).body);
  if (match === null) {
    const list = async (kind: 'issues' | 'pulls') => {
      const rows = await read(`/${kind}?state=all&per_page=100&sort=created&direction=asc`);
      return Array.isArray(rows) ? rows.filter(isObject) : [];
    };
    const row = (item: Fields, kind: 'issues' | 'pull') =>
      `<li><a href="${base}/${kind}/${text(item.number)}">#${text(item.number)}</a> ${text(item.title)} ${labels(item)} <span class="muted">${kind === 'pull' ? 'pull request' : 'issue'}</span></li>`;
    // The emulation keeps pull requests out of the list of issues.
    const items = [
      ...(await list('issues')).map((item) => row(item, 'issues')),
      ...(await list('pulls')).map((item) => row(item, 'pull')),
    ];
    return wrap(
      `${options.owner}/${options.repo}`,
      `<h1>${text(options.owner)}/${text(options.repo)}</h1><ul>${items.join('')}</ul>`,
    );
  }
  const [, kind, number] = match;
  const item = await read(`/${kind === 'pull' ? 'pulls' : 'issues'}/${number}`);
  if (!isObject(item) || item.number === undefined) return undefined;
  const comments = await read(`/issues/${number}/comments`);
  const said = (Array.isArray(comments) ? comments : []).map(
    (comment) => `<p class="muted">${loginOf(comment)}</p><pre>${text(isObject(comment) ? comment.body : '')}</pre>`,
  );
  const head = isObject(item.head) ? String(item.head.ref) : undefined;
  const diff = head === undefined ? '' : `<h2>Changes on ${text(head)}</h2><pre>${await diffOf(options, head)}</pre>`;
  const body = `<p><a href="${base}">${text(options.owner)}/${text(options.repo)}</a></p><h1>${text(item.title)} <span class="muted">#${text(number)}</span></h1><p>${text(item.state)} · by ${loginOf(item)} ${labels(item)}</p><pre>${text(item.body)}</pre>${diff}${said.join('')}`;
  return wrap(String(item.title), body);
}

function labels(item: Fields): string {
  const list = Array.isArray(item.labels) ? item.labels.filter(isObject) : [];
  return list.map((label) => `<span class="label">${text(label.name)}</span>`).join('');
}
