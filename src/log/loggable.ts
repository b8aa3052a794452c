import { PoSyncError } from '../core/errors.ts';
import { escapeHidden } from '../order/hidden-characters.ts';

const HIDDEN = '[redacted]';
/** Names of facts whose value is always redacted. */
const SECRET_NAME = /secret|token(?!path)|password|passwd|authorization|cookie|credential|api_?key|private_?key/i;
const LONGEST_TEXT = 2_000;
const LONGEST_LIST = 20;

/**
 * Reduces facts to what may appear in a log line: plain values and short lists of them. Drops objects, because requests,
 * answers and library errors contain headers and tokens. An error becomes its code and message.
 */
export function loggable(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) => {
      const plain = SECRET_NAME.test(name) && !isCountOrSwitch(value) ? HIDDEN : plainValue(value);
      return plain === undefined ? [] : [[name, plain]];
    }),
  );
}

function isCountOrSwitch(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map((item) => plainText(item) ?? HIDDEN);
  if (value instanceof Error) return plainError(value);
  return plainText(value);
}

function plainText(value: unknown): string | number | boolean | null | undefined {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  return typeof value === 'string' ? visible(value) : undefined;
}

/** Only unexpected errors keep their stack. */
function plainError(error: Error): Record<string, unknown> {
  const code = 'code' in error && typeof error.code === 'string' ? { code: visible(error.code) } : {};
  const plain = { name: visible(error.name), ...code, message: visible(error.message) };
  if (error instanceof PoSyncError) return plain;
  return {
    ...plain,
    stack: (error.stack ?? '')
      .split('\n')
      .slice(1, 12)
      .map((line) => visible(line.trim())),
  };
}

/** A file name must not forge a log line. */
function visible(text: string): string {
  return escapeHidden(text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);
}
