// The script of the status page: takes in what changed, and leaves all else alone, so that focus and selection stay.

export const SCRIPT = `
(() => {
  const live = document.getElementById('live');
  const span = (ms) => { const s = Math.max(0, Math.floor(ms / 1000)); if (s < 60) return s + 's'; const m = Math.floor(s / 60); if (m < 60) return m + 'm ' + String(s % 60).padStart(2, '0') + 's'; const h = Math.floor(m / 60); if (h < 48) return h + 'h ' + String(m % 60).padStart(2, '0') + 'm'; return Math.floor(h / 24) + 'd ' + (h % 24) + 'h'; };
  let skew = Date.parse(document.body.dataset.now) - Date.now();
  const tick = () => { for (const time of document.querySelectorAll('time[data-since]')) { const text = span(Date.now() + skew - Date.parse(time.dateTime)); if (time.textContent !== text) time.textContent = text; } for (const time of document.querySelectorAll('time[data-until]')) { const text = span(Date.parse(time.dateTime) - Date.now() - skew); if (time.textContent !== text) time.textContent = text; } };
  setInterval(tick, 1000);
  const refocus = (focused) => { if (!focused || focused.isConnected) return; const again = document.getElementById(focused.closest('[id]')?.id); (again?.matches('a,button') ? again : again?.querySelector('a,button'))?.focus(); };
  // An element of a list stands before all of a lower order.
  const place = (element) => {
    const old = document.getElementById(element.id);
    const list = document.getElementById(element.dataset.into);
    if (!list || (old && old.dataset.row === element.dataset.row && old.parentElement === list)) return;
    const focused = old?.contains(document.activeElement) ? document.activeElement : null;
    old?.remove();
    list.insertBefore(element, [...list.children].find((one) => Number(one.dataset.order) < Number(element.dataset.order)) ?? null);
    refocus(focused);
  };
  const fill = (id, markup) => { const part = document.getElementById(id); if (!part || part.dataset.markup === markup) return; part.dataset.markup = markup; part.innerHTML = markup; };
  const put = (id, markup) => {
    const holder = document.createElement('template');
    holder.innerHTML = markup;
    const element = holder.content.firstElementChild;
    if (element?.dataset.into) place(element); else fill(id, markup);
  };
  const show = () => {
    for (const list of document.querySelectorAll('main > table > tbody, main > details > table > tbody')) { const table = list.closest('table'); table.hidden = list.rows.length === 0; table.nextElementSibling.hidden = !table.hidden; }
    for (const fold of document.querySelectorAll('main > details')) fold.hidden = fold.querySelector('table').hidden;
    tick();
  };
  // What is too long for an event is taken from the page itself.
  const load = async (ids) => {
    const answer = await fetch('/', { headers: { accept: 'text/html' } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const id of ids) { const element = fresh.getElementById(id); if (element?.dataset.into) place(document.adoptNode(element)); else if (element) fill(id, element.innerHTML); }
    show();
  };
  const lost = () => { live.textContent = 'not connected'; live.dataset.state = 'off'; };
  // A snapshot may come in several events: what none of them holds is gone.
  let unseen = new Set();
  const take = (event) => {
    const { now, set, removed, fetch: long, last } = JSON.parse(event.data);
    skew = Date.parse(now) - Date.now();
    if (event.type === 'snapshot') unseen = new Set([...document.querySelectorAll('[data-into]')].map((one) => one.id));
    for (const [id, markup] of Object.entries(set)) { put(id, markup); unseen.delete(id); }
    for (const id of long) unseen.delete(id);
    for (const id of removed) document.getElementById(id)?.remove();
    if (last) { for (const id of unseen) document.getElementById(id)?.remove(); unseen = new Set(); }
    show();
    live.textContent = 'live';
    live.dataset.state = 'on';
    if (long.length > 0) load(long).catch(lost);
  };
  if (document.body.dataset.live === 'yes') {
    const source = new EventSource('/api/v1/events?view=page');
    source.addEventListener('snapshot', take);
    source.addEventListener('change', take);
    source.addEventListener('error', lost);
  }
  tick();
  const say = (words, ms) => { const said = document.getElementById('said'); said.textContent = words; setTimeout(() => { if (said.textContent === words) said.textContent = ''; }, ms); };
  document.getElementById('refresh').addEventListener('click', async () => { const answer = await fetch('/api/v1/refresh', { method: 'POST' }); say(answer.ok ? 'polling now' : 'refused (' + answer.status + ')', 2000); });
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('button[data-steer]');
    if (!button) return;
    const { steer, issue } = button.dataset;
    const answer = await fetch('/api/v1/issues/' + issue + '/' + steer, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    if (answer.ok) say(steer + ' #' + issue + ': done', 5000); else say((await answer.json()).error.message, 10000);
  });
})();
`;
