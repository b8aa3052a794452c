import { iso } from '../core/format.ts';
import type { Batch, Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readOpenDeadLetters } from '../ledger/open-dead-letters.ts';
import type { StoredResult } from '../ledger/stored-result.ts';
import { type DeadLetterKind, needsPerson } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { signatureOf } from '../report/signature.ts';
import type { FoundDeadLetter } from './found-dead-letter.ts';

type Deps = { batches: Batches; ledger: Ledger; redis: Redis; keys: Keys };

/** Dead letters of batches whose report is still to come, as far as the ledger knows them. */
export async function* lettersUnderWay({ batches, ledger, redis, keys }: Deps): AsyncGenerator<FoundDeadLetter> {
  const underWay = new Map((await batches.underWay()).map((batch) => [batch.batch, batch]));
  const told = new Set<string>();
  if (underWay.size === 0) return;
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(keys.waiting, cursor, 'COUNT', 200);
    cursor = next;
    for (let i = 0; i < flat.length; i += 2) yield* ofNumber(flat[i] ?? '', flat[i + 1] ?? '');
  } while (cursor !== '0');

  async function* ofNumber(number: string, text: string): AsyncGenerator<FoundDeadLetter> {
    for (const { batch: name, field } of readOpenDeadLetters(text)) {
      const batch = underWay.get(name);
      // A hash that grows while it is read may show a number twice.
      if (batch === undefined || told.has(`${name}/${field}`)) continue;
      told.add(`${name}/${field}`);
      const [result = invalidIn(batch)] = await batches.results(name, [Number(field)]);
      if (needsPerson(result.outcome)) yield await deadLetterOf(number, Number(field), batch, result);
    }
  }

  async function deadLetterOf(
    number: string,
    ordinal: number,
    batch: Batch,
    result: StoredResult,
  ): Promise<FoundDeadLetter> {
    const [known] = await ledger.lookup([number]);
    const isOurs = known?.kind === 'open' && known.entry.batch === batch.batch && known.entry.ordinal === ordinal;
    const entry = isOurs ? known.entry : undefined;
    const { code, httpStatus, response, attempts, at, firstAt = at } = result;
    const kind = result.outcome as DeadLetterKind;
    const message = result.message === '' ? UNTOLD : result.message;
    return {
      purchaseOrderNumber: number,
      kind,
      stage:
        kind === 'invalid' ? 'validation' : kind === 'conflict' || kind === 'inDoubt' ? 'reconciliation' : 'delivery',
      code,
      message,
      ...(httpStatus === undefined ? {} : { httpStatus }),
      ...(response === undefined ? {} : { response }),
      signature: signatureOf({ code, message, known: [number] }),
      attempts,
      firstAt: iso(firstAt),
      lastAt: iso(at),
      location: entry?.place ?? { line: 0 },
      ...(entry === undefined ? {} : { payload: entry.order }),
      ...(entry === undefined || entry.state === kind ? {} : { now: entry.state }),
      batch: batch.batch,
      source: batch.source,
      file: batch.name,
    };
  }
}

/** What failed a check is not kept: the file tells it again when the report is written. */
function invalidIn({ startedAt }: Batch): StoredResult {
  return { outcome: 'invalid', attempts: 0, at: startedAt, code: 'invalid', message: '' };
}

const UNTOLD = 'failed a check; the report tells which when the file is finished';
