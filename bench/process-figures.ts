import { readFileSync } from 'node:fs';

/** Linux counts processor time in units of 10 ms. */
const TICK = 10_000;

/** Processor time of a process since its start, including ended children, in microseconds. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses and can contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
  return ((user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)) * TICK;
}

/** Memory of a process in MB: its peak or its current value. */
export function memoryOf(pid: number, which: 'peak' | 'now'): number {
  const name = which === 'peak' ? 'VmHWM' : 'VmRSS';
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1];
  return Number(kilobytes) / 1024;
}
