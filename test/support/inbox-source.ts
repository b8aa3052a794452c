import { createFirstPasses } from '../../src/admit/first-passes.ts';
import type { ExportSource, InboxSource } from '../../src/config/config.ts';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { USUAL_FILES } from '../../src/config/source-schema.ts';

/** An inbox at `path`, quick enough for tests. */
export function inboxSource(path: string, more: Partial<InboxSource> = {}): InboxSource {
  const own = { stable: 60, poll: 100, doneFile: false, files: USUAL_FILES };
  return { name: 'inbox', type: 'inbox', path, ...own, ...more };
}

/** An export at `path`, quick enough for tests. */
export function exportSource(path: string, more: Partial<ExportSource> = {}): ExportSource {
  return {
    name: 'erp',
    type: 'export',
    path,
    stable: 60,
    poll: 100,
    newestOnly: false,
    timeout: 10_000,
    idle: 5_000,
    ...more,
  };
}

/** What files with the API's names lack, under further keys of their mapping. */
export function lacksWith(keys: Record<string, unknown> = {}) {
  const columns = {
    purchaseOrderNumber: { is: 'purchaseOrderNumber' },
    articleCode: { is: 'articleCode' },
    quantity: { is: 'quantity' },
  };
  const sources = [inboxSource('', { mapping: 'own' })];
  const mappings = { own: mappingSchema.parse({ columns, ...keys }) };
  const { lacks } = createFirstPasses(
    { sources, mappings, environments: {}, environment: '' },
    new AbortController().signal,
  );
  return (file: string) => lacks(file, 'inbox');
}
