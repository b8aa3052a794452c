import { counted, iso, orders, stamp } from '../core/format.ts';
import type { FileWait, Waits } from '../order/file-wait.ts';
import { type Sentence, sentence } from '../order/sentence.ts';
import { shorten } from '../order/text.ts';

type Of<Code extends FileWait['code']> = Extract<FileWait, { code: Code }>['facts'];

/** Why a file waits, for each code. */
const SENTENCES: { [Code in FileWait['code']]: (facts: Of<Code>) => string } = {
  refusals: ({ refused, of, says }) =>
    `${refused} of the last ${of} answers are the same refusal: ${says}`,
  ledger: ({ claimedAt }) =>
    `Redis lost what it knew of this file, which was in progress since ${stamp(Date.parse(claimedAt))}, and some of its orders may have been sent`,
  volume: ({ orders: number, maxOrders }) =>
    `it has ${orders(number)}, and its source allows ${maxOrders}`,
  layout: ({ missing, undeclared }) => {
    const lacks = missing.length > 0 ? [`it lacks ${named(missing)}`] : [];
    const has = undeclared.map(({ name }) => name);
    const more = has.length > 0 ? [`its mapping does not declare ${named(has)}`] : [];
    return [...lacks, ...more].join(', and ');
  },
  shape: ({ damaged, apart }) =>
    `${counted(damaged, 'row')} cannot be assigned to an order, because the rows of ${orders(apart)} are apart`,
  mapping: ({ mappings, fitting }) =>
    `of its mappings (${mappings.join(', ')}), ${fitting.length === 0 ? 'none' : named(fitting)} fits`,
  workbook: ({ hiddenRows, hiddenColumns, sheets }) => {
    if (sheets.length > 0) return `it has several sheets: ${named(sheets)}`;
    const hidden = [
      ...(hiddenRows > 0 ? [counted(hiddenRows, 'hidden row')] : []),
      ...(hiddenColumns.length > 0 ? [`the hidden columns ${named(hiddenColumns)}`] : []),
    ];
    return `it has ${hidden.join(' and ')}`;
  },
};

function textOf<Code extends FileWait['code']>(code: Code, facts: Of<Code>): string {
  return SENTENCES[code](facts);
}

/** Why a file waits: `40 of the last 40 answers are the same refusal: articleCode is invalid`. */
export function fileWaitText({ code, facts, again }: FileWait): Sentence {
  const since = again ? ` (after the release by ${again.who} at ${stamp(again.at)})` : '';
  return sentence(`${textOf(code, facts)}${since}`);
}

/** Why a file waits, in JSON output; `message` is the sentence for people. */
export function fileWaitJson(waits: Waits) {
  const { code, facts, since } = waits;
  return { code, facts, message: fileWaitText(waits), since: iso(since) };
}

const NAMED = 10;

function named(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).map((name) => JSON.stringify(shorten(name, 60)));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
