// Every page: it hydrates with a clean console, reads without JavaScript, has no serious fault of accessibility, never
// scrolls sideways, and carries no style attribute.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { before, test } from 'node:test';
import { browser, clean, visit } from '../support/browser.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const open = browser();
const CASE = '/w/demo/d/world-facts/c/apple-services-margin-fy2024';
const pages = {
  home: '/',
  workspace: '/w/demo',
  dataset: '/w/demo/d/world-facts',
  'dataset, nothing found': '/w/demo/d/world-facts?q=nosuchwordanywhere',
  case: CASE,
  'case with a file': '/w/demo/d/world-facts/c/paris-2024-medal-table',
  runs: '/w/demo/runs',
  agents: '/w/demo/agents',
  tokens: '/settings/tokens',
  kit: '/kit',
};

before(async () => {
  const answer = await fetch((process.env.EVALKIT_URL ?? 'http://127.0.0.1:3000') + CASE);
  const html = await answer.text();
  const result = html.match(/\/w\/demo\/runs\/(\d+)\/c\/apple-services-margin-fy2024\?trial=\d+/);
  assert.ok(result, 'the case leads to a result');
  pages.result = result[0];
  pages['result, a rubric selected'] = `${result[0]}&r=R4`;
  pages['result, filtered'] = `${result[0]}&show=not-satisfied`;
  pages.run = `/w/demo/runs/${result[1]}`;
});

test('every page hydrates with a clean console and is accessible', async (t) => {
  for (const [name, path] of Object.entries(pages)) {
    for (const colorScheme of ['light', 'dark']) {
      await t.test(`${name}, ${colorScheme}`, async () => {
        const page = await open({ colorScheme, bypassCSP: true });
        const answer = await visit(page, path);
        assert.equal(answer.status(), 200);
        assert.equal(await page.locator('h1').count(), 1, 'one first heading');
        await page.addScriptTag({ path: AXE });
        const { violations } = await page.evaluate(() =>
          globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
        const serious = violations
          .filter(({ impact }) => ['serious', 'critical'].includes(impact))
          .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
        assert.deepEqual(serious, []);
        clean(page);
        await page.context().close();
      });
    }
  }
});

test('every page keeps to its width', async (t) => {
  for (const [name, path] of Object.entries(pages)) {
    await t.test(name, async () => {
      const page = await open({ viewport: { width: 360, height: 780 } });
      await visit(page, path);
      for (const width of [360, 768, 1280, 2560]) {
        await page.setViewportSize({ width, height: 900 });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${width} px: ${over} px too wide`);
      }
      clean(page);
      await page.context().close();
    });
  }
});

test('every page reads without JavaScript', async (t) => {
  for (const [name, path] of Object.entries(pages)) {
    await t.test(name, async () => {
      const page = await open({ javaScriptEnabled: false });
      const answer = await page.goto(path);
      assert.equal(answer.status(), 200);
      const html = await answer.text();
      assert.ok(!/<[^>]+\sstyle=/.test(html), 'no style attribute');
      assert.ok((await page.locator('h1').first().innerText()).length > 0);
      assert.ok((await page.locator('main').innerText()).length > 80, 'the page has its content');
      clean(page);
      await page.context().close();
    });
  }
});

test('a result answers without JavaScript, by links alone', async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto(pages.result);
  const label = await page.locator('#rubrics li.rub').first().getAttribute('id');
  await page.locator(`#${label} > a`).click();
  await page.waitForURL(new RegExp(`r=${label}`));
  assert.match(await page.locator(`#${label}`).getAttribute('class'), /\bon\b/);
  await page.locator('#steps ol > li > a').nth(1).click();
  await page.waitForURL(/step=/);
  assert.equal(await page.locator('#steps ol > li > a').nth(1).getAttribute('aria-current'), 'true');
  await page.context().close();
});

test('a run that is not there says so, and nothing more', async () => {
  const page = await open();
  const answer = await page.goto('/w/demo/runs/999999');
  assert.equal(answer.status(), 404);
  await page.locator('h1').waitFor();
  await page.context().close();
});
