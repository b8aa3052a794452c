import { formatDuration, HTTPS_ONLY, isLoopback, isPlainHttp } from '../fields.ts';
import type { Finding } from '../problem.ts';
import { ADMIN_TOKENS, REDIS_URL, type Variables, variable, variablePrefix } from '../variables.ts';
import type { EnvironmentParts, Readable } from './ruling.ts';
import { type Rule, type Ruling, repeated } from './ruling.ts';

/** Environments never share an address or a variable, so that nothing meant for one reaches another. */
export const environmentRule: Rule = (parts, { env }) => {
  const problems = [
    ...sharedVariables(parts.environments.map(([name]) => name)),
    ...sharedAddresses(parts.environments, 'baseUrl'),
    ...sharedAddresses(parts.environments, 'authUrl'),
  ];
  const doubts = parts.environments.map(([name, environment]) => doubtsOf(name, environment, env));
  return {
    problems: [
      ...problems,
      ...parts.environments.flatMap(([name, environment]) => plainAddresses(name, environment)),
      ...parts.environments.flatMap(([name, environment]) => repeatedHeaders(name, environment)),
      ...doubts.flatMap((ruling) => ruling.problems),
    ],
    warnings: doubts.flatMap((ruling) => ruling.warnings),
  };
};

function sharedVariables(names: readonly string[]): Finding[] {
  return repeated(names, variablePrefix).map(([name, first]) => ({
    path: ['environments', name],
    at: 'key',
    message: `would read its credentials from the same variables as ${first} (${variablePrefix(name)}_…)`,
    hint: 'give it another name',
  }));
}

function sharedAddresses(
  environments: Readable['environments'],
  key: 'baseUrl' | 'authUrl',
): Finding[] {
  const given = environments.flatMap(([name, { [key]: address }]) =>
    address === undefined ? [] : [{ name, address }],
  );
  return repeated(given, ({ address }) => address).map(([{ name }, first]) => ({
    path: ['environments', name, key],
    message: `is the address of ${first.name}`,
    hint: 'each environment needs its own',
  }));
}

/** An address that is http to another machine without `plainHttp`, or although the environment is protected. */
function plainAddresses(name: string, environment: EnvironmentParts): Finding[] {
  const hint = 'for the sandbox on another host, set plainHttp: true';
  const found = (['baseUrl', 'authUrl'] as const).filter((key) =>
    isPlainHttp(environment[key] ?? 'https://none'),
  );
  if (environment.plainHttp && environment.protected) {
    return found.map((key) => ({
      path: ['environments', name, key],
      message: HTTPS_ONLY,
      hint: 'it is protected',
    }));
  }
  if (environment.plainHttp) return [];
  return found.map((key) => ({ path: ['environments', name, key], message: HTTPS_ONLY, hint }));
}

/** The case of a name means nothing: both would be sent. */
function repeatedHeaders(
  name: string,
  { headers = {}, idempotencyKey: key }: EnvironmentParts,
): Finding[] {
  const all = [...(key ? [key.header] : []), ...Object.keys(headers)];
  return repeated(all, (header) => header.toLowerCase()).map(([header, first]) => ({
    path: ['environments', name, 'headers', header],
    at: 'key',
    message: `is the header ${first} again`,
  }));
}

function doubtsOf(
  name: string,
  { baseUrl, protected: isProtected }: EnvironmentParts,
  env: Variables,
): Ruling {
  const path = ['environments', name];
  const ruling: Ruling = { problems: [], warnings: [] };
  if (baseUrl === undefined) return ruling;
  if (!hasApiPrefix(baseUrl)) {
    ruling.warnings.push({ path: [...path, 'baseUrl'], message: NO_API_PREFIX });
  }
  if (/^prod/i.test(name) && !isProtected) {
    const message = 'is not protected';
    const hint = 'protected: true requires --confirm before anything is sent there';
    ruling.warnings.push({ path, at: 'key', message, hint });
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' && !isLoopback(new URL(baseUrl).hostname)) {
    const message = `disables certificate checks, also for ${name}`;
    const finding = { path: 'NODE_TLS_REJECT_UNAUTHORIZED', message, hint: 'unset it' };
    (isProtected ? ruling.problems : ruling.warnings).push(finding);
  }
  return ruling;
}

/** Whether an address has the path that every API address has. */
export function hasApiPrefix(baseUrl: string): boolean {
  return baseUrl.endsWith('/api/v1');
}

export const NO_API_PREFIX =
  'does not end with /api/v1, the prefix of every API address (API part 9)';

/** Below this, an API elsewhere can still be processing a call that has timed out here. Milliseconds. */
const SHORT_SETTLE = 10_000;

/** The settle time suits an API on another machine, and a key outlives an attempt. */
export const deliveryRule: Rule = ({ delivery, environments }) => {
  if (delivery === undefined) return { problems: [], warnings: [] };
  const remote = environments.some(
    ([, { baseUrl }]) => baseUrl !== undefined && !isLoopback(new URL(baseUrl).hostname),
  );
  const short: Finding = {
    path: ['delivery', 'settle'],
    message: `${formatDuration(delivery.settle)} is short: an order that the API stores later than that can be sent twice`,
  };
  return {
    problems: environments.flatMap(([name, environment]) =>
      shortLived(name, environment, delivery),
    ),
    warnings: remote && delivery.settle < SHORT_SETTLE ? [short] : [],
  };
};

/** A key that the API forgets before an attempt has certainly ended is never used a second time. */
function shortLived(
  name: string,
  { idempotencyKey: key }: EnvironmentParts,
  { timeout, settle }: NonNullable<Readable['delivery']>,
): Finding[] {
  if (key === undefined || key.valid > timeout + settle) return [];
  const message = `${formatDuration(key.valid)} is not longer than delivery.timeout and delivery.settle together, so that no order is sent again with its key`;
  return [{ path: ['environments', name, 'idempotencyKey', 'valid'], message }];
}

/** What others can reach or read: the admin port, and the password of Redis. */
export const exposureRule: Rule = ({ admin, redis }, { env }) => ({
  problems: openAdmin(admin, env),
  warnings: redisDoubts(redis, env),
});

function openAdmin(admin: Readable['admin'], env: Variables): Finding[] {
  if (admin === undefined || isLoopback(admin.host)) return [];
  const names = Object.values(ADMIN_TOKENS).flatMap((name) => [name, `${name}_FILE`]);
  if (names.some((name) => variable(env, name) !== undefined)) return [];
  const message = `${admin.host} can be reached from other machines and needs a token`;
  return [
    { path: ['admin', 'host'], message, hint: `set ${ADMIN_TOKENS.operate}, or use 127.0.0.1` },
  ];
}

function redisDoubts(redis: Readable['redis'], env: Variables): Finding[] {
  if (redis?.url === undefined || variable(env, REDIS_URL) !== undefined) return [];
  const hint = `set ${REDIS_URL} instead`;
  return new URL(redis.url).password === ''
    ? []
    : [{ path: ['redis', 'url'], message: 'contains a password', hint }];
}
