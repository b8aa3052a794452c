import { createHash } from 'node:crypto';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import type { FixSheet } from '../correct/fix-workbook.ts';
import { layoutKey, listOf, readLetters } from '../correct/read-as.ts';
import { ignoredIn } from '../intake/folders.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { type DeadLetter, errorLine } from '../order/dead-letter.ts';
import { asText } from '../order/sentence.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import { type Lease, takeLease } from '../redis/lease.ts';
import { type OpenState, writeOpen } from '../report/open-folder.ts';
import type { LeftFile, OpenFile, OpenOrder } from '../report/page/open-page.ts';
import { readReport } from '../report/report.ts';
import { printUndeclared } from '../setup/print.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { viewOf } from './batches/list-batches.ts';
import { deadLetters } from './dead-letters/dead-letters.ts';
import { filesNotTaken, livingDaemons } from './heartbeat.ts';
import type { OperatorContext } from './operator-context.ts';

/** Orders of a page, and rows of a workbook; characters of its cells. */
const MOST = { orders: 1_000, rows: 10_000, text: 2 ** 25 };

/** Between two looks, and after a write so many times its time; for a folder that could not be written. Milliseconds. */
const LOOK = 1_000;
const REST = 20;
const RETRY = 5_000;
const LEASE = 15_000;

type Folder = { parent: string; source?: string; inbox: string | undefined };

/**
 * Keeps the folders `open` as they should be: in the reports' folder with what needs a person anywhere, in each inbox with
 * what came from it. One daemon writes them, when something changed.
 */
export function createOpenFolders(context: OperatorContext) {
  const { store, clock, owner } = context;
  const written = new Map<string, string>();
  const retryAt = new Map<string, number>();
  let lastSeen = '';
  let lease: Lease | undefined;
  let dueAt = 0;

  async function held(): Promise<Lease | undefined> {
    if (lease?.signal.aborted) {
      await lease.release().catch(() => undefined);
      lease = undefined;
      written.clear();
      lastSeen = '';
    }
    lease ??= await takeLease(store.redis, store.keys.lease('open'), owner, LEASE);
    return lease;
  }

  async function write(): Promise<void> {
    const mine = await held();
    if (mine === undefined) return;
    const around = await readAround(context);
    const [[last] = []] = await store.redis.xrevrange(store.keys.changes, '+', '-', 'COUNT', 1);
    const seen = digest([last, around]);
    if (lastSeen === seen) return;
    const folders = foldersOf(context);
    const states = await gather(folders, around, context);
    const failures: unknown[] = [];
    let areAll = true;
    for (const [i, { parent }] of folders.entries()) {
      const { [i]: state } = states;
      const now = state && digest([state.facts, state.sheets.map(({ ids }) => ids)]);
      const mayWrite = clock.monotonic() >= (retryAt.get(parent) ?? 0);
      if (state === undefined || now === undefined || written.get(parent) === now) continue;
      if (!mayWrite) {
        areAll = false;
        continue;
      }
      const options = { at: store.time.now(), fence: mine.fence };
      const isWhole = await writeOpen(parent, state, options).catch((error: unknown) => {
        // Intake says what is wrong with an inbox.
        if (!codeOf(error)?.startsWith('folder-')) failures.push(error);
        return false;
      });
      if (isWhole) written.set(parent, now);
      else retryAt.set(parent, clock.monotonic() + RETRY);
      areAll &&= isWhole;
    }
    if (areAll) lastSeen = seen;
    if (failures.length > 0) throw failures[0];
  }

  async function tick(isLast = false): Promise<void> {
    const began = clock.monotonic();
    if (began < dueAt && !isLast) return;
    try {
      await write();
    } finally {
      dueAt = clock.monotonic() + Math.max(LOOK, REST * (clock.monotonic() - began));
    }
  }

  return {
    tick: () => tick(),
    /** Whoever runs it once looks at the folders afterwards. */
    async [Symbol.asyncDispose](): Promise<void> {
      if (store.redis.status !== 'ready') return;
      await tick(true).catch(() => undefined);
      await lease?.release().catch(() => undefined);
    },
  };
}

function foldersOf({ config: { reports, sources } }: OperatorContext): Folder[] {
  const inboxes = sources.filter((one) => one.type === 'inbox');
  const own = inboxes.map(({ name, path: inbox }) => ({ parent: inbox, source: name, inbox }));
  return [{ parent: reports.path, inbox: inboxes[0]?.path }, ...own];
}

/** Files, without the orders in them. */
type Around = { files: OpenFile[]; left: LeftFile[]; open: number[] };

async function readAround(context: OperatorContext): Promise<Around> {
  const { batches, store, config } = context;
  const unreadable = Object.keys(await store.redis.hgetall(store.keys.unreadable));
  const broken = await Promise.all(unreadable.map((name) => batches.find(name)));
  const all = [...(await batches.underWay()), ...broken.flatMap((batch) => batch ?? [])];
  const files = await Promise.all(all.map((batch) => fileOf(batch, context)));
  const inboxes = config.sources.filter((one) => one.type === 'inbox');
  const ignored = await Promise.all(inboxes.map(leftIn));
  const notTaken = filesNotTaken(await livingDaemons(store)).map(
    ({ source, file = 'all files', reason }) => ({ source, file, reason }),
  );
  // Their dead letters change without a change of the batch.
  return { files, left: [...notTaken, ...ignored.flat()], open: all.map(({ open }) => open) };
}

async function fileOf(batch: Batch, context: OperatorContext): Promise<OpenFile> {
  const { standing, error } = await viewOf(batch, context);
  const { held, unsettled } = batch;
  const why = held ? asText(fileWaitText(held)) : (unsettled?.reason ?? error?.message);
  return {
    batch: batch.batch,
    file: batch.name,
    source: batch.source,
    since: iso(batch.startedAt),
    state: why === undefined ? 'in progress' : `${standing}: ${why}`,
    who: why === undefined ? 'nobody' : 'person',
    declare: held && printUndeclared(held.facts),
  };
}

/** What its reader does not want, such as a file with another name. */
async function leftIn(source: InboxSource): Promise<LeftFile[]> {
  const found = await ignoredIn(source).catch(() => undefined);
  return (found?.entries ?? []).map(({ name, kind }) => ({
    source: source.name,
    file: name,
    reason: `not taken: ${kind}`,
  }));
}

type Sheet = FixSheet & { rows: DeadLetter[]; ids: string[] };

/** What one folder shows. */
function collect(folder: Folder, { files, left }: Around, environment: string) {
  const isOwn = ({ source }: { source: string }) => source === (folder.source ?? source);
  const orders: OpenOrder[] = [];
  const sheets = new Map<string, Sheet>();
  const size = { total: 0, booked: 0, rows: 0, text: 0 };

  return {
    isOwn,
    add(letter: FoundDeadLetter, layout: Layout | undefined): void {
      size.total += 1;
      if (orders.length < MOST.orders) orders.push(orderOf(letter));
      const { rows = [], id, revision, now } = letter;
      const text = rows.reduce((sum, row) => sum + JSON.stringify(row).length, size.text);
      const isFull = size.rows + rows.length > MOST.rows || text > MOST.text;
      if (layout === undefined || rows.length === 0 || isFull || now !== undefined) return;
      const all: DeadLetter[] = [];
      const sheet = sheets.get(layout.key) ?? {
        letters: () => all,
        rows: all,
        shape: layout.shape,
        ids: [],
      };
      sheets.set(layout.key, sheet);
      sheet.rows.push(letter);
      sheet.ids.push(`${id}@${revision}`);
      size.rows += rows.length;
      size.text = text;
      size.booked += 1;
    },
    state: (): Omit<OpenState, 'sheets'> & { sheets: readonly Sheet[] } => ({
      facts: {
        environment,
        inbox: folder.inbox,
        total: size.total,
        orders,
        files: files.filter(isOwn),
        left: left.filter(isOwn),
      },
      sheets: [...sheets.values()],
      booked: size.booked,
    }),
  };
}

function orderOf(letter: FoundDeadLetter): OpenOrder {
  const { purchaseOrderNumber: number, kind, message, now } = letter;
  return {
    number,
    kind,
    message,
    batch: letter.batch,
    file: letter.file,
    line: errorLine(letter),
    at: letter.lastAt,
    again: now !== undefined,
  };
}

async function gather(folders: readonly Folder[], around: Around, context: OperatorContext) {
  const { config } = context;
  const collectors = folders.map((folder) => collect(folder, around, config.environment));
  const layouts = new Map<string, Layout | undefined>();
  const read = (folder: string) => readLetters(listOf(path.basename(folder), config));
  for await (const letter of deadLetters({ all: false }, context, read)) {
    const { batch } = letter;
    if (!layouts.has(batch))
      layouts.set(batch, await layoutOf(path.join(config.reports.path, batch)));
    for (const one of collectors) if (one.isOwn(letter)) one.add(letter, layouts.get(batch));
  }
  return collectors.map(({ state }) => state());
}

type Layout = Pick<FixSheet, 'shape'> & { key: string };

async function layoutOf(folder: string): Promise<Layout | undefined> {
  const report = await readReport(folder).catch(() => undefined);
  if (!report?.format) return undefined;
  const { format, header, items, mapping } = report;
  const shape = {
    format,
    ...(header && { header: [...header] }),
    ...(items && { items: [...items] }),
  };
  return { shape, key: digest(layoutKey({ shape, ...(mapping !== undefined && { mapping }) })) };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
