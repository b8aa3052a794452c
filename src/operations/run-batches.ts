import {
  type BatchView,
  batchJson,
  findBatch,
  listBatches,
  viewOf,
} from '../operate/batches/list-batches.ts';
import { readSince } from '../operate/since.ts';
import type { Work } from './operation.ts';

type ListInput = { limit: number; open: boolean; since?: string | undefined };
type Listed = { environment: string; batches: BatchView[] };

export const listed: Work<ListInput, Listed> = {
  async run({ limit: most, open, since: text = '' }, context) {
    const since = readSince(text)?.(context.clock.now()) ?? 0;
    const batches = await listBatches({ most, open, since }, context);
    return { environment: context.config.environment, batches };
  },
  json: ({ environment, batches }) => ({ environment, batches: batches.map(batchJson) }),
};

export const shown: Work<{ batch: string }, BatchView> = {
  run: async ({ batch }, context) =>
    viewOf(await findBatch(batch, context.batches, { byFile: true }), context),
  json: batchJson,
};
