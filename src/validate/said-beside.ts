import type { Mapping } from '../config/config.ts';
import { CONFIRMED } from '../order/fixing.ts';
import { calledOffIn } from '../order/other-reading.ts';
import { plainName, shorten, trimBlanks } from '../order/text.ts';
import { calledOffRules, ruleFor } from './called-off-rules.ts';
import { cancellationKind, isNoCancellation, NO } from './cancellation-names.ts';

/**
 * What a column or key beside the fields can say about its record. `status`, `type` and `remark`: in words; `action`: in
 * the codes of a program; `flag`: by any value but no; `word`: by yes or in words; `mark`: by yes; `release`: by no; `unit`:
 * that the quantity counts more than pieces; `change`: another quantity; `other`: another number or article; `open`: that
 * nothing is open; `sign`: that the quantity is below zero; `list`: further items.
 */
type Kind =
  | 'status'
  | 'type'
  | 'remark'
  | 'action'
  | 'flag'
  | 'word'
  | 'mark'
  | 'release'
  | 'open'
  | 'sign'
  | 'unit'
  | 'change'
  | 'other'
  | 'list';

/** The codes of what is said. */
export type Said = 'called-off' | 'other-value' | 'nested';

/** Names without case, spaces and separators. */
const KINDS: readonly [Kind, RegExp][] = [
  ['action', /^(?:action(?:code)?|aktion|operation|op|change(?:type|indicator)|änderungskennzeichen)$/],
  ['status', /status$|^(?:order|document|line|item)?state$|zustand$|^(?:estado|stato|statut)$/],
  ['type', /type?$|^event(?:name)?$|^(?:beleg|auftrags|bestell|dokument|vorgangs|positions)?art$|^kind$/],
  [
    'remark',
    /^(?:order|line|item|customer|internal)?(?:remarks?|notes?|comments?)$|^(?:bemerkung(?:en)?|hinweise?|kommentare?|anmerkung(?:en)?|notiz(?:en)?|positionstext|remarques?|commentaires?|observaciones|uwagi)$/,
  ],
  [
    'mark',
    /^(?:is)?(?:draft|test|testorder|onhold|hold|blocked|gesperrt|superseded|obsolete|inactive|inaktiv|ungültig|hinfällig|archived|donotorder|nichtbestellen|optional|alreadyordered|bereitsbestellt|erledigt|done)\??$/,
  ],
  [
    'release',
    /^(?:is)?(?:active|aktiv|enabled|approved|approval|genehmigt|released|freigegeben|freigabe|toorder|selected|included?|order\?|(?:zu)?bestellen\??)$/,
  ],
  [
    'unit',
    /^(?:order|quantity|qty)?(?:units?|uom|unitofmeasure|unitcode)$|^(?:factor|faktor|multiplier|(?:mengen|bestell)?einheit|meins|bstme|me|unité|unidad)$/,
  ],
  [
    'change',
    /^(?:new|neue|corrected|korrigierte|revised|changed|geänderte|updated)(?:order)?(?:quantity|qty|menge|anzahl|bestellmenge)$/,
  ],
  ['open', /^(?:open|remaining|outstanding|offene|rest)(?:quantity|qty|menge)$/],
  ['sign', /^(?:sign|vorzeichen)$/],
  [
    'other',
    /^(?:replacement|substitute|new|ersatz|neuer?)(?:article|item|sku|material|artikel|product|part)(?:code|number|no|nr|nummer)?$|^(?:new|neue)(?:po|purchaseorder|order|bestell)(?:number|no|nr|nummer)$/,
  ],
  ['list', /^(?:line)?items$|^(?:order)?lines$|^positions$/],
];

/** Values that mean no in a release. */
const NOT_RELEASED = /^(?:0|no|n|nein|non|false|falsch|faux|rejected|denied|declined|pending|abgelehnt|ausstehend)$/i;
const YES = /^(?:1|x|y|yes|j|ja|o|oui|true|wahr|vrai|✓|✔|☑)$/i;
/** Words and codes of a program to its reader. */
const DELETES = /^(?:delete|cancel|remove|void)$/i;
const DELETES_BY_CODE = /^(?:d|del|x)$/i;
const NOT_WANTED =
  /^(?:refunded|rejected|declined|denied|expired|failed|trash|draft|(?:on[- ]?)?hold|blocked|suspended|superseded|obsolete|replaced|returned|inactive|(?:not |un)approved|not released|abgelehnt|abgelaufen|entwurf|gesperrt|zurückgestellt|ersetzt|retourniert|inaktiv|nicht (?:freigegeben|genehmigt)|brouillon|borrador|bozza)$/i;
const NO_ORDER =
  /^(?:returns?|refund|retoure?|rücksendung|rückgabe|gutschrift|credit ?(?:note|memo)|avoir|chargeback|cancellation|storno|stornierung|quote|quotation|angebot|offerte|pro[- ]?forma|rfq|inquiry|anfrage)$/i;
/** Events: `order.deleted`, `OrderCancelled`. */
const ENDED =
  /(?:^|[._: -]|[a-z](?=[A-Z]))(?:[Cc]ancell?ed|[Dd]eleted|[Vv]oided|[Rr]ejected|[Rr]efunded|[Rr]eturned|CANCELL?ED|DELETED|VOIDED)$/;
const REFUSES =
  /^(?:(?:please |bitte |pls )?(?:(?:do not|don'?t) (?:order|send|ship|deliver)|nicht (?:mehr )?(?:bestellen|senden|liefern))(?=\s*(?:$|[.!,;(])| (?:this|it|any ?more|yet|again|diese)(?!\p{L}))|(?:please|bitte|pls) (?:cancel|stornieren)(?!\p{L})|ne pas commander|replaced by|superseded by|ersetzt durch|remplacé par)/iu;
/** That it can still be cancelled. */
const MAY_BE = /^storno (?:möglich|bis|nur|frei|kosten\p{L}+)(?!\p{L})/iu;

/** Dozens, hundreds and packs: `DZ`, `GRO`, `100 ST`, `10er Pack`, `pack of 6`. */
const MULTIPLE =
  /^(?:dz|dzn|doz|dozens?|dutzend|dtzd|douzaines?|docenas?|gross|gros|gro|grs|cen|hundreds?|hundert|mil|thousands?|tausend|tsd)\.?$/i;
const PACK =
  /^(?:x ?)?(?:[2-9]|[1-9]\d{1,4})(?:$| ?(?:er|x|st|stk|pcs?|pce|pieces?|stück|units?)\b)|^(?:pack|box|case|carton|karton|packung|set)s? (?:of|à|a|zu|mit) \d/i;

const known = new Map<string, Kind | undefined>();
const MOST_KNOWN = 1_000;

function kindOf(name: string): Kind | undefined {
  if (known.has(name)) return known.get(name);
  const plain = plainName(name).replace(/[-_.]/g, '');
  const kind = cancellationKind(name) ?? KINDS.find(([, pattern]) => pattern.test(plain))?.[0];
  if (known.size < MOST_KNOWN && name.length < 100) known.set(name, kind);
  return kind;
}

/** Says what a row says in the columns beside its fields; undefined if that is nothing against it. */
export type SaidInRow = (cells: readonly string[], quantity: string) => { code: Said; column: number } | undefined;

/** Looks at the columns of a table that can say something, without those that are read, and at those of `calledOff`. */
export function watchSaid(header: readonly string[], at: object, mapping: Mapping): SaidInRow {
  const read = new Set<unknown>(Object.values(at));
  const columns = header.flatMap((name, column) => {
    const kind = mapping.otherReadings === 'allow' || read.has(column) ? undefined : kindOf(name);
    const rule = ruleFor(name, calledOffRules(mapping));
    if (kind === undefined && rule === undefined) return [];
    const say = (text: string, quantity: string): Said | undefined => {
      if (rule !== undefined && text !== '' && rule.holds(text)) return 'called-off';
      const said = kind && saidAs(kind, text, quantity);
      return rule !== undefined && said === 'called-off' ? undefined : said;
    };
    return [{ column, kind, last: '', say, said: say('', '') }];
  });

  return (cells, quantity) => {
    for (const one of columns) {
      const cell = cells[one.column] ?? '';
      // Maximum number of rows say the same as the one above.
      if (cell !== one.last || one.kind === 'change') {
        one.last = cell;
        one.said = one.say(trimBlanks(cell), quantity);
      }
      // A program may repeat the value that is sent.
      if (one.said === 'other-value' && one.kind === 'other' && cells.indexOf(cell) !== cells.lastIndexOf(cell))
        continue;
      if (one.said !== undefined) return { code: one.said, column: one.column };
    }
    return undefined;
  };
}

/** What a value under a name says: `Status: Cancelled`, `deleted: true`, `unit: dozen`. A list is looked into elsewhere. */
export function saidBeside(name: string, value: unknown, quantity = ''): Said | undefined {
  const kind = kindOf(name);
  if (kind === undefined || kind === 'list') return undefined;
  if (typeof value === 'boolean') return saysNo(kind, value) ? 'called-off' : undefined;
  const text = typeof value === 'string' || typeof value === 'number' ? trimBlanks(String(value)) : '';
  return saidAs(kind, text, quantity);
}

const NOT_YET =
  /^(?:draft|(?:on[- ]?)?hold|blocked|suspended|(?:not |un)approved|not released|pending|entwurf|gesperrt|zurückgestellt|nicht (?:freigegeben|genehmigt)|ausstehend|brouillon|borrador|bozza)$/i;
const NOT_YET_MARK = /^(?:is)?(?:draft|onhold|hold|blocked|gesperrt)\??$/;
const FINAL = /^(?:rejected|denied|declined|abgelehnt)$/i;

/** Whether it may be released later: a draft, an order on hold, one that is not approved. */
export function isNotWantedYet(name: string, value: string): boolean {
  const text = trimBlanks(value);
  if (NOT_YET.test(text)) return true;
  const kind = kindOf(name);
  if (kind === 'release') return !FINAL.test(text);
  return kind === 'mark' && NOT_YET_MARK.test(plainName(name).replace(/[-_.]/g, ''));
}

/** The message for `called-off`: a draft may be released later, a cancellation is final. */
export function calledOffSentence(field: string, value: string): string {
  const shown = JSON.stringify(shorten(value, 60));
  if (isNotWantedYet(field, value))
    return `${shown} says that this is not wanted yet; discard it or leave it until a later file shows it as released, which sends it, or write ${CONFIRMED} into _error_check of the fix file to order it now`;
  return `${shown} says that this is no longer wanted; discard the order. If only this row or item is not wanted, remove it and, in each other row of the order, write ${CONFIRMED} into _error_check. To order it nevertheless, write ${CONFIRMED} into _error_check of the fix file`;
}

/** States of an order that is wanted, in words of other programs. */
const WANTED =
  /^(?:new|neue?r?|open|offen|created|angelegt|erfasst|active|aktiv|released|freigegeben|approved|genehmigt|confirmed|bestätigt|ordered|bestellt|nouve(?:au|lle)|nuev[oa]|nuov[oa]|nieuw)$/i;

/** The message for `wrong-state`: a state that nobody explained may mean that the order is canceled. */
export function wrongStateSentence(shown: string, value: string): string {
  const advice = WANTED.test(trimBlanks(value))
    ? 'use NEW. For your operator: if every row means NEW, leave orderState out of fields in the mapping'
    : 'if the order is canceled or not wanted, discard it; use NEW only if it is to be ordered. For your operator: if this column says which orders are canceled, name it in calledOff in the mapping instead of fields.orderState';
  return `orders cannot be created in state ${shown}; ${advice}`;
}

function saysNo(kind: Kind, value: boolean): boolean {
  return value ? kind === 'flag' || kind === 'word' || kind === 'mark' : kind === 'release';
}

function saidAs(kind: Kind, text: string, quantity: string): Said | undefined {
  if (text === '') return undefined;
  switch (kind) {
    case 'unit':
      return MULTIPLE.test(text) || PACK.test(text) ? 'other-value' : undefined;
    case 'change':
      return /^\d[\d.,]*$/.test(text) && text !== quantity && Number(text) !== Number(quantity)
        ? 'other-value'
        : undefined;
    case 'other':
      return NO.test(text) || YES.test(text) ? undefined : 'other-value';
    case 'list':
      return /^[[{]/.test(text) ? 'nested' : undefined;
    default:
      return callsOff(kind, text) ? 'called-off' : undefined;
  }
}

function callsOff(kind: Exclude<Kind, 'unit' | 'change' | 'other' | 'list'>, text: string): boolean {
  switch (kind) {
    case 'flag':
      return !isNoCancellation(text);
    case 'word':
      return YES.test(text) || DELETES.test(text) || beginsWithCallingOff(text);
    case 'mark':
      return YES.test(text);
    case 'release':
      return NOT_RELEASED.test(text);
    case 'action':
      return DELETES_BY_CODE.test(text) || DELETES.test(text) || beginsWithCallingOff(text);
    case 'open':
      return /^0[0.,]*$/.test(text);
    case 'sign':
      return /^[-−–]$/.test(text);
    case 'type':
      return NO_ORDER.test(text) || ENDED.test(text);
    case 'remark':
      return REFUSES.test(text) || beginsWithCallingOff(text);
    case 'status':
      return NOT_WANTED.test(text) || DELETES.test(text) || beginsWithCallingOff(text);
  }
}

function beginsWithCallingOff(text: string): boolean {
  return text.startsWith(calledOffIn(text) ?? '\0') && !MAY_BE.test(text);
}
