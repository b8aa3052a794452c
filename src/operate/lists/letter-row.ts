import { counted } from '../../core/format.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import { byArticle, firstItems, type Item, itemsIn } from '../../order/order.ts';
import { isKnownElsewhere } from '../../order/problem.ts';
import { asText, type Sentence, sentence } from '../../order/sentence.ts';
import { refusedItems } from '../../report/dead-letters.ts';
import { problemText } from '../../wording/problem.ts';

/** That the order or row is known already comes first: a cancelled order that was sent is a task, and a known row has nothing to correct. */
export function reasonOf({ message, problems = [] }: DeadLetter): Sentence {
  const [first, ...more] = problems.toSorted(
    (a, b) => Number(isKnownElsewhere(b)) - Number(isKnownElsewhere(a)),
  );
  if (first === undefined) return message;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return sentence(`${asText(problemText(first))}${rest}`);
}

/** The items that a list shows of an order that was refused; of one in conflict, what differs. */
export function itemsShown(letter: DeadLetter): string {
  const { kind, payload, known } = letter;
  if (kind === 'conflict')
    return known === undefined ? NOT_READ : differenceText(itemsIn(payload), known.items);
  return refusedItems(letter);
}

const NOT_READ = 'the items of the order that is already known cannot be read';

function differenceText(own: readonly Item[], known: readonly Item[]): string {
  const isIn = (items: readonly Item[], { articleCode, quantity }: Item) =>
    items.some((item) => item.articleCode === articleCode && item.quantity === quantity);
  const gone = firstItems(byArticle(known.filter((item) => !isIn(own, item)))) || 'fewer items';
  const added = firstItems(byArticle(own.filter((item) => !isIn(known, item)))) || 'fewer items';
  const equal = own.filter((item) => isIn(known, item)).length;
  const rest = equal === 0 ? '' : `; ${counted(equal, 'other item is', 'other items are')} equal`;
  return `known with ${gone}, and this file has ${added}${rest}`;
}
