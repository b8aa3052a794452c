import { plainLook } from './look-alike.ts';
import { wrongEncoding } from './wrong-encoding.ts';

/** How a person may read a number or an article that is written otherwise; `why` continues "because". */
export type OtherReading = { reading: string; why: string };

/** Letters, digits and what commonly separates them; nearly every text. */
const PLAIN = /^[A-Za-z0-9](?:[A-Za-z0-9 _/.-]*[A-Za-z0-9])?$/;

/**
 * What else a trimmed text may mean: characters that look like others, quotes and escapes that belong to a file format,
 * letters that were read in a wrong encoding, dates that a spreadsheet made. Undefined when there is only one reading.
 */
export function otherReading(text: string): OtherReading | undefined {
  if (CODE.test(text)) return undefined;
  if (text.length <= LONGEST_DATE && DATE.test(text)) return DATE_READING;
  const isPlain = PLAIN.test(text);
  if (isPlain && endsInDigit(text)) return text.includes(' ') ? partial(text) : range(text);
  const reading = wordReading(text) ?? partial(text);
  if (reading !== undefined || isPlain) return reading;
  return (
    marked(text) ??
    quoted(text) ??
    (/^[ -~]*$/.test(text) ? undefined : lookAlike(text)) ??
    wrongEncoding(text)
  );
}

function endsInDigit(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 48 && last < 58;
}

/** What says that something is cancelled; docs/files.md lists them. */
export const CALLED_OFF =
  'cancelled, canceled, deleted, voided, storniert, stornieren, storno, gelöscht, entfällt, annulliert, annullieren, annulé, annulée, annulled, annullato, annullata, anulado, anulada, cancelado, cancelada, geannuleerd'.split(
    ', ',
  );
/** `storniert`, `A-7 (deleted)`: a person reads that nothing is wanted. Other spellings may be articles. */
const CALLED_OFF_PART = new RegExp(`(?<!\\p{L})(?:${CALLED_OFF.join('|')})(?!\\p{L})`, 'iu');

/** `2x A-7`. */
const TIMES = /^(\d{1,4}) ?[x×] +(?=[A-Za-z])/;

function partial(text: string): OtherReading | undefined {
  const word = CALLED_OFF_PART.exec(text)?.[0];
  if (word !== undefined)
    return { reading: 'something that is not wanted', why: `it contains ${shown(word)}` };
  const [times, count = ''] = TIMES.exec(text) ?? [];
  if (times !== undefined)
    return {
      reading: `${count} times ${shown(text.slice(times.length))}`,
      why: 'people write quantities this way',
    };
  return (
    replacement(text) ?? instruction(text) ?? several(text) ?? alternative(text) ?? range(text)
  );
}

/** `siehe Mail`, `nach Absprache`, `please confirm`, `A-1 - urgent!`, `A-1?`, `e.g. 4711`, `Beispiel`. */
const INSTRUCTION =
  /^(?:see|siehe|voir|vgl\.?|laut|lt\.|gemäß|as per|per|nach|wie|as) (?:(?:e-?)?mail|notes?|quote|offer|angebot|absprache|besprochen|discussed|agreed|attachment|anhang|anlage|drawing|zeichnung|comments?|bemerkung|phone|telefonat)(?!\p{L})|(?<!\p{L})(?:bitte|please|pls|s\.?v\.?p\.?)(?!\p{L})|[ (-](?:urgent|asap|eilt|eilig|dringend)[!)]*$|[\d)]\?+$/iu;
const EXAMPLE =
  /^(?:test|muster|beispiel|example|sample|dummy|demo)$|^(?:e\.g\.|z\. ?b\.|p\. ?ex\.|(?:example|beispiel|sample|muster) ?:)/i;

function instruction(text: string): OtherReading | undefined {
  if (EXAMPLE.test(text)) return { reading: 'an example', why: 'people mark examples this way' };
  const words = INSTRUCTION.exec(text)?.[0];
  if (words === undefined) return undefined;
  return { reading: 'a note to a person', why: `it contains ${shown(words.trim())}` };
}

/** `A-1 (or A-2)`, `A-1 / neu: A-2`. */
const EITHER = /\d.*[ (/](?:or|oder|ou|bzw\.|alt\.|alternativ(?:e|ely)?:?|neu:|new:) .*\d/i;

function alternative(text: string): OtherReading | undefined {
  return EITHER.test(text)
    ? { reading: 'one of its parts', why: 'it names two of them' }
    : undefined;
}

/** Numbers of one length that are close to each other: `4711-4715`, `4711 bis 4715`, but not `2026-2031`: years number orders. */
const RANGE = /^(?!20\d\d[-/]\d{4}$)(\d{4,15})(?: ?[-/] ?| (?:bis|to|à|a|al) )(\d{4,15})$/i;
const WIDEST_RANGE = 100;

function range(text: string): OtherReading | undefined {
  const [, from = '', to = ''] = RANGE.exec(text) ?? [];
  const width = Number(to) - Number(from);
  if (from === '' || from.length !== to.length || width <= 0 || width >= WIDEST_RANGE)
    return undefined;
  return {
    reading: `${shown(from)} and ${shown(to)}, or all from one to the other`,
    why: 'the numbers are so close',
  };
}

/**
 * What separates the values of a list; `/`, `+` and words only between longer codes, because these are in many names.
 */
const LIST = /\s*[;|]\s*|,\s*/;
const WORDED = / (?:[/+&]|and|und|et|y|e|en|oraz) /i;

/** Several codes of one form in one cell: `A-1; A-2`. */
function several(text: string): OtherReading | undefined {
  const parts =
    [LIST, WORDED].map((separator) => text.split(separator)).find(({ length }) => length > 1) ?? [];
  const least = LIST.test(text) ? 2 : 5;
  const [form, ...others] = parts.map((part) => part.replace(/\p{L}+/gu, 'a').replace(/\d+/g, '9'));
  const areCodes = parts.every(
    (part) => part.length >= least && /\d/.test(part) && !/^\d{1,3}$/.test(part),
  );
  if (
    form === undefined ||
    others.length === 0 ||
    !areCodes ||
    others.some((other) => other !== form)
  )
    return undefined;
  return {
    reading: parts.map(shown).join(' and '),
    why: 'its parts have the same form, as in a list',
  };
}

function replacement(text: string): OtherReading | undefined {
  const replaced = REPLACED.exec(text)?.[0];
  return replaced === undefined
    ? undefined
    : { reading: 'one of its parts', why: `it contains ${shown(replaced.trim())}` };
}

/** Digits behind at most a few letters: most numbers and articles, and none of the words and dates below. */
const CODE = /^(?:[A-Za-z]{0,3}|[A-Za-z]{2}-)\d{1,15}$/;
const REPLACED = / (?:replaced by|instead of|ersetzt durch|remplacé par) | ?(?:->|=>|→) ?/i;
const LONGEST_WORD = 16;
const LONGEST_DATE = 26;

function wordReading(text: string): OtherReading | undefined {
  if (text.length > LONGEST_WORD) return undefined;
  if (isDitto(text))
    return { reading: 'the value of the row above', why: 'people write it to repeat that' };
  if (TRUTH.test(text))
    return { reading: 'another text', why: 'spreadsheets write true and false this way' };
  if (!GROUPED.test(text)) return undefined;
  return {
    reading: shown(text.replace(/\D/g, '')),
    why: 'spreadsheets group the digits of numbers this way',
  };
}

const TRUTH = /^(?:TRUE|FALSE|WAHR|FALSCH|VRAI|FAUX|VERDADERO|FALSO|VERO|WAAR|ONWAAR)$/;
const GROUPED = /^\d{1,3}([,'’])\d{3}(?:\1\d{3})*$/;
const DITTO =
  /^(?:["'′″〃„“”‟]{1,2}|,,|-["'″]-|[↑^|]|ditto|dito|idem|ibid\.?|id\.|do\.|same(?: as above)?|(?:as|see) above|(?:wie|siehe) oben|s\. ?o\.|w\. ?o\.|usw\.|etc\.)$/i;

/** Whether a text repeats the value of the row above: `"`, `dito`, `same as above`. */
export function isDitto(text: string): boolean {
  return DITTO.test(text);
}

/** What begins a line of a list or of a quoted message, and what a program fills in. */
const MARK = /^(?:[>•·▪◦‣*→✓✔☐☑▶»–—-]|\[[ xX✓]?\]|\d{1,3}\))\s+(?=\S)/u;
const TEMPLATE =
  /^(?:\$\{[^}]*\}|\{\{[^}]*\}\}|%[A-Za-z_]+%|<%[^%]*%>|\[object \w+\]|<<?[^<>]+>>?|\[[^\]\d]+\])$/;
const TAG = /<\/?(?:[abip]|br|em|strong|span|div|font|strike|del|td|u|s)(?:\s[^<>]*)?\/?>/gi;
/** A value of JSON, and the formula of a cell. */
const JSON_TEXT = /^(?:\{\s*".*\}|\[\s*["{].*\])$/s;
const FORMULA = /^=\s*(?:[A-ZÄÖÜ][A-ZÄÖÜ.]+\(|[^\s]*[!$])/;

function marked(text: string): OtherReading | undefined {
  if (TEMPLATE.test(text))
    return { reading: 'a value that is missing', why: 'programs fill in such texts' };
  if (/(?:…|\.{3})$/.test(text))
    return { reading: 'the beginning of a longer text', why: 'it ends in dots' };
  if (text.search(TAG) >= 0)
    return { reading: shown(text.replace(TAG, ' ').trim()), why: 'it contains HTML' };
  if (/^\.+\p{L}/u.test(text))
    return { reading: shown(text.replace(/^\.+/, '')), why: 'parts lists are indented this way' };
  if (/%[0-9A-F]{2}/.test(text))
    return { reading: 'another text', why: 'web addresses are encoded this way (%20)' };
  if (JSON_TEXT.test(text)) return { reading: 'several values', why: 'it is JSON' };
  if (FORMULA.test(text))
    return { reading: 'the value of a formula', why: 'spreadsheets calculate it' };
  if (/^~~.+~~$/.test(text))
    return { reading: 'something that is not wanted', why: 'it is struck through' };
  if (/^-\d/.test(text))
    return { reading: shown(text.slice(1)), why: 'a sign or a mark may come before it' };
  const mark = MARK.exec(text)?.[0];
  return mark === undefined
    ? undefined
    : {
        reading: shown(text.slice(mark.length)),
        why: `it begins with ${shown(mark.trim())}, as in a list or a quoted message`,
      };
}

const MONTH =
  'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mrz|Mär|Mai|Okt|Dez|ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic|janv|févr|mars|avr|mai|juin|juil|août|sept|déc';
/** `1-Feb`, `01. Feb`, `Feb-26`, `21.11.2026`, `11/21/2026`, `2026-11-21 00:00:00`, `12:30:00`: what spreadsheets make of `1-2` or `12:30`. */
const DATE = new RegExp(
  `^(?:\\d{1,2}(?:-|\\. ?)(?:${MONTH})\\.?(?:[- ]\\d{2,4})?|(?:${MONTH})[- ]\\d{2,4}|\\d{1,2}([./])\\d{1,2}\\1\\d{4}|\\d{1,2}:\\d{2}:\\d{2}|\\d{1,2}:\\d{2}(?::\\d{2})? [AP]M|\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?Z?)$`,
);
const DATE_READING = {
  reading: 'something like "1-2"',
  why: 'spreadsheets turn such values into dates and times',
};

const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[\da-f]{1,5});/gi;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
const IN_QUOTES = /^['"‘’‚“”„«»‹›`´](.+)['"‘’“”«»‹›`´]$/;

function quoted(text: string): OtherReading | undefined {
  const inner = IN_QUOTES.exec(text)?.[1];
  if (inner !== undefined) return { reading: shown(inner), why: 'it is between quotes' };
  if (/^'[+-]?\d/.test(text))
    return { reading: shown(text.slice(1)), why: 'spreadsheets use an apostrophe to mark text' };
  const plain = text.replace(ENTITY, characterOf);
  if (plain !== text) return { reading: shown(plain), why: 'it contains an escape of HTML or XML' };
  if (!/\p{L}\?+\p{L}/u.test(text)) return undefined;
  return {
    reading: shown(text.replaceAll('?', '…')),
    why: 'programs write ? in place of letters that an encoding lacks',
  };
}

function characterOf(entity: string): string {
  const name = entity.slice(1, -1).toLowerCase();
  if (!name.startsWith('#')) return NAMED[name] ?? entity;
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
}

/** Spaces but the plain and the ideographic one; other forms of letters, digits and ligatures; dashes within a code. */
const BLANK = /[\p{Zs}--[ \u3000]]/v;
const FORM = /[\uff01-\uff5e\ufb00-\ufb06]|[\p{Nd}--[0-9]]/v;
const DASH = /(?<=[\p{L}\p{N}])[\u2010-\u2013\u2212\ufe58\ufe63](?=[\p{L}\p{N}])/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

function lookAlike(text: string): OtherReading | undefined {
  const found =
    (BLANK.exec(text) ?? FORM.exec(text) ?? DASH.exec(text))?.[0] ?? foreignLetterIn(text);
  if (found === undefined) return undefined;
  return {
    reading: shown(plainLook(text)),
    why: `it contains ${pointOf(found)}, which looks like ${shown(plainLook(found))}`,
  };
}

/** A Cyrillic or Greek letter that looks like a Latin one, in a word with Latin letters. */
function foreignLetterIn(text: string): string | undefined {
  const words = text.match(WORD)?.filter((word) => /\p{Script=Latin}/u.test(word)) ?? [];
  return Array.from(words.join('')).find(
    (one) => /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(one) && plainLook(one) !== one,
  );
}

function shown(text: string): string {
  return JSON.stringify(text);
}

function pointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
