// The board and the alert rules of deploy/: what they ask for is what the metrics page has, names, labels and values.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { parse } from 'yaml';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { renderMetrics } from '../../src/web/metrics.ts';
import { viewWith } from '../support/view.ts';

/** Labels that Prometheus adds. */
const OF_TARGET = ['job', 'instance'];
/** Values that depend on the daemon's work, by label. */
const CHANGING: Readonly<Record<string, readonly string[]>> = { reason: Object.keys(WORK_CODES) };

/** Values of each label of each metric. */
async function rendered(): Promise<ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>> {
  const { body } = await renderMetrics(viewWith());
  const metrics = new Map<string, Map<string, Set<string>>>();
  for (const [, name = '', labels = ''] of body.matchAll(/^(\w+)(?:\{(.*)\})? [\d.e+-]+$/gm)) {
    const known = metrics.get(name) ?? new Map<string, Set<string>>();
    metrics.set(name, known);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value));
  }
  return metrics;
}

type Asked = { readonly where: string; readonly expression: string };

/** Queries of the board with the labels of their legends, and those of its variables. */
function ofBoard(): readonly Asked[] {
  const board = JSON.parse(readFileSync('deploy/grafana/toolcrew.json', 'utf8'));
  const panels = board.panels.flatMap((panel: { title: string; targets: { expr: string; legendFormat: string }[] }) =>
    panel.targets.map(({ expr, legendFormat }) => ({
      where: panel.title,
      expression: `${expr} ${legendFormat.replaceAll(/\{\{(\w+)\}\}/g, 'by ($1)')}`,
    })),
  );
  const variables = board.templating.list.flatMap(({ name, definition }: { name: string; definition?: string }) =>
    definition === undefined ? [] : [{ where: name, expression: definition }],
  );
  return [...panels, ...variables];
}

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

function rules(): readonly Rule[] {
  const { groups } = parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8'));
  return groups.flatMap((group: { rules: Rule[] }) => group.rules);
}

function ofAlerts(): readonly Asked[] {
  return rules().map(({ alert, expr }) => ({ where: alert, expression: expr }));
}

test('every metric of the board and the alerts is there, with its labels and their values', async () => {
  const metrics = await rendered();
  let looked = 0;
  for (const { where, expression } of [...ofBoard(), ...ofAlerts()]) {
    const names = [...expression.matchAll(/\btoolcrew_\w+/g)].map(([name]) => name);
    for (const name of names) assert.ok(metrics.has(name), `${where}: there is no metric ${name}`);
    for (const [, name = '', matchers = ''] of expression.matchAll(/\b(toolcrew_\w+)\{([^}]*)\}/g))
      for (const [, label = '', sign = '', value = ''] of matchers.matchAll(/(\w+)(=~|=)"([^"]*)"/g)) {
        looked += 1;
        if (OF_TARGET.includes(label)) continue;
        const values = metrics.get(name)?.get(label);
        assert.ok(values !== undefined, `${where}: ${name} has no label ${label}`);
        assert.equal(sign, '=', where);
        assert.ok((CHANGING[label] ?? [...values]).includes(value), `${where}: ${name} has no ${label} "${value}"`);
      }
    for (const [, label = ''] of expression.matchAll(/\bby \((\w+)\)/g)) {
      looked += 1;
      const has = names.some((name) => metrics.get(name)?.has(label) === true);
      assert.ok(has || OF_TARGET.includes(label), `${where}: ${names} has no label ${label}`);
    }
  }
  assert.ok(looked > 30, `${looked} labels were looked at`);
});

test('the board shows every metric', async () => {
  const shown = ofBoard()
    .map(({ expression }) => expression)
    .join('\n');
  const left = [...(await rendered()).keys()].filter((name) => !shown.includes(name));
  assert.deepEqual(left, []);
});

test('each alert has a name of its own, a severity, and says what is wrong and what to do', () => {
  const names = rules().map(({ alert }) => alert);
  assert.deepEqual([...new Set(names)], names);
  for (const rule of rules()) {
    assert.match(rule.alert, /^Toolcrew[A-Z]\w+$/);
    assert.deepEqual(Object.keys(rule.annotations), ['summary', 'description'], rule.alert);
    assert.deepEqual(Object.keys(rule.labels), ['severity'], rule.alert);
    assert.ok(['critical', 'warning', 'info'].includes(rule.labels.severity ?? ''), rule.alert);
    assert.match(rule.for ?? '1m', /^\d+[mh]$/, rule.alert);
  }
  assert.ok(names.length >= 10);
});

test('the limit for stopped polls is above their longest pause, and says so', () => {
  const rule = rules().find(({ alert }) => alert === 'ToolcrewPollsStopped');
  assert.ok(Number(/> (\d+)$/.exec(rule?.expr ?? '')?.[1]) > 10 * 30);
  assert.match(rule?.annotations.description ?? '', /ten times it with a webhook/);
});
