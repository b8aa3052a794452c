import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writeExecutable } from '../support/executable.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openWebServer } from '../support/web-server.ts';
import { credentials, openWorkplace } from '../support/workplace.ts';
import { MANIFEST } from './kubernetes-schema.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const FOLDER = path.join(ROOT, 'docs/deploy/kubernetes');

type Container = {
  name: string;
  env?: { name: string; value: string }[];
  volumeMounts: { name: string; mountPath: string }[];
  [probe: `${string}Probe`]: { exec: { command: string[] } };
};
type Document = {
  kind: string;
  metadata: { name: string };
  data: Record<string, string>;
  spec: {
    serviceName: string;
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        containers: [Container];
        initContainers?: [Container & { command: string[] }];
        volumes: { name: string; secret?: { secretName: string } }[];
        terminationGracePeriodSeconds: number;
      };
    };
    volumeClaimTemplates: { metadata: { name: string } }[];
  };
};

async function documentsOf(file: string): Promise<Document[]> {
  const parsed = parseAllDocuments(await readFile(path.join(FOLDER, file), 'utf8'), {
    version: '1.1',
  });
  return parsed.map((one) => {
    expect(one.errors).toEqual([]);
    return one.toJS() as Document;
  });
}

const files = await readdir(FOLDER);
const all = (await Promise.all(files.map(documentsOf))).flat();
const of = (kind: string, name: string) => {
  const found = all.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};

describe('the Kubernetes manifests', () => {
  const validate = new Ajv({ allErrors: true, strict: false }).compile(MANIFEST);

  test.each(all.map((one) => [one.kind, one.metadata.name, one] as const))(
    '%s %s has only keys that exist, with right values',
    (_, __, one) => {
      validate(one);
      expect(validate.errors ?? []).toEqual([]);
    },
  );

  test('a misspelled key is found', () => {
    const wrong = structuredClone(of('StatefulSet', 'po-sync'));
    Object.assign(wrong.spec.template.spec.containers[0], { livenesProbe: {} });
    expect(validate(wrong)).toBe(false);
  });

  test.each(['po-sync', 'redis'])(
    '%s mounts only volumes that it has, and its labels and its service fit',
    (name) => {
      const { spec } = of('StatefulSet', name);
      const { containers, initContainers = [], volumes } = spec.template.spec;
      const known = [...volumes, ...spec.volumeClaimTemplates.map(({ metadata }) => metadata)].map(
        (one) => one.name,
      );
      for (const { volumeMounts } of [...initContainers, ...containers])
        for (const mount of volumeMounts) expect(known).toContain(mount.name);
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
      expect(of('Service', spec.serviceName).spec.selector).toEqual(spec.selector.matchLabels);
    },
  );

  test('no secret is a variable: each comes from a file of the secret that docs/deploy.md creates', async () => {
    const [container] = of('StatefulSet', 'po-sync').spec.template.spec.containers;
    const { name: mounted, mountPath } = container.volumeMounts.find(
      (one) => one.name === 'secrets',
    ) ?? {
      name: '',
      mountPath: '',
    };
    expect(
      of('StatefulSet', 'po-sync').spec.template.spec.volumes.find(({ name }) => name === mounted)
        ?.secret?.secretName,
    ).toBe('po-sync');
    const page = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
    const secrets = (container.env ?? []).filter(({ name }) => name !== 'PO_SYNC_CONFIRM');
    expect(secrets.length).toBeGreaterThan(2);
    for (const { name, value } of secrets) {
      expect(name).toMatch(/^PO_SYNC_\w+_FILE$/);
      expect(path.dirname(value)).toBe(mountPath);
      expect(page).toContain(`--from-file=${path.basename(value)}`);
    }
  });

  test('the configuration is right and stays on the volumes', async () => {
    await using folder = await makeTempFolder();
    const file = path.join(folder.path, 'po-sync.yaml');
    await writeFile(file, of('ConfigMap', 'po-sync').data['po-sync.yaml'] ?? '');
    const { stdout } = await run(path.join(ROOT, 'bin/po-sync'), [
      'config',
      'show',
      '--config',
      file,
      '--json',
    ]);
    const { config } = JSON.parse(stdout);
    const mounts = of('StatefulSet', 'po-sync').spec.template.spec.containers[0].volumeMounts.map(
      (one) => one.mountPath,
    );
    for (const used of [config.data, config.reports.path, config.sources[0].path]) {
      expect(mounts.some((mount) => used === mount || used.startsWith(`${mount}/`))).toBe(true);
    }
    expect(config.redis.url).toBe('redis://redis.po-sync.svc:6379/0');
    // A new claim is empty, and the daemon does not start without its inbox.
    const [first] = of('StatefulSet', 'po-sync').spec.template.spec.initContainers ?? [];
    expect(first?.command).toEqual(['mkdir', '-p', config.sources[0].path]);
  });

  test('the commands of docs/deploy.md set the image in every container and create the secret from files', async () => {
    await using folder = await makeTempFolder();
    const page = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
    const block = /^```sh\n(IMAGE=.*?)^```/ms.exec(page)?.[1] ?? '';
    expect(block).toContain('kubectl apply');
    const bin = path.join(folder.path, 'bin');
    await writeExecutable(path.join(bin, 'docker'), ':');
    await writeExecutable(
      path.join(bin, 'editor'),
      'case $1 in client-*) echo filled >"$1" ;; esac',
      'test -s "$1"',
    );
    await writeExecutable(
      path.join(bin, 'kubectl'),
      'for word; do case $word in --from-file=*) test -s "$(echo "$word" | cut -d= -f2)" || exit 1 ;; *.yaml) test -s "$word" || exit 1 ;; esac; done',
    );
    const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: folder.path };
    await run('sh', ['-ec', block], { cwd: ROOT, env });
    const text = await readFile(path.join(folder.path, 'po-sync-kubernetes/po-sync.yaml'), 'utf8');
    const images = [...text.matchAll(/image: (.*)/g)].map(([, image]) => image);
    expect(images).toEqual(Array(2).fill('registry.example.com/po-sync:0.1.0'));
  });

  test('the probes ask what the daemon answers', async () => {
    await using place = await openWorkplace();
    const { child, ended, out } = place.spawn(['start'], credentials('STAGING'));
    const port = await until('the admin port', () => /"adminPort":(\d+)/.exec(out())?.[1]);
    await using down = await openWebServer((_, response) => response.writeHead(503).end());
    await using locked = await openWebServer((_, response) => response.writeHead(401).end());
    const [container] = of('StatefulSet', 'po-sync').spec.template.spec.containers;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const [, ...args] = container[probe]?.exec.command ?? [];
      const at = (own: string | number) =>
        run(
          process.execPath,
          args.map((arg) => arg.replace('9464', String(own))),
        );
      await expect(at(port)).resolves.toBeDefined();
      await expect(at(down.port)).rejects.toMatchObject({ code: 1 });
      const isAlive = await at(locked.port).then(
        () => true,
        () => false,
      );
      expect({ probe, isAlive }).toEqual({ probe, isAlive: probe !== 'readinessProbe' });
    }
    child.kill('SIGTERM');
    await ended;
  });
});
