import { writeFixCheck } from '../../order/fixing.ts';
import { sourceOfNumber } from '../../order/quantity.ts';
import type { FileShape, SourceRecord } from '../../order/record.ts';
import { encoderFor, fixEncodingOf } from '../encode.ts';
import { type FixForm, type RecordError, recordErrors } from './form.ts';

/** The fix file of JSON input: the same objects with the error keys added, as an array or one object a line. */
export function fixObjects(shape: FileShape, batch: string): FixForm {
  const { encoding, needsMark } = fixEncodingOf(shape.format);
  const encode = encoderFor(encoding);
  const isArray = shape.format.type === 'json';
  const newline = shape.newline ?? '\n';
  const mark = shape.bom === true || needsMark ? '\ufeff' : '';
  let count = 0;

  function framed(text: string): string {
    const separator = !isArray ? '' : count === 0 ? newline : `,${newline}`;
    count += 1;
    return isArray ? `${separator}${text}` : `${text}${newline}`;
  }

  return {
    opening: () => encode(isArray ? `${mark}[` : mark),
    recordsOf(order, deadLetter) {
      const errors = recordErrors(order, deadLetter, batch);
      const texts = order.records.map((record, index) => framed(JSON.stringify(withError(record, errors[index]))));
      return encode(texts.join(''), escapeCharacter);
    },
    closing: () => encode(isArray ? `${newline}]${newline}` : ''),
  };
}

/** Adds the error keys; a value that is not an object cannot have keys and becomes `_error_value`. */
function withError(record: SourceRecord, error: RecordError | undefined): object {
  const errorKeys = {
    _error_line: error?.line ?? null,
    _error_code: error?.code ?? '',
    _error_message: error?.message ?? '',
    _error_check: writeFixCheck(undefined),
  };
  const value = record.kind === 'object' ? record.value : record.cells;
  return isObject(value) ? { ...value, ...errorKeys } : { _error_value: value, ...errorKeys };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber(value);
}

/** Numbers that a double cannot represent are kept as objects. */
function isNumber(value: object): boolean {
  return sourceOfNumber(value) !== undefined;
}

/** Characters that the encoding lacks occur only in JSON strings, where `\u` means the same. */
function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
