import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { type CompleteReply, failure } from './reply.ts';

/** Answers a creation with a key: only the first call with a key does the work. */
export type AnswerOnce = (key: string, body: Buffer, work: () => CompleteReply) => CompleteReply;

/**
 * Keeps the first answer to each key for `valid` milliseconds. A call with the same key and body gets that answer again,
 * one with another body 422.
 */
export function createAnswerOnce(database: DatabaseSync, valid: number): AnswerOnce {
  const find = database.prepare(
    'SELECT body_hash = ? AS is_same, status, answer FROM answers WHERE key = ? AND at > ?',
  );
  const keep = database.prepare(
    'INSERT OR REPLACE INTO answers (key, body_hash, status, answer, at) VALUES (?, ?, ?, ?, ?)',
  );
  return (key, body, work) => {
    const now = Date.now();
    const hash = createHash('sha256').update(body).digest();
    const first = find.get(hash, key, now - valid);
    if (first?.is_same === 0)
      return failure(422, 'The idempotency key was used with another body.');
    if (first !== undefined)
      return { kind: 'complete', status: Number(first.status), body: String(first.answer) };
    // Order and answer are stored together, also when the process is killed.
    database.exec('BEGIN');
    try {
      const reply = work();
      keep.run(key, hash, reply.status, reply.body, now);
      database.exec('COMMIT');
      return reply;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
}
