import { iso, orders, stamp } from '../core/format.ts';
import type { FileWait, Waits } from '../order/file-wait.ts';

/** Why a file waits: `40 of the last 40 answers are the same refusal: articleCode is invalid`. */
export function fileWaitText(wait: FileWait): string {
  const { again } = wait;
  const since = again ? `, after the release by ${again.who} at ${stamp(again.at)}` : '';
  switch (wait.code) {
    case 'refusals': {
      const { refused, of, says } = wait.facts;
      return `${refused} of the last ${of} answers are the same refusal${since}: ${says}`;
    }
    case 'volume': {
      const { orders: number, maxOrders } = wait.facts;
      const has = number === undefined ? 'more orders' : orders(number);
      return `it has ${has}, and its source allows ${maxOrders}${since}`;
    }
    default:
      return wait satisfies never;
  }
}

/** Why a file waits, in reports and in JSON output; `message` is the sentence for people. */
export type FileWaitJson = ReturnType<typeof fileWaitJson>;

export function fileWaitJson(waits: Waits) {
  const { code, facts, since } = waits;
  return { code, facts, message: fileWaitText(waits), since: iso(since) };
}
