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
};

/** A certificate authority in a folder that issues certificates by openssl. */
export async function openAuthority(folder: string, name = 'ca') {
  const at = (file: string) => path.join(folder, file);
  const openssl = (...args: string[][]) => run('openssl', args.flat(), { cwd: folder });
  const [caKey, caFile] = [at(`${name}.key`), at(`${name}.pem`)];
  await openssl(
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
    ],
    [
      '-subj',
      `/CN=${name}`,
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-keyout',
      caKey,
      '-out',
      caFile,
    ],
  );
  await writeFile(at(`${name}.index`), '');
  await writeFile(
    at(`${name}.cnf`),
    `[ca]\ndefault_ca = one\n[one]\ndatabase = ${name}.index\nrand_serial = yes\nnew_certs_dir = .\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy\nunique_subject = no\n[any]\ncommonName = supplied\n`,
  );

  return {
    caFile,
    async issue(file: string, { names, from, until, passphrase }: Wish): Promise<Certificate> {
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
          '-addext',
          `subjectAltName=${alternative}`,
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
