import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pauseAdvice } from '../../src/wording/pause.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const DOCS = path.resolve(import.meta.dirname, '../../docs/operations');
const ALERTS = path.join(DOCS, 'alerts.yaml');

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook: string } };

let text = '';
/** Name → type of each metric of a real scrape. */
let types = new Map<string, string>();

beforeAll(async () => {
  await using place = await openWorkplace({
    source:
      '- { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 100ms, expectEvery: 1h }',
  });
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.drop(
    'orders.csv',
    'purchaseOrderNumber,orderState,articleCode,quantity\nPO-1,NEW,A,1\n',
  );
  text = await until('a scrape of a finished file', async () => {
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return (
      page.includes('result="finished"') &&
      page.includes('source_last_file_timestamp_seconds{') &&
      page
    );
  });
  types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
});

/** The names of metrics in an expression, without the suffixes of a histogram. */
function namesIn(expr: string): string[] {
  const all = expr.match(/\b(?:po_sync|process|nodejs)_[a-z0-9_]+/g) ?? [];
  return all.map((name) => (types.has(name) ? name : name.replace(/_(?:bucket|count|sum)$/, '')));
}

it('every metric of po-sync has its prefix, and the queries of docs/watching.md ask only for metrics of a scrape', async () => {
  const watching = await readFile(path.join(DOCS, '../watching.md'), 'utf8');
  const queries = namesIn(/^### Queries$(.*?)^#/ms.exec(watching)?.[1] ?? '');
  expect(queries.length).toBeGreaterThan(2);
  expect(queries.filter((name) => !types.has(name))).toEqual([]);
  expect([...types.keys()].filter((name) => !/^(?:po_sync|process|nodejs)_/.test(name))).toEqual(
    [],
  );
});

it('the dashboard asks only for metrics of a scrape, and each panel has its place', async () => {
  const { panels } = JSON.parse(await readFile(path.join(DOCS, 'dashboard.json'), 'utf8')) as {
    panels: {
      id: number;
      title: string;
      gridPos: { x: number; w: number };
      targets?: { expr: string }[];
    }[];
  };
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(exprs.length).toBeGreaterThan(20);
  expect(exprs.flatMap(namesIn).filter((name) => !types.has(name))).toEqual([]);
  expect(exprs.filter((expr) => namesIn(expr).length === 0)).toEqual([]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

describe('the alert rules', () => {
  it('ask only for metrics of a scrape, and each says what to do', async () => {
    const { groups } = parse(await readFile(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules).toHaveLength(18);
    expect(rules.flatMap(({ expr }) => namesIn(expr)).filter((name) => !types.has(name))).toEqual(
      [],
    );
    for (const { annotations } of rules) expect(annotations.runbook.length).toBeGreaterThan(20);
  });

  it('page for each pause that a person must end, and not for an outage of the API', async () => {
    const { groups } = parse(await readFile(ALERTS, 'utf8')) as {
      groups: { rules: (Rule & { expr: string })[] }[];
    };
    const codesOf = (name: string) => {
      const expr =
        groups.flatMap((group) => group.rules).find(({ alert }) => alert === name)?.expr ?? '';
      return new RegExp(`^(?:${/code[!=]~"([^"]+)"/.exec(expr)?.[1]})$`);
    };
    const codes = [
      'token-refused',
      'token-not-accepted',
      'answers-unclear',
      'http-302',
      'http-403',
      'http-404',
    ];
    expect(codes.filter((code) => pauseAdvice(code) === undefined)).toEqual([]);
    expect(codes.filter((code) => codesOf('PoSyncPaused').test(code))).toEqual([]);
    const outages = ['api-down', 'token-unavailable', 'http-429', 'http-500', 'http-503'];
    for (const name of ['PoSyncPaused', 'PoSyncPausedByOutage']) {
      expect(outages.filter((code) => !codesOf(name).test(code))).toEqual([]);
    }
  });
});
