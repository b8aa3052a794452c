/** Variables of the process, as the shell holds them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Overrides of the file, and what never stands in it. */
export const ENVIRONMENT = 'PO_SYNC_ENVIRONMENT';
export const REDIS_URL = 'PO_SYNC_REDIS_URL';
export const ADMIN_PORT = 'PO_SYNC_ADMIN_PORT';
export const ADMIN_TOKEN = 'PO_SYNC_ADMIN_TOKEN';

/** `PO_SYNC_STAGING`: how the variables of an environment begin; what is no letter or digit becomes `_`. */
export function variablePrefix(environment: string): string {
  return `PO_SYNC_${environment.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

/** The value of a variable; one that is set to nothing counts as not set. */
export function variable(env: Variables, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}
