/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Variables that override the file, and secrets that are never in it. */
export const ENVIRONMENT = 'PO_SYNC_ENVIRONMENT';
export const REDIS_URL = 'PO_SYNC_REDIS_URL';
export const ADMIN_PORT = 'PO_SYNC_ADMIN_PORT';
export const ADMIN_TOKEN = 'PO_SYNC_ADMIN_TOKEN';

/** The prefix of an environment's variables, such as `PO_SYNC_STAGING`; other characters than letters and digits become `_`. */
export function variablePrefix(environment: string): string {
  return `PO_SYNC_${environment.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

/** The value of a variable; undefined when it is not set or empty. */
export function variable(env: Variables, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}
