import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** `npm test` runs on machines that have only Node.js; `.ci/run` installs openssl. */
export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

/** PEM files of a certificate and its key. */
export type Certificate = { cert: string; key: string };

type Wish = {
  /** Host names, or the name of a client. */
  names: string[];
  /** `YYYYMMDDHHMMSSZ`; absent: valid now. */
  from?: string;
  until?: string;
  /** Encrypts the key. */
  passphrase?: string;
  /** The certificate of an authority, which may issue others. */
  isAuthority?: boolean;
};

type Authority = {
  caFile: string;
  issue(file: string, wish: Wish): Promise<Certificate>;
};

const AUTHORITY = ['-addext', 'basicConstraints=critical,CA:TRUE'];

/** A certificate authority in a folder that issues certificates by openssl; without an `issuer` its own is self-signed. */
export async function openAuthority(
  folder: string,
  name = 'ca',
  issuer?: Authority,
): Promise<Authority> {
  const at = (file: string) => path.join(folder, file);
  const openssl = (...args: string[][]) => run('openssl', args.flat(), { cwd: folder });
  const [caKey, caFile] = [at(`${name}.key`), at(`${name}.pem`)];
  if (issuer) await issuer.issue(name, { names: [name], isAuthority: true });
  else
    await openssl(
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ['-days', '2', '-subj', `/CN=${name}`, ...AUTHORITY, '-keyout', caKey, '-out', caFile],
    );
  await writeFile(at(`${name}.index`), '');
  await writeFile(
    at(`${name}.cnf`),
    `[ca]\ndefault_ca = one\n[one]\ndatabase = ${name}.index\nrand_serial = yes\nnew_certs_dir = .\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy\nunique_subject = no\n[any]\ncommonName = supplied\n`,
  );

  return {
    caFile,
    async issue(file, { names, from, until, passphrase, isAuthority }) {
      const [cert, key, request] = [at(`${file}.pem`), at(`${file}.key`), at(`${file}.csr`)];
      const alternative = names
        .map((one) => (/^[\d.]+$/.test(one) ? `IP:${one}` : `DNS:${one}`))
        .join(',');
      const secrecy = passphrase === undefined ? ['-nodes'] : ['-passout', `pass:${passphrase}`];
      await openssl(
        ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...secrecy],
        [
          '-subj',
          `/CN=${names[0]}`,
          ...(isAuthority ? AUTHORITY : ['-addext', `subjectAltName=${alternative}`]),
          '-keyout',
          key,
          '-out',
          request,
        ],
      );
      const dates = from === undefined && until === undefined ? ['-days', '2'] : [];
      const starts = from === undefined ? [] : ['-startdate', from];
      const ends = until === undefined ? [] : ['-enddate', until];
      await openssl(
        [
          'ca',
          '-batch',
          '-notext',
          '-config',
          at(`${name}.cnf`),
          '-cert',
          caFile,
          '-keyfile',
          caKey,
        ],
        ['-in', request, '-out', cert, ...dates, ...starts, ...ends],
      );
      return { cert, key };
    },
  };
}
