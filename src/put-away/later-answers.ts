import { mappingsFor } from '../config/config.ts';
import { columnNames, placeOfRecord, readCells, recordsIn } from '../correct/letter-rows.ts';
import { listOf, readLetters } from '../correct/read-as.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { type Closing, type DeadLetter, REPLACED } from '../order/dead-letter.ts';
import { splitId } from '../order/letter-id.ts';
import type { SourceRecord } from '../order/record.ts';
import { sentence } from '../order/sentence.ts';
import { answerFolders, atApiOf, writeAnswer } from '../report/answer.ts';
import type { ReportedOrder } from '../report/write-report.ts';
import { closingText } from '../wording/closing.ts';
import type { SettlementContext } from './put-batch-away.ts';

/**
 * Builds the step that answers orders of finished files once more, in a new file, when their dead letter was settled by
 * something else than a file that is answered in the same folder.
 */
export function createLaterAnswers(context: SettlementContext) {
  const { config, store, side } = context;
  const { redis, keys } = store;
  const { batches, ledger } = side;

  async function answer(batch: Batch, ids: ReadonlySet<string>): Promise<void> {
    const { batch: name, source, inspection } = batch;
    if (inspection === undefined) return;
    const { shape, readAs = source } = inspection;
    const closings = await batches.closings(name);
    for (const folder of answerFolders(source, readAs, config)) {
      const orders: ReportedOrder[] = [];
      for await (const letter of readLetters(listOf(name, config))) {
        const closing = ids.has(letter.id) ? closings.get(letter.id) : undefined;
        if (closing === undefined || (await isAnswered(closing, batch, folder))) continue;
        const [known = { kind: 'nothing' as const }] = await ledger.lookup([closing.number]);
        orders.push({ ...settledOrder(letter, closing, shape.header), atApi: atApiOf(known) });
      }
      const form = { shape, mapping: mappingsFor(config, readAs)[0]?.mapping };
      if (orders.length > 0) await writeAnswer(folder, name, form, orders);
    }
  }

  /** Whether the file that settled it has the answer, or its order needs a person in another one. */
  async function isAnswered(closing: Closing, { batch }: Batch, folder: string): Promise<boolean> {
    if (closing.by === REPLACED) return true;
    if (closing.batch === undefined || closing.batch === batch) return false;
    const other = await batches.find(closing.batch);
    const folders = other && answerFolders(other.source, other.inspection?.readAs, config);
    return folders?.has(folder) === true;
  }

  return {
    /** The batches with dead letters that were settled since they were asked for. */
    waiting: async (): Promise<Set<string>> =>
      new Set((await redis.smembers(keys.toAnswer)).map((id) => splitId(id)[0])),
    /** Answers those of a batch; its first answer comes first. */
    async answer(name: string): Promise<void> {
      const batch = await batches.find(name);
      const isOurs = config.sources.some((one) => one.name === batch?.source);
      if (batch && (batch.state !== 'done' || !isOurs)) return;
      await batches.withLease(name, async (fence) => {
        const all = await redis.smembers(keys.toAnswer);
        const ids = all.filter((id) => splitId(id)[0] === name);
        if (batch) await answer(batch, new Set(ids));
        await fence();
        if (ids.length > 0) await redis.srem(keys.toAnswer, ...ids);
      });
    },
  };
}

/** The order of a dead letter with its rows as they were read, and what became of it. */
function settledOrder(
  { purchaseOrderNumber: number, rows = [], location, attempts }: DeadLetter,
  closing: Closing,
  header: readonly string[] | undefined,
): ReportedOrder {
  const names = columnNames(header ?? []);
  const records = recordsIn(rows).flatMap((own): SourceRecord[] => {
    const [first] = own;
    const place = placeOfRecord(own);
    if (first === undefined) return [];
    return first.value === undefined
      ? [{ kind: 'row', place, cells: readCells(first.cells, names) }]
      : [{ kind: 'object', place, value: first.value }];
  });
  const order = { ordinal: 0, number, place: location, records };
  const result = {
    line: location.line,
    purchaseOrderNumber: number,
    outcome: closing.by === 'discarded' ? ('cancelled' as const) : ('accepted' as const),
    attempts,
    at: closing.at,
    code: closing.by,
    message: sentence(closingText(closing)),
  };
  return { order: { ...order, valid: false, problems: [] }, result };
}
