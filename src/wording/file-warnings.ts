import { counted } from '../core/format.ts';
import type { Inspection } from '../mapping/read-records.ts';
import { type Sentence, sentence } from '../order/sentence.ts';

/** What the sender should know about a file that can be read. */
export function fileWarnings({ counts: { records, skipped }, reading }: Inspection): Sentence[] {
  const beside = reading?.summary.beside ?? [];
  const texts = [
    ...(records === 0 && reading ? ['The file has no orders.'] : []),
    ...(skipped > 0 ? [`${counted(skipped, 'record')} left out, as the mapping says.`] : []),
    ...(beside.length > 0
      ? [`Not read, because it is beside the orders: ${beside.join(', ')}.`]
      : []),
  ];
  return texts.map(sentence);
}
