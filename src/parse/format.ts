import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../config/config.ts';
import { specificNames } from '../config/mapping-schema.ts';
import type { Stamp } from '../core/regular-file.ts';
import type { FileFormat, FileShape, Place, SourceRecord } from '../order/record.ts';
import { pointerStep } from '../order/text.ts';
import { find, isBlank, isObject, TEXT_KEY } from './find-key.ts';
import type { FormatName, Reading, Readings } from './inspection.ts';
import type { Originals } from './read-fix-file.ts';
import type { Because } from './skip-where.ts';

/** One file format, from bytes to records. Its entry is a line of `FORMATS`. */
export type Format<Name extends FormatName> = {
  /** Whether a file that begins with this text is of this format, if the mapping does not say. */
  sniff(start: string): boolean;
  /** The first pass, to the end of the file. PoSyncError `unreadable-…`. */
  inspect(
    file: OpenFile,
    mapping: Mapping,
    originals: Originals | undefined,
  ): Promise<Inspected<Name>>;
  /** The second pass, page by page, in the file's order. */
  read(file: OpenFile, reading: Reading<Name>, mapping: Mapping): AsyncGenerator<RecordPage>;
};

export type OpenFile = {
  handle: FileHandle;
  stamp: Stamp;
  /** The content as UTF-8 without byte order mark; call once. */
  text(): AsyncGenerator<Buffer>;
  /** The bytes as dropped, for a format that is not text; call once. */
  bytes(): AsyncGenerator<Buffer>;
  /** The beginning of the text. */
  start: string;
  /** About how many bytes the content has; only sizes the filters. */
  size: number;
  signal: AbortSignal | undefined;
};

/** What the first pass finds out. `shape` is completed with encoding and compression. */
export type Inspected<Name extends FormatName> = {
  records: number;
  /** Orders that they form; undefined when they are too many to count. */
  orders: number | undefined;
  reading: Readings[Name];
  isFixFile: boolean;
  /** Of a file of objects: `watchUnusedKeys`. */
  unused?: string[];
  warnings: string[];
  shape: Omit<FileShape, 'format' | 'bom'> & { format: FileFormat };
};

/**
 * The records of one piece of a file. `lineOf` gives the line on which a value within one of them begins. `leftOut`: what
 * `skipWhere` leaves out in it.
 */
export type RecordPage = {
  records: readonly SourceRecord[];
  leftOut: readonly LeftOut[];
  lineOf: LineOf;
};

/** A row or an object that `skipWhere` or `onlyWhere` leaves out, and why; `number` is its order number, "" without one. */
export type LeftOut = { number: string; line: number } & Because;

/** `pointer` is that of the value; `place` that of its record. */
export type LineOf = (place: Place, pointer: string) => number;

/** Objects that are looked at, items of each, and keys that are remembered. */
export const MOST_LOOKED_AT = 100;
const MOST_KEYS = 1_000;

/** The keys of the first objects that no field is read from: `remark`, `items[].note`, `article.unit`. */
export function watchUnusedKeys({ fields }: Mapping) {
  const found = new Set<string>();
  let seen = 0;

  /** `read`: pointers of the fields. Of an XML element that is read, the attributes are not. */
  function note(value: object, prefix: string, read: readonly string[], at = ''): void {
    for (const key in value) {
      const pointer = at + pointerStep(key);
      const inner: unknown = Reflect.get(value, key);
      const isOnWay = read.some((one) => one === pointer || one.startsWith(`${pointer}/`));
      if (isOnWay && isObject(inner)) note(inner, `${prefix}${key}.`, read, pointer);
      else if (!isOnWay && key !== TEXT_KEY && found.size < MOST_KEYS) found.add(prefix + key);
    }
  }

  return {
    look(value: object): void {
      seen += 1;
      if (seen > MOST_LOOKED_AT) return;
      const pointersOf = (object: object, all: readonly (readonly string[])[]) =>
        all.map((names) => find(object, names).pointer);
      const own = [fields.purchaseOrderNumber, fields.orderState, fields.items];
      const item = [fields.articleCode, fields.quantity];
      const items = find(value, fields.items);
      note(value, '', pointersOf(value, isBlank(items.value) ? [...own, ...item] : own));
      const list: unknown[] = Array.isArray(items.value)
        ? items.value.slice(0, MOST_LOOKED_AT)
        : [];
      const inItem = [
        ...item,
        ...[fields.purchaseOrderNumber, fields.orderState].map(specificNames),
      ];
      for (const one of list)
        if (isObject(one)) note(one, `${items.name}[].`, pointersOf(one, inItem));
    },
    names: () => [...found],
  };
}
