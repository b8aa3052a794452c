import { counted } from '../../core/format.ts';
import { type DeadLetter, errorLine } from '../../order/dead-letter.ts';
import { formerOf, isRecognizable } from '../../order/digest.ts';
import { NUMBER_KNOWN, ROW_KNOWN } from '../../order/fixing.ts';
import { byArticle, firstItems, type Item, itemsIn } from '../../order/order.ts';
import { firstOf } from '../../order/text.ts';
import { refusedItems } from '../../report/dead-letters.ts';
import { isNameless } from '../../report/story.ts';
import { type Kept, searchText } from './letter-batch.ts';

/** Characters of a message that a list shows and a search finds. */
const LONGEST = 500;

/** Ends between words, and not within the words for a fix file, in place of which a form has others. */
function cutMessage(message: string): string {
  const text = message.toWellFormed();
  if (text.length <= LONGEST) return text;
  const part = text.slice(0, LONGEST - 1).toWellFormed();
  const words = /^.*(?=\s)/s.exec(part)?.[0] ?? part;
  return `${words.replace(/,?(?: or)? write(?: send(?: into[^;]*)?)?$/, '').replace(/[\s,]+$/, '')}…`;
}

/** An open dead letter as the list keeps it. */
export function keptOf(
  letter: DeadLetter,
  from: { batch: string; source: string; file: string },
): Kept {
  const {
    purchaseOrderNumber,
    kind,
    code,
    signature,
    attempts,
    firstAt,
    lastAt,
    location,
    problems,
  } = letter;
  const message = cutMessage(letter.message);
  const articles = (letter.articles ?? articlesIn(letter.payload)).slice(0, 20).join(' ');
  const values = (problems ?? [])
    .slice(0, 5)
    .map(({ field, value, message: words }) => `${field} ${value} ${words}`);
  const own = searchText([purchaseOrderNumber, articles, ...values].join('\n'));
  const row = {
    purchaseOrderNumber,
    kind,
    code,
    message,
    signature,
    attempts,
    firstAt,
    lastAt,
    location,
  };
  const { field = '', value = '' } = problems?.[0] ?? {};
  const items = refusedItems(letter) || ownItems(letter) || firstOf(letter.itemsRead);
  const read = firstOf(letter.articles);
  const already = alreadyText(letter);
  const line = errorLine(letter);
  const former = formerOf(letter);
  const named = {
    ...row,
    ...(line !== location.line && { line }),
    ...(field && { field }),
    ...(value && { value }),
    ...(items && { items }),
    ...(read && { articles: read }),
    ...(isRecognizable(former) && { content: former.content }),
  };
  const full = {
    id: letter.id,
    ...named,
    ...(already && { already }),
    batch: from.batch,
    source: from.source,
    file: from.file,
  };
  return { row: full, own, isNameless: isNameless(letter) };
}

/** Problem codes that say that another file has the order, or the row. */
const IN_ANOTHER = [NUMBER_KNOWN, ROW_KNOWN];

/**
 * That another file has the order of a number, or a row without one, accepted or in progress, with its items:
 * `this number is already accepted from "monday.csv", as A-1 × 5`; of a conflict, what differs.
 */
function alreadyText({ kind, payload, known, problems = [] }: DeadLetter): string | undefined {
  if (kind === 'conflict')
    return known === undefined ? NOT_READ : differenceText(itemsIn(payload), known.items);
  const found = problems.find(({ code }) => IN_ANOTHER.includes(code));
  return found && withoutRemedy(found.message);
}

/** They are compared with those of the order that another file has. */
function ownItems({ kind, payload }: DeadLetter): string {
  return kind === 'conflict' ? firstItems(byArticle(itemsIn(payload))) : '';
}

const NOT_READ = 'the items of the order that is already known cannot be read';

/** Begins what to do with an order that another file has. */
const REMEDY = /\. (?=(?:If|Discard|Wait) )/;

/** A message about such an order without the batch of the other file, and without what to do. */
export function withoutRemedy(message: string): string {
  const [text = ''] = message.replace(/ \(batch [\w.-]*\)/, '').split(REMEDY);
  return cutMessage(text);
}

/** What such a message says to do. */
export function remedyIn(message: string): string {
  return message.split(REMEDY).slice(1).join('. ');
}

function differenceText(own: readonly Item[], known: readonly Item[]): string {
  const isIn = (items: readonly Item[], { articleCode, quantity }: Item) =>
    items.some((item) => item.articleCode === articleCode && item.quantity === quantity);
  const gone = firstItems(byArticle(known.filter((item) => !isIn(own, item)))) || 'fewer items';
  const added = firstItems(byArticle(own.filter((item) => !isIn(known, item)))) || 'fewer items';
  const equal = own.filter((item) => isIn(known, item)).length;
  const rest = equal === 0 ? '' : `; ${counted(equal, 'other item is', 'other items are')} equal`;
  return `this number is known with ${gone}, and this file has ${added}${rest}`;
}

function articlesIn(payload: unknown): string[] {
  const { items } = (payload ?? {}) as { items?: unknown };
  if (!Array.isArray(items)) return [];
  return items.flatMap((item) => {
    const { articleCode } = (item ?? {}) as { articleCode?: unknown };
    return typeof articleCode === 'string' ? [articleCode] : [];
  });
}
