import { z } from 'zod';
import { address, line, wait, whole } from './fields.ts';

/** The API's address, without the paths that po-sync adds. */
const baseUrl = address.refine((text) => !/\/purchase-orders$/i.test(text), {
  error: 'must end with the path prefix, such as /api/v1: po-sync adds /purchase-orders itself',
});

/** The authentication host, without the token path. */
const authUrl = address.refine((text) => !/\/oauth2?\/token$/i.test(text), {
  error: 'must be the address before the token path: that path is said by tokenPath',
});

/** One environment of the API (spec part 5, "Environment addresses"). */
export const environmentSchema = z.strictObject({
  protected: z.boolean().prefault(false).describe('Wants --confirm NAME, or PO_SYNC_CONFIRM=NAME, before it sends.'),
  baseUrl: baseUrl.describe('API address with its path prefix. https, or http to this machine.'),
  authUrl: authUrl.describe('Address of the authentication host, without the token path.'),
  tokenPath: z
    .enum(['/oauth2/token', '/oauth/token', 'auto'])
    .prefault('auto')
    .describe('auto tries both and remembers what the environment accepts.'),
  scope: line.exactOptional().describe('Space-separated scope names, such as "read write".'),
  rateLimit: z
    .strictObject({
      max: whole(1, 1_000_000).describe('Most calls in that time.'),
      per: wait(1, 3_600_000).prefault('1s').describe('The time.'),
    })
    .exactOptional()
    .describe('Shared by all daemons.'),
});
