// The whole way of a reader: home, dataset, case, run it again, live progress, result, each rubric explains itself, a step.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, clean, hydrated, visit } from '../support/browser.js';

const open = browser();
const CASE = 'apple-services-margin-fy2024';

test('from home to a verdict that explains itself', async (t) => {
  const page = await open();

  await t.test('home leads to the dataset', async () => {
    await visit(page, '/');
    await page.locator('main a[href="/w/demo"]').first().click();
    await page.locator('main a[href$="/d/world-facts"]').first().click();
    await page.waitForURL('**/d/world-facts*');
    await page.locator('h1', { hasText: 'world-facts' }).waitFor();
    clean(page);
  });

  await t.test('the dataset leads to a case', async () => {
    await page.locator(`main a[href$="/c/${CASE}"]`).first().click();
    await page.waitForURL(`**/c/${CASE}`);
    await page.getByRole('heading', { name: 'What a correct answer contains' }).waitFor();
    for (const heading of ['Facts to find', 'Worked out from them', 'How it should be derived', 'Checks', 'History', 'Versions']) {
      assert.ok(await page.getByRole('heading', { name: heading }).first().isVisible(), heading);
    }
    assert.ok((await page.locator('article li.rub').count()) >= 5, 'every rubric is listed');
    assert.ok((await page.locator('article li.rub .v').count()) >= 5, 'with verdicts beside them');
    clean(page);
  });

  await t.test('the case runs again, and its run is followed to the end', async () => {
    const form = page.locator('main details', { has: page.getByText('Run…', { exact: true }) });
    await form.locator('summary').click();
    await form.locator('select').selectOption({ label: 'demo-hasty' });
    await form.getByRole('button', { name: 'Run this case' }).click();
    await page.waitForURL(/\/runs\/\d+$/);
    await page.getByRole('heading', { level: 1, name: /^Run \d+$/ }).waitFor();
    await page.getByText('finished', { exact: true }).waitFor({ timeout: 30_000 });
    await page.getByText('Every planned trial has ended.').waitFor();
    assert.equal(await page.locator('a.case-cell').count(), 1);
    clean(page);
  });

  await t.test('the run leads to the result of the case', async () => {
    await page.locator('a.case-cell').click();
    await page.waitForURL(new RegExp(`/runs/\\d+/c/${CASE}`));
    await page.locator('section[aria-label="Verdict"]').waitFor();
    assert.ok(await page.getByText('Who acts next').isVisible());
    clean(page);
  });
  await page.context().close();
});

/** The address of the recorded red result, found in the history of its case: the run of the whole dataset. */
async function redResult(page) {
  await visit(page, '/w/demo/d/world-facts/c/' + CASE);
  return page.locator('#h a[href*="/runs/"]', { hasText: /demo-hasty, .*: red/ }).first().getAttribute('href');
}

test('each rubric of a red result explains itself, and lights its evidence', async () => {
  const page = await open();
  await visit(page, await redResult(page));
  const rubrics = page.locator('#rubrics li.rub');
  const count = await rubrics.count();
  assert.ok(count >= 5);
  for (let index = 0; index < count; index += 1) {
    const rubric = rubrics.nth(index);
    const text = await rubric.innerText();
    assert.match(text, /satisfied|incorrect|absent|unscored/, `R${index + 1} has a verdict`);
    assert.match(text, /Judge: |No verdict: |credited|expected|No evidence/, `R${index + 1} says why`);
    if (/incorrect/.test(text)) assert.match(text, /Said instead|expected/, `R${index + 1} says what was said instead`);
  }
  // Every passage has its rubric, and pointing at either lights the other.
  const passage = page.locator('mark.ev[data-r]').first();
  const label = await passage.getAttribute('data-r');
  await page.locator(`#${label}`).hover();
  assert.match(await passage.getAttribute('class'), /\bon\b/);
  await page.mouse.move(0, 0);
  await passage.hover();
  assert.match(await page.locator(`#${label}`).getAttribute('class'), /\bon\b/);
  // A click selects; the selection is in the address and survives a reload.
  await passage.click();
  await page.waitForURL(new RegExp(`[?&]r=${label}\\b`));
  await page.reload();
  await hydrated(page);
  await page.mouse.move(0, 0);
  assert.match(await page.locator(`#${label}`).getAttribute('class'), /\bon\b/);
  assert.match(await page.locator(`mark.ev[data-r="${label}"]`).first().getAttribute('class'), /\bon\b/);
  // The filter is in the address too.
  await page.getByRole('navigation', { name: 'Filter rubrics' }).getByRole('link', { name: /Not satisfied/ }).click();
  await page.waitForURL(/show=not-satisfied/);
  assert.ok((await page.locator('#rubrics li.rub:visible').count()) < count);
  clean(page);
  await page.context().close();
});

test('a step opens by its link, by a key, and is found by a word', async () => {
  const page = await open();
  await visit(page, await redResult(page));
  const rows = page.locator('#steps ol > li > a');
  const count = await rows.count();
  assert.ok(count >= 3);
  const second = rows.nth(1);
  const address = (await second.locator('.id').first().innerText()).trim();
  await second.click();
  await page.waitForURL(/[?&]step=/);
  await page.locator('#steps h3', { hasText: address }).waitFor();
  assert.equal(await second.getAttribute('aria-current'), 'true');
  await second.focus();
  await page.keyboard.press('j');
  const third = (await rows.nth(2).locator('.id').first().innerText()).trim();
  await page.locator('#steps h3', { hasText: third }).waitFor();
  // A citation of a checkpoint jumps to its step.
  const cite = page.locator('#trajectory li[id^="T"] a.id').first();
  if (await cite.count()) {
    const cited = (await cite.innerText()).trim();
    await cite.click();
    await page.locator('#steps h3', { hasText: cited }).waitFor();
  }
  await page.getByRole('searchbox', { name: 'Search steps' }).fill('nosuchwordanywhere');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByText('No step fits').waitFor();
  clean(page);
  await page.context().close();
});

test('J and K lead to the next and the previous case of the run', async () => {
  const page = await open();
  await visit(page, await redResult(page));
  const href = await page.locator('a[data-key="j"]').getAttribute('href');
  const next = href.split('/c/')[1];
  const shown = (id) => page.locator('nav[aria-label="Breadcrumb"] .id', { hasText: new RegExp(`^${id}$`) }).waitFor();
  await page.keyboard.press('j');
  await page.waitForURL(`**${href}`);
  await shown(next);
  await page.keyboard.press('k');
  await page.waitForURL(new RegExp(`/c/${CASE}`));
  await shown(CASE);
  clean(page);
  await page.context().close();
});

test('on a phone, the menu leads to every place', async () => {
  const page = await open({ viewport: { width: 390, height: 844 } });
  for (const [place, address] of [['Datasets', '/w/demo'], ['Runs', '/w/demo/runs'], ['Agents', '/w/demo/agents']]) {
    await visit(page, '/');
    await page.locator('details.menu summary', { hasText: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Main, narrow' }).getByRole('link', { name: place }).click();
    await page.waitForURL(`**${address}`);
  }
  clean(page);
  await page.context().close();
});
