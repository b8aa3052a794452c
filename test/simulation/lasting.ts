import type { HttpEnd } from '../../src/core/http.ts';
import { answered, broken, PAGE, refusal } from './answers.ts';
import { EPOCH } from './setting.ts';
import type { Weather } from './weather.ts';

/** What the API answers to every order while it lasts. `empty`: it stores the order and says nothing. */
export const LASTING = [
  'forbidden',
  'unauthorized',
  'redirect',
  'page',
  'broken',
  'error',
  'other error',
  'busy at once',
  'busy in the past',
  'busy for long',
  'unavailable at once',
  'empty',
  'same token',
  'no token',
  'token refused',
  'not reached',
] as const;

export type Lasting = (typeof LASTING)[number];

/** The fault that lasts now. */
export function lastingAt(
  { lasting, lastingFrom, lastingUntil }: Weather,
  now: number,
): Lasting | undefined {
  return lasting === 'none' || now < lastingFrom || now > lastingUntil ? undefined : lasting;
}

/** The answer to an order; undefined where the fault is not in the API's answers. */
export function lastingAnswer(lasting: Lasting, now: number): HttpEnd | undefined {
  const retryAfter = (value: string) => refusal(429, 429, { 'retry-after': value });
  switch (lasting) {
    case 'forbidden':
      return refusal(403);
    case 'unauthorized':
      return refusal(401);
    case 'redirect':
      return answered(307, '', { location: 'https://elsewhere.example.com/' });
    case 'page':
      return answered(200, PAGE);
    case 'broken':
      return broken('other side closed');
    case 'error':
      return refusal(500);
    case 'other error':
      return refusal(520, 9_999);
    case 'busy at once':
      return retryAfter('0');
    case 'busy in the past':
      return retryAfter(new Date(EPOCH + now - 86_400_000).toUTCString());
    case 'busy for long':
      return retryAfter('3000');
    case 'unavailable at once':
      return refusal(503, 503, { 'retry-after': '0' });
    case 'empty':
      return answered(201, '');
    case 'same token':
    case 'no token':
    case 'token refused':
    case 'not reached':
      return undefined;
  }
}

/** The answer to a token request; undefined where the fault is elsewhere. */
export function lastingGrant(lasting: Lasting): HttpEnd | undefined {
  switch (lasting) {
    case 'same token':
      return answered(200, { access_token: 'token-0', expires_in: 3600, token_type: 'Bearer' });
    case 'no token':
      return refusal(503);
    case 'token refused':
      return answered(401, { error: 'invalid_client' });
    default:
      return undefined;
  }
}
