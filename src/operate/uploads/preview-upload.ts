import { createHash } from 'node:crypto';
import type { Inspection } from '../../correct/inspection.ts';
import type { FileOf } from '../../correct/read-as.ts';
import { mappingDigest } from '../../intake/export-versions.ts';
import { type Existing, existingOf } from '../../ledger/adopt.ts';
import type { ContentWait } from '../../order/file-wait.ts';
import { LIMITS } from '../../order/limits.ts';
import type { Item, Order } from '../../order/order.ts';
import type { Problem } from '../../order/problem.ts';
import type { FileFormat } from '../../order/record.ts';
import { shorten } from '../../order/text.ts';
import type { Look } from '../../reconcile/list-proof.ts';
import { troubleOf } from '../delivery/api-list.ts';
import type { OperatorContext } from '../operator-context.ts';
import { checkFile } from '../orders/check-file.ts';
import { createComparison, type Preview, type Verdict } from '../orders/preview-orders.ts';

/** An order that would be sent, and the line of its first row. `moreItems`: how many are not listed. */
export type OrderToSend = {
  purchaseOrderNumber: string;
  line: number;
  items: Item[];
  moreItems?: number;
};

/** What would become of the orders of an uploaded file. */
export type UploadPreview = Preview & {
  orders: number;
  records: number;
  format: FileFormat;
  /** Why the file would wait for a person. */
  waits?: ContentWait;
  /** `ok`, or why the API's list does not show what is absent. */
  list: string;
  /** The first warnings and problems. */
  warnings: string[];
  problems: (Problem & { purchaseOrderNumber: string })[];
  /** The first orders that would be sent, with their items. */
  toSend: OrderToSend[];
};

/** What was previewed. `digest`: over the bytes, and every order with its verdict. `listed`: what the API's list has of these orders. */
export type Previewed = {
  preview: UploadPreview;
  digest: string;
  listed: Listed;
  /** Orders that only the API's list has, so that the ledger would let them be sent. */
  unknown: Existing[];
};

type Listed = {
  orders: ReadonlyMap<string, string>;
  trouble?: string;
};

type PreviewContext = Pick<OperatorContext, 'config' | 'batches' | 'ledger' | 'clock' | 'store'>;

/** Problems and warnings that are shown. */
const SHOWN = 20;
/** Milliseconds that reading the API's list may take. */
const LIST_TAKES = 30_000;

/** Reads a file and compares its orders with the ledger and the API's list. Throws like `checkFile`. */
export async function previewUpload(
  file: FileOf,
  context: PreviewContext,
  { readList, signal }: { readList: Look; signal: AbortSignal },
): Promise<Previewed> {
  const numbers = new Set<string>();
  await checked(file, context, signal, {
    order: ({ number }) => void numbers.add(context.store.keys.keyOf(number)),
  });
  return compareUpload(file, context, { listed: await listOf(numbers, readList, context), signal });
}

/** The same without reading the API's list again. */
export async function compareUpload(
  file: FileOf,
  context: PreviewContext,
  { listed, signal }: { listed: Listed; signal: AbortSignal },
): Promise<Previewed> {
  const hash = createHash('sha256');
  const unknown: Existing[] = [];
  const problems: UploadPreview['problems'] = [];
  let compare: ReturnType<ReturnType<typeof createComparison>> | undefined;
  const toSend = createSendList();
  let orders = 0;
  function compared({ number, digest, verdict, isNew, order, line, problems: held = [] }: Verdict) {
    note(problems, held, number);
    if (verdict === 'new' && order !== undefined) toSend.add(order, line);
    hash.update(JSON.stringify([number, digest, verdict]));
    const other = isNew ? listed.orders.get(number) : undefined;
    if (other !== undefined) unknown.push({ purchaseOrderNumber: number, digest: other });
  }

  const { shape, records, sha256, ...inspection } = await checked(file, context, signal, {
    inspected({ inspection: { isFixFile = false } }) {
      const facts = { again: isFixFile, mapping: mappingDigest(file.source, context.config) };
      compare = createComparison(
        context,
        listed.orders,
        listed.trouble === undefined,
      )(facts, compared);
    },
    async order(order) {
      orders += 1;
      await compare?.add(order);
      if (!order.valid) note(problems, order.problems, order.number);
    },
  });
  const counts = await compare?.done();
  if (counts === undefined) throw new TypeError('a file is inspected before its orders are read');
  const preview: UploadPreview = {
    ...counts,
    orders,
    records,
    format: shape.format,
    ...(inspection.waits && { waits: inspection.waits }),
    list: listed.trouble ?? 'ok',
    warnings: inspection.warnings.slice(0, SHOWN),
    // Orders that another one holds are found later than those that fail a check.
    problems: problems.toSorted((a, b) => a.line - b.line),
    toSend: toSend.listed,
  };
  const digest = hash.update(sha256).digest('hex').slice(0, 16);
  return { preview, digest, listed, unknown };
}

/** Keeps the first problems. */
function note(
  all: UploadPreview['problems'],
  found: readonly Problem[],
  purchaseOrderNumber: string,
): void {
  for (const one of found) if (all.length < SHOWN) all.push({ ...one, purchaseOrderNumber });
}

/** Orders and items that a preview lists, and the items of one order; previews stay in memory. */
const LISTED_ORDERS = 200;
const LISTED_ITEMS = 2_000;
const ITEMS_OF_ORDER = 100;

/** Collects the first orders that would be sent, for a person who reads them before they are sent. */
function createSendList() {
  const listed: OrderToSend[] = [];
  let count = 0;
  return {
    listed,
    add(order: Order, line: number): void {
      const { purchaseOrderNumber, items } = order;
      if (listed.length === LISTED_ORDERS || count >= LISTED_ITEMS) return;
      // Codes have no limit at some APIs.
      const shown = items.slice(0, ITEMS_OF_ORDER).map(({ articleCode, quantity }) => {
        return { articleCode: shorten(articleCode, LIMITS.textLength), quantity };
      });
      const more = items.length - shown.length;
      listed.push({
        purchaseOrderNumber,
        line,
        items: shown,
        ...(more > 0 ? { moreItems: more } : {}),
      });
      count += shown.length;
    },
  };
}

async function checked(
  file: FileOf,
  { config, batches }: PreviewContext,
  signal: AbortSignal,
  on: Parameters<typeof checkFile>[2],
): Promise<Inspection> {
  return checkFile(file, { config, batches, signal }, on);
}

/** What the API's list has of the orders with these keys. */
async function listOf(
  numbers: ReadonlySet<string>,
  read: Look,
  { clock, store }: PreviewContext,
): Promise<Listed> {
  const orders = new Map<string, string>();
  if (numbers.size === 0) return { orders };
  const limit = new AbortController();
  const late = clock
    .sleep(LIST_TAKES, limit.signal)
    .then(() => ({ reason: 'reading it takes longer than 30 s' }));
  const reading = troubleOf(
    read((order) => {
      if (numbers.has(store.keys.keyOf(order.purchaseOrderNumber)))
        orders.set(order.purchaseOrderNumber, existingOf(order).digest);
    }),
  );
  try {
    const trouble = await Promise.race([reading, late]);
    return { orders: new Map(orders), ...(trouble && { trouble: trouble.reason }) };
  } finally {
    limit.abort();
    for (const one of [reading, late]) one.catch(() => undefined);
  }
}
