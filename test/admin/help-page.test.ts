import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createHelpPage, renderDocument } from '../../src/admin/dashboard/help-page.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

it('raw HTML of the document is shown as text, also in a line, a name of a picture and an address', async () => {
  const evil = '<script>alert(1)</script>';
  const text = [
    evil,
    `a ${evil} b`,
    `![" onerror="x ${evil}](report-red.png)`,
    `[x](#"onclick="x)`,
    `## ${evil}`,
  ];
  const { markup } = await renderDocument(text.join('\n\n'));
  expect(markup).not.toMatch(/<script|" on/);
  expect(markup.split('&lt;script&gt;').length).toBeGreaterThan(4);
});

it('links to what the dashboard does not serve are text, and so are other pictures', async () => {
  const text = '[a `b`](reports.md) [c](https://example.com/) [d](#e) ![f](g.png) ![h](toString)';
  expect((await renderDocument(text)).markup.trim()).toBe(
    '<p>a <code>b</code> c <a href="#e">d</a> f h</p>',
  );
});

it('headings have the ids that GitHub gives them', async () => {
  const { markup } = await renderDocument('## The file is neither in `done` nor in `failed`');
  expect(markup).toContain('<h2 id="the-file-is-neither-in-done-nor-in-failed">');
});

it('a document that cannot be read is a page that says so, until it can be', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'for-clerks.md');
  const show = createHelpPage(pathToFileURL(file));
  expect((await show()).body.markup).toMatch(/role="alert">.*cannot be read.*Ask your operator/s);
  await writeFile(file, '# Now');
  expect((await show()).body.markup).toContain('<h1 id="now">Now</h1>');
  await writeFile(file, '# Later');
  expect((await show()).body.markup).toContain('Now');
});
