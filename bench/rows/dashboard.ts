import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { medianRatio } from '../median.ts';
import { pace } from './race.ts';
import type { Row } from './row.ts';
import { type Lap, runLap } from './run-lap.ts';

/** How often a page asks (src/admin/dashboard/assets), and a scrape, in milliseconds. */
const ASKED = { '/': 2_000 };
const SCRAPE = { '/metrics': 1_000 };

/** The dashboard open in two browsers and a scrape every second, compared with nobody watching, in turns. */
export const dashboard: Row = {
  name: 'dashboard',
  title: 'Dashboard open in two browsers, metrics scraped every second',
  async measure(stage) {
    const [pairs, orders] = stage.quick ? [3, 10_000] : [7, 30_000];
    const { place } = await stage.poSync();
    const origin = `http://127.0.0.1:${await adminPort(place.folder)}`;
    const [watched, alone]: [Lap[], Lap[]] = [[], []];
    for (let i = 0; i < pairs * 2; i += 1) {
      // The first of a pair takes turns, so that a slow phase of the machine affects both.
      const isWatched = (i + (i >> 1)) % 2 === 0;
      const file = await stage.writeFile(orders);
      await using _ = isWatched ? watch(origin) : undefined;
      const lap = await runLap(stage, 'po-sync', file, 0);
      (isWatched ? watched : alone).push(lap);
      stage.say(
        `  ${isWatched ? 'watched' : 'alone'}: ${(lap.cpu / orders).toFixed(1)} µs an order`,
      );
    }
    const cpu = (laps: readonly Lap[]) => laps.map((lap) => lap.cpu / lap.orders);
    const redis = (laps: readonly Lap[]) => laps.map((lap) => (lap.redis?.cpu ?? 0) / lap.orders);
    const ratio = medianRatio(cpu(watched), cpu(alone));
    return [
      {
        what: 'processor time an order, nobody watching',
        unit: 'µs',
        samples: { 'po-sync': cpu(alone) },
      },
      {
        what: 'the same, watched',
        unit: 'µs',
        samples: { 'po-sync': cpu(watched) },
        targets: [{ text: '× nobody watching', value: ratio, limit: 1.03, sense: 'at most' }],
      },
      {
        what: 'processor time of Redis an order, nobody watching',
        unit: 'µs',
        samples: { 'po-sync': redis(alone) },
      },
      { what: 'the same, watched', unit: 'µs', samples: { 'po-sync': redis(watched) } },
      {
        what: 'file to accepted, watched',
        unit: 'orders/s',
        samples: { 'po-sync': watched.map(pace) },
      },
    ];
  },
};

/** The port that a daemon logged, by the folder of its log. */
export async function adminPort(folder: string): Promise<string> {
  const log = await readFile(path.join(folder, 'daemon.log'), 'utf8');
  const port = /"adminPort":(\d+)/.exec(log)?.[1];
  if (port === undefined) throw new Error('the daemon has no admin port');
  return port;
}

/** Asks what two open overviews and Prometheus ask, until disposed. */
function watch(origin: string): AsyncDisposable {
  const stop = new AbortController();
  const clients = [SCRAPE, ASKED, ASKED].flatMap((asked) =>
    Object.entries(asked).map(([route, pause]) => ask(`${origin}${route}`, pause, stop.signal)),
  );
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(clients);
    },
  };
}

async function ask(address: string, pause: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(address);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${address} answers ${answer.status}`);
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
}
