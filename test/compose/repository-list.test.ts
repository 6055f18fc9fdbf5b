// List of the repositories of several owners.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { RepositoryList } from '../../src/compose/repository-list.ts';
import { formatSlug } from '../../src/git/rules/repository.ts';
import { finallyDo } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

test('an owner without an answer keeps its list and holds up no other; an empty list is one', async (t) => {
  const names: Record<string, string[] | null> = { one: ['a'], two: ['b'] };
  const server = createServer(({ url = '' }, response) => {
    const [, owner = ''] = /^\/orgs\/(\w+)\//.exec(url) ?? [];
    const repositories = names[owner];
    response.writeHead(repositories ? 200 : 403, { 'content-type': 'application/json' });
    const rows = repositories?.map((repo) => ({ full_name: `${owner}/${repo}`, owner: { login: owner } }));
    response.end(JSON.stringify(rows ?? { message: 'Forbidden' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const apiUrl = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const repositories = ['one', 'two'].map((owner) => ({ owner, repo: '*' }));
  const list = new RepositoryList(
    {
      ...{ authorities: [], env: {}, tokens: new Map([['TOKEN', 'secret']]), secrets: new Set() },
      log: { log: () => undefined },
    },
    workflowWith({ tracker: { apiUrl, repositories, tokenVariable: 'TOKEN' } }),
  );
  finallyDo(t, () => server.close());
  finallyDo(t, () => list.close());
  const read = async () => {
    const { slugs, problems } = await list.read(new AbortController().signal);
    return [...slugs.map(formatSlug), ...problems.map(({ of, values }) => `${of.code} ${values.owner}`)];
  };
  assert.deepEqual(await read(), ['one/a', 'two/b']);
  names.one = null;
  names.two = ['b', 'c'];
  assert.deepEqual(await read(), ['one/a', 'two/b', 'two/c', 'repositories_unlisted one']);
  names.one = ['a'];
  names.two = [];
  assert.deepEqual(await read(), ['one/a', 'owner_without_repositories two']);
});
