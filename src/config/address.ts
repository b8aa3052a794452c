/** Whether a host name or IP address, with or without brackets, can only be this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name);
}

/**
 * What is wrong with a web address that po-sync calls, as the end of a sentence; undefined when it is valid: https, or
 * http to this machine, without credentials and fragment, with a query only if `query` allows it.
 * Never repeats the address, which can contain a secret.
 */
export function addressFault(text: string, { query = false } = {}): string | undefined {
  const url = URL.canParse(text) && !/[\s\\]/.test(text) ? new URL(text) : undefined;
  if (!url || !/^https?:\/\//i.test(text)) return 'must be a complete address, such as https://api.example.com/api/v1';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials (the part before @)';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must begin with https:// (http:// only to this machine: 127.0.0.1, ::1, localhost)';
  }
  if (!query && text.includes('?')) return 'must not have a query (the part from ? on)';
  if (text.includes('#')) return 'must not have a fragment (the part from # on)';
  return undefined;
}

/** Normalizes an address: host in lower case, no default port, no trailing slash. */
export function normalAddress(text: string): string {
  return new URL(text).href.replace(/\/+$/, '');
}
