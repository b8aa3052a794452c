import { unreadable } from './unreadable.ts';

/** What files of other kinds begin with, in their bytes as Latin-1 or in their text. */
const KINDS: readonly [kind: string, start: { bytes: RegExp } | { text: RegExp }][] = [
  ['an old Excel workbook (.xls), or one with a password', { bytes: /^\xd0\xcf\x11\xe0/ }],
  ['a zip archive, and no workbook', { bytes: /^PK(?:\x05\x06|\x07\x08)/ }],
  ['a gzip file within a gzip file', { bytes: /^\x1f\x8b/ }],
  ['a PDF document', { bytes: /^%PDF/ }],
  [
    'UTF-32',
    { bytes: /^(?:\0\0\xfe\xff|\xff\xfe\0\0|\0\0\0[^\0]\0\0\0[^\0]|[^\0]\0\0\0[^\0]\0\0\0)/ },
  ],
  ['UTF-16 without a byte order mark', { text: /^(?:[^\0]\0){8}|^(?:\0[^\0]){8}/ }],
  ['an EDIFACT message', { text: /^\s*(?:UNA.{6}\s*UNB|UNB)\+/ }],
  ['an X12 message', { text: /^\s*ISA([^\w\s])(?:\d\d)\1/ }],
  [
    'an XML workbook of Excel 2003',
    { text: /^\s*<[?!][\s\S]{0,500}?(?:Excel\.Sheet|schemas-microsoft-com:office:spreadsheet)/ },
  ],
  [
    'a web page',
    { text: /^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body|table|meta)\b/i },
  ],
  [
    'XML within a string',
    {
      text: /^\s*(?:"\s*<(?:\?xml|\w)|&lt;|(?:<\?xml[^>]*>\s*)?<string\b[^>]*>\s*(?:&lt;|<!\[CDATA\[\s*<))/,
    },
  ],
  ['JSON within a string or a cell', { text: /^(?:JSON_F52E2B61|\s*"\s*[[{]\s*(?:\\"|""|\{))/ }],
  ['an e-mail message', { text: /^(?:MIME-Version|Received|Return-Path|Delivered-To): / }],
];

/** Characters of the text: some patterns take quadratic time. */
const LOOKED_AT = 2_000;

/** PoSyncError `unreadable-foreign` for content of a kind that is no order file, by how it begins. */
export function refuseForeign(start: Buffer, text: string): void {
  const bytes = start.toString('latin1', 0, 64);
  const beginning = text.slice(0, LOOKED_AT);
  const known = KINDS.find(([, one]) =>
    'bytes' in one ? one.bytes.test(bytes) : one.text.test(beginning),
  );
  if (known) throw unreadable({ code: 'foreign', kind: known[0] });
}
