import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { postOrders, type Target } from '../api/post-orders.ts';
import { medianRatio } from '../median.ts';
import type { Row } from './row.ts';

/** The reference API against a bare node:http server that answers the same POST with a constant. */
export const sandbox: Row = {
  name: 'sandbox',
  title: 'Sandbox API',
  measure: async (stage) => {
    const orders = stage.quick ? 5_000 : 20_000;
    const rounds = stage.quick ? 2 : 5;
    await using constant = await startServer('constant.program.ts');
    await using ours = await startServer('sandbox.program.ts');
    const samples: { 'po-sync': number[]; bare: number[] } = { 'po-sync': [], bare: [] };
    for (let round = 0; round <= rounds; round += 1) {
      const fast = await postOrders(constant.target, `PO-${round}`, orders, 64);
      const slow = await postOrders(ours.target, `PO-${round}`, orders, 64);
      // The first round warms both up.
      if (round === 0) continue;
      samples['po-sync'].push(slow.perSecond);
      samples.bare.push(fast.perSecond);
    }
    return [
      { what: 'orders taken', unit: 'orders/s', samples, compared: true },
      {
        what: 'as a share of bare',
        unit: '',
        samples: { 'po-sync': [medianRatio(samples['po-sync'], samples.bare)] },
      },
    ];
  },
};

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
