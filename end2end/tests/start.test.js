// The first page: it answers, it becomes interactive, and it reads without WebAssembly as well.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, clean, visit } from '../support/browser.js';

const open = browser();

test('the first page hydrates with a clean console', async () => {
  const page = await open();
  const answer = await visit(page, '/');
  assert.equal(answer.status(), 200);
  assert.ok(await page.locator('h1').first().isVisible());
  await page.context().close();
});

test('the first page reads without JavaScript', async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto('/');
  assert.ok((await page.locator('h1').first().innerText()).length > 0);
  clean(page);
  await page.context().close();
});

test('the stylesheet is served under a hashed name and for ever', async () => {
  const page = await open();
  const answer = page.waitForResponse((response) => /\/assets\/app-[0-9a-f]{12}\.css$/.test(response.url()));
  await page.goto('/');
  const headers = (await answer).headers();
  assert.match(headers['content-type'], /^text\/css/);
  assert.match(headers['cache-control'], /immutable/);
  await page.context().close();
});
