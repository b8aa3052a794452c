import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from '../../src/redis/connect.ts';
import { makePlace, type Place, startDaemon } from '../contenders/daemon.ts';
import { openRedis } from '../contenders/open-redis.ts';
import type { Line } from '../line.ts';
import { adminPort } from './dashboard.ts';
import type { Row } from './row.ts';

/** Dead letters of each batch. */
const LETTERS = 10;
const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const WITHIN = 200;

/** Every page of the dashboard with 10,000 batches and 100,000 open dead letters. Each search is for another text. */
export const pages: Row = {
  name: 'pages',
  title: 'Pages of the dashboard with 10,000 batches and 100,000 dead letters',
  async measure(stage) {
    const [batches, times] = stage.quick ? [1_000, 30] : [10_000, 100];
    const place = await makePlace(await stage.makeFolder(), stage.api.origin, '100ms');
    await using store = await openRedis(place.data);
    await using _ = await startDaemon(place);
    const batch = await settleOne(place);
    stage.say(`  copies one batch to ${batches}`);
    await copyBatch(place, store.redis, batch, batches);
    const origin = `http://127.0.0.1:${await adminPort(place.folder)}`;
    const began = performance.now();
    while ((await load(`${origin}/dead-letters`)).status === 503) await delay(100);
    const { total } = (await (await fetch(`${origin}/api/v1/dead-letters?limit=1`)).json()) as {
      total: number;
    };
    if (total !== batches * LETTERS) throw new Error(`the lists have ${total} dead letters`);
    const lines: Line[] = [ms('until the lists are built', [performance.now() - began])];
    for (const [title, route] of pagesOf(batch)) {
      const samples: number[] = [];
      for (let i = 0; i < times; i += 1) samples.push((await load(`${origin}${route(i)}`, 200)).ms);
      const p95 = samples.toSorted((a, b) => a - b)[Math.ceil(times * 0.95) - 1] ?? Number.NaN;
      const targets = [
        { text: `ms, 95th percentile`, value: p95, limit: WITHIN, sense: 'at most' as const },
      ];
      lines.push({ ...ms(title, samples), targets });
    }
    return lines;
  },
};

function ms(what: string, samples: number[]): Line {
  return { what, unit: 'ms', samples: { 'po-sync': samples } };
}

function pagesOf(batch: string): [title: string, route: (i: number) => string][] {
  const id = encodeURIComponent(`${batch}~line 2`);
  return [
    ['overview', () => '/?picture=week'],
    ['batches', () => '/batches'],
    ['batches by name', (i) => `/batches?q=${i.toString(16)}ff`],
    ['one batch', () => `/batches/${batch}`],
    ['dead letters', () => '/dead-letters'],
    ['dead letters, by text', (i) => `/dead-letters?q=po-${i}7-`],
    [
      'dead letters, by a text in all',
      (i) => `/dead-letters?q=not+a+number&since=${new Date(1e12 + i).toISOString()}`,
    ],
    ['one dead letter', () => `/dead-letters/${id}`],
    ['an order', (i) => `/order?number=PO-${i}-3`],
    ['sources', () => '/sources'],
    ['environment', () => '/environment'],
  ];
}

async function load(address: string, expected?: number): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  const answer = await fetch(address);
  await answer.arrayBuffer();
  if (expected !== undefined && answer.status !== expected)
    throw new Error(`${address} answers ${answer.status}`);
  return { status: answer.status, ms: performance.now() - began };
}

/** Lets the daemon settle a file whose orders are all invalid, and returns its batch. */
async function settleOne({ inbox, reports }: Place): Promise<string> {
  const rows = Array.from({ length: LETTERS }, (_, i) => `PO-0-${i},NEW,ART-${i},none`);
  await writeFile(path.join(inbox, 'orders-0.csv'), `${[HEAD, ...rows].join('\n')}\n`);
  for (;;) {
    const [batch] = await readdir(reports).catch((): string[] => []);
    const report = await readFile(path.join(reports, batch ?? '', 'report.json'), 'utf8').catch(
      () => '',
    );
    if (batch !== undefined && report.includes('"finished"')) return batch;
    await delay(50);
  }
}

/** Copies a settled batch, its report and its dead letters, under other names and order numbers. */
async function copyBatch(
  { reports }: Place,
  redis: Redis,
  batch: string,
  batches: number,
): Promise<void> {
  const [key = ''] = await redis.keys(`*:b:${batch}`);
  const prefix = key.slice(0, key.indexOf(':b:'));
  // The report is written before the ledger says that the batch is done.
  while ((await redis.hget(key, 'state')) !== 'done') await delay(50);
  const hash = await redis.hgetall(key);
  const names = (await readdir(path.join(reports, batch))).filter((name) =>
    /\.(?:json|jsonl|csv)$/.test(name),
  );
  const files = await Promise.all(
    names.map(
      async (name) => [name, await readFile(path.join(reports, batch, name), 'utf8')] as const,
    ),
  );
  for (let i = 1; i < batches; i += 1) {
    const name = batch.replace(/[0-9a-f]{8}$/, i.toString(16).padStart(8, '0'));
    const copy = (text: string) => text.replaceAll(batch, name).replaceAll('PO-0-', `PO-${i}-`);
    const folder = path.join(reports, name);
    await mkdir(folder);
    await Promise.all(files.map(([file, text]) => writeFile(path.join(folder, file), copy(text))));
    const fields = Object.entries(hash).map(([field, value]) => [field, copy(value)] as const);
    void redis.hset(`${prefix}:b:${name}`, Object.fromEntries(fields));
    void redis.zadd(`${prefix}:batches`, Date.now() - i * 1_000, name);
    const waiting = Array.from({ length: LETTERS }, (_, k) => [`PO-${i}-${k}`, `${name}/${k}`]);
    await redis.hset(`${prefix}:waiting`, Object.fromEntries(waiting));
  }
}
