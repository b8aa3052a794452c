import { counted, iso, orders, stamp } from '../core/format.ts';
import type { FileWait, Waits } from '../order/file-wait.ts';
import { shorten } from '../order/text.ts';

/** Why a file waits: `40 of the last 40 answers are the same refusal: articleCode is invalid`. */
export function fileWaitText(wait: FileWait): string {
  const { again } = wait;
  const since = again ? `, after the release by ${again.who} at ${stamp(again.at)}` : '';
  switch (wait.code) {
    case 'refusals': {
      const { refused, of, says } = wait.facts;
      return `${refused} of the last ${of} answers are the same refusal${since}: ${says}`;
    }
    case 'ledger':
      return `Redis lost what it knew of this file, which was in progress since ${stamp(Date.parse(wait.facts.claimedAt))}, and some of its orders may have been sent${since}`;
    case 'volume': {
      const { orders: number, maxOrders } = wait.facts;
      return `it has ${orders(number)}, and its source allows ${maxOrders}${since}`;
    }
    case 'layout': {
      const { missing, undeclared } = wait.facts;
      const lacks = missing.length > 0 ? [`it lacks ${named(missing)}`] : [];
      const has = undeclared.map(({ name }) => name);
      const more = has.length > 0 ? [`its mapping does not declare ${named(has)}`] : [];
      return `${[...lacks, ...more].join(', and ')}${since}`;
    }
    case 'shape': {
      const { damaged, apart } = wait.facts;
      return `${counted(damaged, 'row')} cannot be assigned to an order, because the rows of ${orders(apart)} are apart${since}`;
    }
    case 'mapping': {
      const { mappings, fitting } = wait.facts;
      const how = fitting.length === 0 ? 'none' : named(fitting);
      return `of its mappings (${mappings.join(', ')}), ${how} fits${since}`;
    }
    case 'workbook': {
      const { hiddenRows, hiddenColumns, sheets } = wait.facts;
      if (sheets.length > 0) return `it has several sheets: ${named(sheets)}${since}`;
      const hidden = [
        ...(hiddenRows > 0 ? [counted(hiddenRows, 'hidden row')] : []),
        ...(hiddenColumns.length > 0 ? [`the hidden columns ${named(hiddenColumns)}`] : []),
      ];
      return `it has ${hidden.join(' and ')}${since}`;
    }
    default:
      return wait satisfies never;
  }
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
