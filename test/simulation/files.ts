import { codeOf } from '../../src/core/errors.ts';
import type { Batch } from '../../src/ledger/batches/batches.ts';
import { ROLLED_BACK } from '../../src/ledger/pause-cause.ts';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import type { OutcomeCounts } from '../../src/order/outcome.ts';
import type { ReportedOrder } from '../../src/report/write-report.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import { EPOCH, KEYS } from './setting.ts';
import { type Standing, standingOf } from './standing.ts';
import { ledgerTime, type Store } from './store.ts';
import type { Timeline } from './timeline.ts';

/** A file that somebody dropped, or a version of an export; it stays in `processing/` until its batch is finished. */
export type File = {
  batch: string;
  source: string;
  kind: Batch['kind'];
  isFixFile: boolean;
  orders: readonly CheckedOrder[];
  reader: Machine | undefined;
  report: FileReport | undefined;
  /** It was moved to `done/`, and when; also by ledger time. */
  isAway: boolean;
  awayAt: number;
  awayAtLedger: number;
};

/** What its report says. */
export type FileReport = {
  rows: readonly ReportedOrder[];
  counts: OutcomeCounts;
  total: number;
  /** What the ledger said about each order then. */
  told: ReadonlyMap<string, Standing>;
};

/** What is dropped, and how. */
export type Drop = { orders: readonly CheckedOrder[]; kind?: Batch['kind']; isFixFile?: boolean };

export type Files = ReturnType<typeof openFiles>;

type Deps = {
  timeline: Timeline;
  random: Random;
  store: Store;
  machines: readonly Machine[];
  onTrouble: (error: unknown) => void;
};

const PAGE = 10;
/** How long a reader that does not run keeps its lease of the file. */
const LEASE = 10_000;

/** The sources of a world: a file is read by whoever is first, and again when its reader died or Redis forgot it. */
export function openFiles({ timeline, random, store, machines, onTrouble }: Deps) {
  const files: File[] = [];
  let expected = 0;

  /** Somebody drops a file at that time. */
  function drop(at: number, makeDrop: () => Drop | undefined): void {
    expected += 1;
    timeline.plan(at, () => {
      expected -= 1;
      const dropped = makeDrop();
      if (dropped !== undefined && dropped.orders.length > 0) add(dropped);
    });
  }

  function add({ orders, kind = 'inbox', isFixFile = false }: Drop): void {
    const batch = `b${files.length + 1}`;
    const source = kind === 'inbox' ? 'inbox' : 'erp';
    const fresh = {
      reader: undefined,
      report: undefined,
      isAway: false,
      awayAt: 0,
      awayAtLedger: 0,
    };
    files.push({ batch, source, kind, isFixFile, orders, ...fresh });
  }

  /** Finds what is to be read. */
  function look(): void {
    for (const file of files) if (mustBeRead(file)) read(file);
  }

  /** Not read to its end yet, or forgotten by Redis; and nobody alive and awake has it in hand. */
  function mustBeRead({ batch, reader, isAway }: File): boolean {
    if (isAway) return false;
    if (reader?.host.alive && reader.host.frozenUntil < timeline.now() + LEASE) return false;
    const key = KEYS.batch(batch);
    return store.hget(key, 'batch') === null || store.hget(key, 'state') === 'reading';
  }

  function read(file: File): void {
    const reader = random.pick(machines);
    if (!reader.isUp()) return;
    file.reader = reader;
    admitAll(file, reader)
      .catch((error) => codeOf(error) === ROLLED_BACK || onTrouble(error))
      .finally(() => {
        if (file.reader === reader) file.reader = undefined;
      });
  }

  async function admitAll(
    { batch, source, kind, isFixFile, orders }: File,
    reader: Machine,
  ): Promise<void> {
    const { batches, admit } = await reader.intake();
    const since = batches.epoch();
    const claimed = { batch, source, kind, name: `${batch}.csv`, path: '/none' };
    await batches.recallCancellation(batch);
    const begun: Batch = await batches.begin(claimed, EPOCH + timeline.now());
    const facts = { records: orders.length, isFixFile };
    if (begun.state !== 'reading') return;
    const isCounted = await batches.counted(batch);
    for (let i = 0; i < orders.length; i += PAGE) {
      const page = orders.slice(i, i + PAGE).filter(({ ordinal }) => !isCounted(ordinal));
      await admit(begun, page, facts, new AbortController().signal);
    }
    await batches.admitted(batch, orders.length, since);
  }

  /** The report of a batch is in its folder, complete. */
  function reported(file: File, report: Omit<FileReport, 'told'>): void {
    file.report = {
      ...report,
      told: new Map(file.orders.map(({ number }) => [number, standingOf(store, number)])),
    };
  }

  function putAway(file: File): void {
    if (!file.isAway) {
      file.awayAt = timeline.now();
      file.awayAtLedger = ledgerTime(store, KEYS.identity);
    }
    file.isAway = true;
  }

  return {
    drop,
    look,
    reported,
    putAway,
    all: files as readonly File[],
    of: (batch: string): File | undefined => files.find((file) => file.batch === batch),
    /** The dead letters in the report of a batch. */
    deadLetters: (batch: string): DeadLetter[] =>
      files
        .find((file) => file.batch === batch)
        ?.report?.rows.flatMap(({ deadLetter }) => deadLetter ?? []) ?? [],
    allDone: () => expected === 0 && files.every(isDone),
    isReading: () => expected > 0 || files.some(isBeingRead),
  };

  /** A reader that died after the last order was admitted leaves nothing to read. */
  function isBeingRead(file: File): boolean {
    const { isAway, reader } = file;
    return !isAway && reader !== undefined && (reader.host.alive || mustBeRead(file));
  }

  /** Put away, and no longer in progress in Redis; Redis may have forgotten it since. */
  function isDone({ batch, isAway }: File): boolean {
    return isAway && !store.members(KEYS.finished).has(batch);
  }
}
