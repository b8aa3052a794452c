import { counted } from '../../core/format.ts';
import { type DeadLetter, errorLine } from '../../order/dead-letter.ts';
import { byArticle, firstItems, type Item, itemsIn } from '../../order/order.ts';
import { isKnownElsewhere, type Problem } from '../../order/problem.ts';
import { firstOf, shorten } from '../../order/text.ts';
import { refusedItems } from '../../report/dead-letters.ts';
import { isNameless } from '../../report/story.ts';
import { faultText } from '../../wording/problem.ts';
import { type Kept, searchText } from './letter-batch.ts';

/** Characters of a message that a list shows and a search finds. */
const LONGEST = 500;

/** An open dead letter as the list keeps it. */
export function keptOf(
  letter: DeadLetter,
  { batch, source, file }: { batch: string; source: string; file: string },
): Kept {
  const { purchaseOrderNumber, kind, code, signature, attempts, firstAt, lastAt, location } =
    letter;
  const { problems = [] } = letter;
  const articles = (letter.articles ?? articlesIn(letter.payload)).slice(0, 20).join(' ');
  const values = problems.slice(0, 5).map((one) => `${one.field} ${one.value} ${faultText(one)}`);
  const own = searchText([purchaseOrderNumber, articles, ...values].join('\n'));
  const row = {
    id: letter.id,
    purchaseOrderNumber,
    kind,
    code,
    message: shorten(letter.message.toWellFormed(), LONGEST),
    signature,
    attempts,
    firstAt,
    lastAt,
    location,
    batch,
    source,
    file,
  };
  return { row: { ...row, ...namedIn(letter) }, own, isNameless: isNameless(letter) };
}

/** What a row shows only where it is there. */
function namedIn(letter: DeadLetter): Partial<Kept['row']> {
  const { problems: [first] = [], location } = letter;
  const known = letter.problems?.find(isKnownElsewhere);
  const items = refusedItems(letter) || ownItems(letter) || firstOf(letter.itemsRead);
  const articles = firstOf(letter.articles);
  const already = alreadyText(letter, known);
  const isOpen = known?.code === 'number-known' && known.facts.state === 'inProgress';
  const line = errorLine(letter);
  return {
    ...(line !== location.line && { line }),
    ...(first?.value && { value: first.value }),
    ...(items && { items }),
    ...(articles && { articles }),
    ...(already && { already }),
    ...(isOpen && { isOpen }),
  };
}

/** That another file has the order of a number, or a row without one; of a conflict, what differs. */
function alreadyText(
  { kind, payload, known: other }: DeadLetter,
  known: Problem | undefined,
): string | undefined {
  if (kind === 'conflict')
    return other === undefined ? NOT_READ : differenceText(itemsIn(payload), other.items);
  return known && faultText(known);
}

/** They are compared with those of the order that another file has. */
function ownItems({ kind, payload }: DeadLetter): string {
  return kind === 'conflict' ? firstItems(byArticle(itemsIn(payload))) : '';
}

const NOT_READ = 'the items of the order that is already known cannot be read';

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
