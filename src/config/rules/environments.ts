import { isLoopback } from '../address.ts';
import type { Finding } from '../problem.ts';
import type { EnvironmentParts, Readable } from '../readable.ts';
import { type Variables, variablePrefix } from '../variables.ts';
import { type Rule, type Ruling, repeated } from './ruling.ts';

/** Environments never share an address or a variable: what is meant for one must not reach another. */
export const environmentRule: Rule = (parts, { env }) => {
  const problems = [
    ...sharedVariables(parts.environments.map(([name]) => name)),
    ...sharedAddresses(parts.environments, 'baseUrl'),
    ...sharedAddresses(parts.environments, 'authUrl'),
  ];
  const doubts = parts.environments.map(([name, environment]) => doubtsOf(name, environment, env));
  return {
    problems: [...problems, ...doubts.flatMap((ruling) => ruling.problems)],
    warnings: doubts.flatMap((ruling) => ruling.warnings),
  };
};

function sharedVariables(names: readonly string[]): Finding[] {
  return repeated(names, variablePrefix).map(([name, first]) => ({
    path: ['environments', name],
    at: 'key',
    message: `would take its credentials from the same variables as ${first} (${variablePrefix(name)}_…)`,
    hint: 'give it another name',
  }));
}

function sharedAddresses(environments: Readable['environments'], key: 'baseUrl' | 'authUrl'): Finding[] {
  const given = environments.flatMap(([name, { [key]: address }]) =>
    address === undefined ? [] : [{ name, address }],
  );
  return repeated(given, ({ address }) => address).map(([{ name }, first]) => ({
    path: ['environments', name, key],
    message: `is the address of ${first.name}`,
    hint: 'each environment has its own',
  }));
}

function doubtsOf(name: string, { baseUrl, protected: isProtected }: EnvironmentParts, env: Variables): Ruling {
  const path = ['environments', name];
  const ruling: Ruling = { problems: [], warnings: [] };
  if (baseUrl === undefined) return ruling;
  if (!baseUrl.endsWith('/api/v1')) {
    const message = 'does not end with /api/v1, the prefix of every API address (spec part 9)';
    ruling.warnings.push({ path: [...path, 'baseUrl'], message });
  }
  if (/^prod/i.test(name) && !isProtected) {
    const message = 'is not protected';
    const hint = 'protected: true wants --confirm before anything is sent there';
    ruling.warnings.push({ path, at: 'key', message, hint });
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' && !isLoopback(new URL(baseUrl).hostname)) {
    const message = `switches off the check of certificates, also for ${name}`;
    const finding = { path: 'NODE_TLS_REJECT_UNAUTHORIZED', message, hint: 'unset it' };
    (isProtected ? ruling.problems : ruling.warnings).push(finding);
  }
  return ruling;
}
