import type { Closed } from '../order/dead-letter.ts';

/** How a dead letter was closed, in words. */
export function closingWord(by: string): string {
  switch (by) {
    case 'corrected':
      return 'shown again with the accepted content';
    case 'replaced':
      return 'needs a person again';
    case 'duplicate':
      return 'found to be a duplicate';
    case 'confirmed':
      return 'confirmed as accepted';
    case 'resent':
      return 'sent again';
    // By `dead-letters retry` or `reconcile --repair`.
    case 'rebuilt':
      return "found in the API's list";
    default:
      return by;
  }
}

/** What an operator did, as an event of the history. A discarded content is not the order that the API may have. */
export function actionText({ what, who }: { what: string; who: string }): string {
  if (what === 'discarded') return `content that waited for a person was discarded by ${who}`;
  return `${what === 'rebuilt' ? closingWord(what) : what} by ${who}`;
}

/** How a dead letter was closed, in which file or batch and by whom: `accepted in fix.xlsx by anna`. */
export function closingText({ by, who, batch }: Closed, file = batch): string {
  const place = file === undefined ? '' : ` in ${file}`;
  const person = who === undefined ? '' : ` by ${who}`;
  return `${closingWord(by)}${place}${person}`;
}

/** The answer of the API as it came: a line, or none where there was no answer. */
export function answerLines({
  httpStatus,
  response,
}: {
  httpStatus?: number;
  response?: string;
}): string[] {
  return httpStatus === undefined
    ? []
    : [`HTTP ${httpStatus}${response === undefined ? '' : ` ${response}`}`];
}
