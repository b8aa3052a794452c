import { describe, expect, it } from 'vitest';
import { classify, readRetryAfter } from '../../src/api/classify.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import type { HttpEnd } from '../../src/core/http.ts';

const LATE = 'no complete answer within 10 s';

const NOW = new Date('2026-11-21T07:15:00Z');
const SUCCESS = {
  status: 'success',
  data: { purchaseOrderNumber: '4711', orderState: 'NEW' },
  error: null,
};
const refusal = (code: number) => ({
  status: 'error',
  error: { code, message: 'quantity is invalid' },
});

function answer(status: number, body: unknown, headers: Record<string, string> = {}): HttpEnd {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'answered', answer: { status, headers, body: Buffer.from(text) } };
}

/** A success whose number is nested: recursion over it would end the stack. */
function deepNumber(depth: number): string {
  return `{"status":"success","data":{"purchaseOrderNumber":${'['.repeat(depth)}${']'.repeat(depth)}},"error":null}`;
}

describe('classify', () => {
  it.each<[string, HttpEnd, string]>([
    ['nothing was written', { kind: 'unsent', error: new Error('ECONNREFUSED') }, 'unsent'],
    [
      'the connection broke before an answer',
      { kind: 'broken', error: new Error('ECONNRESET') },
      'unknown',
    ],
    [
      'a 201 broke off',
      { kind: 'broken', error: new Error('other side closed'), status: 201 },
      'unknown',
    ],
    ['201 with the success envelope', answer(201, SUCCESS), 'accepted'],
    ['200 with the success envelope', answer(200, SUCCESS), 'accepted'],
    [
      'success without the error field',
      answer(200, { status: 'success', data: SUCCESS.data }),
      'accepted',
    ],
    [
      'success of another number',
      answer(200, { ...SUCCESS, data: { purchaseOrderNumber: '1' } }),
      'misnamed',
    ],
    [
      'success of a number',
      answer(201, { ...SUCCESS, data: { purchaseOrderNumber: 4711 } }),
      'misnamed',
    ],
    ['success of a number within 200,000 brackets', answer(201, deepNumber(200_000)), 'misnamed'],
    [
      'success without a number',
      answer(201, { ...SUCCESS, data: { orderState: 'NEW' } }),
      'unknown',
    ],
    ['success without data', answer(200, { status: 'success', error: null }), 'unknown'],
    [
      'success and error at once',
      answer(200, { ...SUCCESS, error: { code: 500, message: '' } }),
      'unknown',
    ],
    ['2xx with HTML', answer(200, '<html>Login</html>'), 'unknown'],
    ['2xx with nothing', answer(204, ''), 'unknown'],
    ['error code 400 with HTTP 400', answer(400, refusal(400)), 'refused'],
    ['another error code with HTTP 400', answer(400, refusal(1001)), 'refused'],
    ['error code 400 with HTTP 200', answer(200, refusal(400)), 'refused'],
    ['error code 400 with HTTP 500', answer(500, refusal(400)), 'refused'],
    ['HTTP 400 without an envelope', answer(400, 'Bad Request'), 'unknown'],
    [
      'error code as text',
      answer(400, { status: 'error', error: { code: '400', message: '' } }),
      'unknown',
    ],
    ['200 with another error', answer(200, refusal(500)), 'unknown'],
    ['401', answer(401, refusal(401)), 'unauthorized'],
    ['401 without an envelope', answer(401, ''), 'unauthorized'],
    ['403', answer(403, refusal(403)), 'closed'],
    ['404', answer(404, '<html>'), 'closed'],
    ['a redirect', answer(307, '', { location: 'https://elsewhere.example/' }), 'closed'],
    ['409 with an envelope', answer(409, refusal(409)), 'refused'],
    ['422 with an envelope', answer(422, refusal(422)), 'refused'],
    ['409 without an envelope', answer(409, 'conflict'), 'unknown'],
    ['429', answer(429, ''), 'busy'],
    ['503 with an envelope', answer(503, refusal(503)), 'busy'],
    ['503 of a proxy', answer(503, '<html>'), 'unknown'],
    ['500 with an envelope', answer(500, refusal(500)), 'unknown'],
    ['502 with HTML', answer(502, '<html>Bad Gateway</html>'), 'unknown'],
  ])('%s', (_, end, kind) => {
    expect(classify(end, '4711', NOW).kind).toBe(kind);
  });

  it.each<[string, HttpEnd, object]>([
    ['a status in refuse', answer(500, refusal(7)), { kind: 'refused' }],
    ['a status in retry', answer(423, refusal(7)), { kind: 'busy', everyone: false, counts: true }],
    [
      'a status in retry that is final elsewhere',
      answer(409, refusal(409), { 'retry-after': '7' }),
      { kind: 'busy', counts: true, retryAfter: 7000 },
    ],
    [
      'a status in retry, also with the error code 400',
      answer(423, refusal(400)),
      { kind: 'busy' },
    ],
    ['a status in retry, and success', answer(423, SUCCESS), { kind: 'unknown' }],
    ['a status in refuse without an envelope', answer(500, '<html>'), { kind: 'unknown' }],
    ['a status in retry without an envelope', answer(423, ''), { kind: 'unknown' }],
    ['a status in neither', answer(501, refusal(501)), { kind: 'unknown' }],
  ])('of an API that declares its statuses: %s', (_, end, seen) => {
    const statuses = { refuse: [500], retry: [409, 423] };
    expect(classify(end, '4711', NOW, { statuses })).toMatchObject(seen);
  });

  it('decides by the answer as it is, and hides secrets in its words before they are cut', () => {
    const hide = (text: string) => text.replaceAll('4711', '[redacted]');
    expect(classify(answer(201, SUCCESS), '4711', NOW, { hide })).toEqual({ kind: 'accepted' });
    const message = `${'x'.repeat(998)}4711`;
    const no = { status: 'error', error: { code: 4711, message } };
    const seen = classify(answer(409, no), '4711', NOW, { hide });
    expect(seen).toMatchObject({
      said: { code: '[redacted]', message: expect.stringMatching(/x\[r$/) },
    });
    expect(JSON.stringify(seen)).not.toContain('4711');
    const other = { ...SUCCESS, data: { purchaseOrderNumber: 'PO 4711' } };
    expect(JSON.stringify(classify(answer(201, other), '1', NOW, { hide }))).not.toContain('4711');
  });

  it("keeps the API's own words for the report", () => {
    expect(classify(answer(400, refusal(400)), '4711', NOW)).toMatchObject({
      said: { httpStatus: 400, code: '400', message: 'quantity is invalid' },
    });
  });

  it.each([
    [new PoSyncError('no-answer', LATE), LATE],
    [new Error('socket hang up'), 'no complete answer: socket hang up'],
  ])('says once that there was no complete answer: %s', (error, message) => {
    expect(classify({ kind: 'broken', error }, '4711', NOW)).toMatchObject({
      said: { message },
    });
  });

  it.each(['po-1a', ' PO-1A', 'PO-1A\u0301'])(
    'a success that names %j instead of PO-1A is final',
    (named) => {
      const seen = classify(
        answer(201, { ...SUCCESS, data: { purchaseOrderNumber: named } }),
        'PO-1A',
        NOW,
      );
      expect(seen).toMatchObject({
        kind: 'misnamed',
        said: { code: 'other-number', httpStatus: 201 },
      });
    },
  );

  it('cuts what the API says and removes control characters', () => {
    const body = {
      status: 'error',
      error: { code: 400, message: `\u001b[2J\u202Eno${'x'.repeat(5000)}` },
    };
    const seen = classify(answer(400, body), '4711', NOW);
    expect(seen.kind === 'refused' && seen.said.message).toMatch(/^\[2J nox{990,}$/);
  });

  it('slows everyone down for 429 and only this order for 503', () => {
    expect(classify(answer(429, '', { 'retry-after': '7' }), '4711', NOW)).toMatchObject({
      everyone: true,
      retryAfter: 7000,
    });
    expect(classify(answer(503, refusal(503)), '4711', NOW)).toMatchObject({ everyone: false });
  });
});

describe('readRetryAfter', () => {
  it.each([
    ['120', 120_000],
    ['0', undefined],
    ['Sat, 21 Nov 2026 07:16:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', undefined],
    ['999999999', 3_600_000],
    ['9999999999', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['soon', undefined],
    ['-5', undefined],
    [undefined, undefined],
  ])('%s', (header, expected) => {
    expect(readRetryAfter(header, NOW)).toBe(expected);
  });
});
