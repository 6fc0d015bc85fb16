// Pages in chunks: each page brings its own code, named by the document itself, and a page whose code does not come still reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, clean, hydrated, visit } from '../support/browser.js';

const open = browser();
const CASE = '/w/demo/d/world-facts/c/apple-services-margin-fy2024';

/** The modules that a page loads while `then` runs. */
async function modules(page, then) {
  const seen = [];
  const note = (request) => {
    if (request.url().endsWith('.wasm')) seen.push(new URL(request.url()).pathname);
  };
  page.on('request', note);
  await then();
  page.off('request', note);
  return seen;
}

test('the document names every module of its page, and each is fetched once', async () => {
  for (const path of ['/', CASE, '/w/demo/agents']) {
    const page = await open();
    const seen = await modules(page, () => visit(page, path));
    const named = await page.locator('link[rel=preload][as=fetch]').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    assert.deepEqual([...seen].sort(), [...named].sort(), path);
    assert.ok(named.length > 1, `${path} is in a chunk`);
    await page.context().close();
  }
});

test('a navigation brings the next page’s chunk and not the document', async () => {
  const page = await open();
  await visit(page, '/');
  let documents = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents += 1;
  });
  const seen = await modules(page, async () => {
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click();
    await page.waitForFunction(() => document.title.startsWith('Agents'));
    await page.getByText('demo-hasty').first().waitFor();
  });
  assert.ok(seen.length > 0, 'the chunk came');
  assert.equal(documents, 0, 'nothing else was loaded');
  clean(page);
  await page.context().close();
});

test('a page whose chunk does not come reads as the server sent it, and its links work', async () => {
  const page = await open();
  await page.route(/\/assets\/split_browse-[0-9a-f]+\.wasm$/, (route) => route.abort());
  await page.goto(CASE);
  await page.waitForTimeout(500);
  assert.ok(await page.getByText('Facts to find').first().isVisible());
  assert.equal(await page.locator('html[data-hydrated]').count(), 0);
  await page.getByRole('link', { name: 'world-facts' }).first().click();
  await page.waitForURL(/\/d\/world-facts$/);
  assert.ok(await page.getByRole('table').first().isVisible());
  await page.context().close();
});

test('a navigation whose chunk does not come loads the whole document', async () => {
  const page = await open();
  await visit(page, '/');
  let blocked = true;
  await page.route(/\/assets\/split_account-[0-9a-f]+\.wasm$/, (route) => (blocked ? route.abort() : route.continue()));
  const loaded = page.waitForRequest((request) => request.isNavigationRequest());
  await page.getByRole('link', { name: 'Agents', exact: true }).first().click();
  blocked = false;
  assert.match((await loaded).url(), /\/agents$/);
  await page.getByText('demo-hasty').first().waitFor();
  await hydrated(page);
  await page.context().close();
});
