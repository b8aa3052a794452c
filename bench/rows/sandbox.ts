import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { postOrders, type Target } from '../api/post-orders.ts';
import type { Line } from '../line.ts';
import { medianRatio } from '../median.ts';
import type { Row } from './row.ts';

/** As many as po-sync has in flight here, and as many as keep both busy while the disk is waited for. */
const CROWDS = [64, 256];

/** The reference API against a bare node:http server that answers the same POST with a constant. */
export const sandbox: Row = {
  name: 'sandbox',
  title: 'Sandbox API',
  measure: async (stage) => {
    await using constant = await startServer('constant.program.ts');
    await using ours = await startServer('sandbox.program.ts');
    const lines: Line[] = [];
    for (const connections of CROWDS) {
      const { fast, slow } = await takeTurns(constant.target, ours.target, connections, stage.quick);
      const share = medianRatio(slow, fast);
      lines.push({
        what: `orders taken from ${connections} connections`,
        unit: 'orders/s',
        samples: { 'po-sync': slow, bare: fast },
        compared: true,
        targets: [{ text: '× bare', value: share, limit: 0.7, sense: 'at least' }],
      });
    }
    return lines;
  },
};

async function takeTurns(constant: Target, ours: Target, connections: number, quick: boolean) {
  const orders = quick ? 5_000 : 20_000;
  const rounds = quick ? 2 : 7;
  const paces = { fast: [] as number[], slow: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const prefix = `PO-${connections}-${round}`;
    const fast = await postOrders(constant, prefix, orders, connections);
    const slow = await postOrders(ours, prefix, orders, connections);
    // The first round warms both up.
    if (round === 0) continue;
    paces.fast.push(fast.perSecond);
    paces.slow.push(slow.perSecond);
  }
  return paces;
}

async function startServer(program: string): Promise<{ target: Target } & AsyncDisposable> {
  const child = fork(path.join(import.meta.dirname, '../api', program));
  const [target] = await once(child, 'message');
  return {
    target: target as Target,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
