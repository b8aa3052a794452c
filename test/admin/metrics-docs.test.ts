import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pauseAdvice } from '../../src/deliver/pause-rules.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const DOCS = path.resolve(import.meta.dirname, '../../docs/operations');
const ALERTS = path.join(DOCS, 'alerts.yaml');
const HAS_PROMTOOL = spawnSync('promtool', ['--version']).status === 0;

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
    expect(rules).toHaveLength(19);
    expect(rules.flatMap(({ expr }) => namesIn(expr)).filter((name) => !types.has(name))).toEqual(
      [],
    );
    for (const { annotations } of rules) expect(annotations.runbook.length).toBeGreaterThan(20);
  });

  it('have one for orders in doubt that wait for a person, and one for those that wait for the list, before they do', async () => {
    const { groups } = parse(await readFile(ALERTS, 'utf8')) as {
      groups: { rules: (Rule & { for: string })[] }[];
    };
    const ruleOf = (metric: string) =>
      groups.flatMap((group) => group.rules).find(({ expr }) => namesIn(expr).includes(metric));
    expect(ruleOf('po_sync_dead_letter_orders_in_doubt')).toMatchObject({
      alert: 'PoSyncInDoubt',
      for: '5m',
    });
    // Ten times `delivery.settle`, in minutes, as it is by default.
    expect(Number.parseInt(ruleOf('po_sync_orders_in_doubt')?.for ?? '', 10)).toBeLessThan(10);
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
    expect(codes.filter((code) => pauseAdvice({ code }) === undefined)).toEqual([]);
    expect(codes.filter((code) => codesOf('PoSyncPaused').test(code))).toEqual([]);
    const outages = ['api-down', 'token-unavailable', 'http-429', 'http-500', 'http-503'];
    for (const name of ['PoSyncPaused', 'PoSyncPausedByOutage']) {
      expect(outages.filter((code) => !codesOf(name).test(code))).toEqual([]);
    }
  });

  it.skipIf(!HAS_PROMTOOL)(
    'pass promtool, and so does a scrape (needs promtool of Prometheus)',
    async () => {
      const rules = spawnSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' });
      expect([rules.status, rules.stdout + rules.stderr]).toEqual([
        0,
        expect.stringContaining('19 rules found'),
      ]);
      const scrape = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect([scrape.status, scrape.stdout + scrape.stderr]).toEqual([0, '']);
    },
  );

  it.skipIf(!HAS_PROMTOOL)('fire when they should (needs promtool of Prometheus)', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-alerts-'));
    try {
      const file = path.join(folder, 'test.yaml');
      await writeFile(file, JSON.stringify(alertTests()));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
        encoding: 'utf8',
      });
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Which alerts fire after half an hour of these values, one a minute; or later. */
function firing(
  series: Record<string, string>,
  alerts: Record<string, boolean | number>,
  at = '30m',
) {
  const names = Object.entries(alerts);
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: names.map(([alert, fires]) => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      eval_time: at,
      exp_samples: [{ labels: '{}', value: Number(fires) }],
    })),
  };
}

/** One alert for one stopped daemon. */
const DOWN_ONCE = { PoSyncDown: 1 };

function alertTests() {
  const waits = {
    'po_sync_orders_unsettled{environment="e"}': '5x30',
    'po_sync_oldest_batch_timestamp_seconds{environment="e"}': '0x30',
  };
  return {
    rule_files: [ALERTS],
    evaluation_interval: '1m',
    tests: [
      firing({}, { PoSyncDown: true, PoSyncStuck: false }),
      firing(
        {
          'up{job="po-sync",instance="a"}': '1x10 0x20',
          'po_sync_build_info{instance="a"}': '1x10',
        },
        DOWN_ONCE,
      ),
      firing(
        { 'up{job="po-sync",instance="a"}': '1x30', 'po_sync_build_info{instance="a"}': '1x30' },
        { PoSyncDown: 0 },
      ),
      firing({ 'po_sync_redis_up{environment="e"}': '0x30' }, { PoSyncRedisAway: true }),
      firing(waits, { PoSyncStuck: true, PoSyncPaused: false }),
      firing(
        {
          ...waits,
          'po_sync_delivery_attempts_total{environment="e",result="accepted"}': '0+1x30',
        },
        { PoSyncStuck: false },
      ),
      firing(
        { ...waits, 'po_sync_delivery_paused{environment="e",code="api-down"}': '1x30' },
        {
          PoSyncStuck: false,
          PoSyncPaused: false,
          PoSyncPausedByOutage: true,
          PoSyncPausedByOperator: false,
        },
      ),
      firing(
        { 'po_sync_delivery_paused{environment="e",code="http-403"}': '1x30' },
        { PoSyncPaused: true, PoSyncPausedByOutage: false },
      ),
      firing(
        {
          'po_sync_orders_settled_total{environment="e",outcome="refused"}': '0+3x30',
          'po_sync_orders_settled_total{environment="e",outcome="accepted"}': '0+5x30',
        },
        { PoSyncRefusals: true },
      ),
      firing(
        {
          'po_sync_source_last_file_timestamp_seconds{environment="e",source="erp"}': '0x30',
          'po_sync_source_expected_interval_seconds{environment="e",source="erp"}': '600x30',
        },
        { PoSyncSourceSilent: true },
      ),
      firing(
        {
          'po_sync_batches{environment="e",state="held"}': '1x30',
          'po_sync_orders_created_twice{environment="e"}': '1x30',
          'po_sync_unreadable_files{environment="e",source="erp"}': '0x10 1x20',
        },
        { PoSyncBatchHeld: true, PoSyncCreatedTwice: true, PoSyncUnreadableFile: true },
      ),
      firing(
        {
          'po_sync_guarantee_holds{environment="e",assumption="A2"}': '1x30',
          'po_sync_guarantee_holds{environment="e",assumption="A3"}': '0x30',
          'po_sync_guarantee_holds{environment="e",assumption="once"}': '0x30',
        },
        { PoSyncGuarantee: 1 },
      ),
      firing(
        { 'po_sync_files_not_taken{environment="e",source="erp"}': '1x90' },
        { PoSyncFileNotTaken: true },
      ),
      firing(
        { 'po_sync_files_not_taken{environment="e",source="erp"}': '1x3 0x60' },
        { PoSyncFileNotTaken: false },
      ),
      firing(
        { 'po_sync_source_unavailable{environment="e",source="in"}': '1x30' },
        { PoSyncSourceUnavailable: true },
      ),
      firing(
        { 'po_sync_source_unavailable{environment="e",source="in"}': '1x1 0x30' },
        { PoSyncSourceUnavailable: false },
      ),
      // After ten minutes of waiting for the list, the order is a dead letter.
      firing(
        {
          'po_sync_orders_in_doubt{environment="e"}': '1x10 0x20',
          'po_sync_dead_letter_orders_in_doubt{environment="e"}': '0x10 1x20',
        },
        { PoSyncInDoubt: true, PoSyncListLate: false },
      ),
      firing(
        { 'po_sync_orders_in_doubt{environment="e"}': '1x10 0x20' },
        { PoSyncListLate: true },
        '9m',
      ),
      firing(
        { 'po_sync_orders_in_doubt{environment="e"}': '1x3 0x27' },
        { PoSyncListLate: false },
        '9m',
      ),
      firing(
        { 'po_sync_dead_letter_orders{environment="e"}': '2x90' },
        { PoSyncDeadLetters: true },
        '90m',
      ),
      firing(
        {
          'po_sync_batches{environment="e",state="held"}': '0x30',
          'po_sync_dead_letter_orders{environment="e"}': '0x30',
          'po_sync_orders_created_twice{environment="e"}': '0x30',
          'po_sync_unreadable_files{environment="e",source="erp"}': '0x10 1x10 0x10',
          'po_sync_files_total{environment="e",source="erp",result="unreadable"}': '_x10 1x20',
        },
        {
          PoSyncBatchHeld: false,
          PoSyncDeadLetters: false,
          PoSyncCreatedTwice: false,
          PoSyncUnreadableFile: false,
        },
      ),
    ],
  };
}
