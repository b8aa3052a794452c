import { duration, moment } from '../../core/format.ts';

/** `2026-11-21 07:15:00 UTC` for milliseconds since 1970. */
export function stamp(at: number): string {
  return moment(new Date(at).toISOString());
}

/** `3 min 12 s ago`. */
export function ago(at: number, now: number): string {
  return `${duration(Math.max(0, now - at))} ago`;
}

/** `1 batch`, `3 batches`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}

/** `  text` on every line. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Somebody else's sentence, to stand within one of ours. */
export function withoutStop(text: string): string {
  return text.replace(/[.\s]+$/, '');
}
