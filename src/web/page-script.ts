// The script of the pages: takes in what changed, and leaves all else alone, so that focus and selection stay; search, keys, output.

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
    // A row from beyond that comes onto the page as it was belongs to the page from now on.
    if (old && !element.dataset.beyond) delete old.dataset.beyond;
    if (!list || (old && old.dataset.row === element.dataset.row && old.parentElement === list)) return;
    const focused = old?.contains(document.activeElement) ? document.activeElement : null;
    old?.remove();
    const isLower = (one) => Number(one.dataset.order) < Number(element.dataset.order);
    const end = list.lastElementChild;
    list.insertBefore(element, end && isLower(end) ? [...list.children].find(isLower) : null);
    refocus(focused);
  };
  const fill = (id, markup) => { const part = document.getElementById(id); if (!part || part.dataset.markup === markup) return; part.dataset.markup = markup; const controls = () => [...part.querySelectorAll('a,button')]; const had = document.activeElement; const index = controls().indexOf(had); part.innerHTML = markup; if (index >= 0) (document.getElementById(had.id) ?? controls()[index])?.focus(); };
  const put = (id, markup) => {
    const holder = document.createElement('template');
    holder.innerHTML = markup;
    const element = holder.content.firstElementChild;
    if (element?.dataset.into) place(element); else fill(id, markup);
  };
  const find = document.getElementById('find');
  const wordsIn = () => find ? find.value.trim().toLowerCase().split(/\\s+/).filter(Boolean) : [];
  const texts = new WeakMap();
  // Hides what the search does not find, then tables without a row.
  const show = () => {
    const words = wordsIn();
    let [all, found] = [0, 0];
    for (const one of document.querySelectorAll('[data-into]')) {
      // A row that changes is another element.
      if (words.length > 0 && !texts.has(one)) texts.set(one, [...(one.matches('tr') ? one.querySelectorAll('.own,.tag,.words') : [one])].map((part) => part.textContent).concat(one.dataset.into).join('\\n').toLowerCase());
      const number = '#' + /-(\\d+)/.exec(one.id)?.[1];
      one.hidden = !words.every((word) => /^#\\d+$/.test(word) ? word === number : (number + '\\n' + texts.get(one)).includes(word));
      if (one.matches('tr')) { all += 1; if (!one.hidden) found += 1; }
    }
    for (const list of document.querySelectorAll('main > table > tbody, main > details > table > tbody')) {
      const table = list.closest('table');
      const none = table.nextElementSibling;
      none.dataset.empty ??= none.textContent;
      table.hidden = [...list.rows].every((row) => row.hidden);
      none.hidden = !table.hidden;
      none.textContent = list.rows.length === 0 ? none.dataset.empty : 'No row here is found.';
    }
    for (const fold of document.querySelectorAll('main > details')) {
      fold.hidden = fold.querySelector('tr[data-into]') === null;
      if (words.length > 0) { fold.dataset.was ??= fold.open ? 'open' : ''; fold.open = true; } else if (fold.dataset.was !== undefined) { fold.open = fold.dataset.was === 'open'; delete fold.dataset.was; }
    }
    if (find) { const said = words.length === 0 ? '' : found + ' of ' + all + ' issues'; const part = document.getElementById('found'); if (part.textContent !== said) part.textContent = said; }
    tick();
  };
  const pageAt = async (path) => {
    const answer = await fetch(path, { headers: { accept: 'text/html' } });
    // Its style has another nonce.
    return answer.ok ? new DOMParser().parseFromString((await answer.text()).replace(/<style[^]*?<.style>/, ''), 'text/html') : null;
  };
  // A search also looks at the rows that the page has no room for. No event tells of them: they are read again after a change.
  let reading = 0;
  let due;
  const readSoon = (ms) => setTimeout(() => readBeyond().catch(lost), ms);
  const readBeyond = async () => {
    due = undefined;
    const mine = ++reading;
    const fresh = new Set();
    if (wordsIn().length > 0) for (const first of document.querySelectorAll('p[id^=more-] a')) for (let path = first.getAttribute('href'); path; ) {
      const more = await pageAt(path + '&limit=1000');
      if (mine !== reading || !more) return;
      path = more.querySelector('p[id^=more-] a')?.getAttribute('href');
      for (const row of more.querySelectorAll('tr[data-into]')) {
        const known = document.getElementById(row.id);
        if (known && !known.dataset.beyond) continue;
        fresh.add(row.id);
        row.dataset.beyond = 'yes';
        place(document.adoptNode(row));
      }
    }
    for (const row of document.querySelectorAll('[data-beyond]')) if (!fresh.has(row.id)) row.remove();
    show();
  };
  // What is too long for an event is taken from the page itself.
  const load = async (ids) => {
    const fresh = await pageAt(location.pathname);
    for (const id of fresh ? ids : []) { const element = fresh.getElementById(id); if (element?.dataset.into) place(document.adoptNode(element)); else if (element) fill(id, element.innerHTML); }
    show();
  };
  const lost = () => { live.textContent = 'not connected'; live.dataset.state = 'off'; };
  // The output of the last attempt. What is there to read, an event tells.
  const output = document.getElementById('output');
  const follow = document.getElementById('follow');
  let [follows, hears] = [true, false];
  const hear = async () => {
    const at = document.getElementById('output-at')?.textContent;
    if (follow) follow.hidden = !at;
    if (!at || !follows || hears) return;
    const [of, end] = at.split(' ');
    const isSame = of === output.dataset.name;
    // It may have more than the event tells of: the file has grown between the two.
    if (isSame && Number(end) <= Number(output.dataset.to)) return;
    hears = true;
    try {
      const from = isSame ? Number(output.dataset.to) : 0;
      const answer = await fetch('/api/v1' + location.pathname + '/output?of=' + of + '&from=' + from);
      if (!answer.ok) return;
      const fresh = await answer.text();
      if (isSame && fresh === '') return;
      const isAtEnd = output.scrollTop + output.clientHeight > output.scrollHeight - 40;
      const skipped = Number(answer.headers.get('x-output-from')) > from ? '[earlier output is left out]\\n' : '';
      const text = (isSame ? output.textContent : '') + skipped + fresh;
      output.textContent = text.length > 200000 ? '[earlier output is left out]\\n' + text.slice(-150000) : text;
      Object.assign(output.dataset, { name: of, to: answer.headers.get('x-output-to') });
      if (isAtEnd) output.scrollTop = output.scrollHeight;
    } finally { hears = false; }
    return hear();
  };
  if (follow) {
    output.scrollTop = output.scrollHeight;
    follow.addEventListener('click', () => { follows = !follows; follow.textContent = follows ? 'Stop following' : 'Follow'; if (follows) { output.scrollTop = output.scrollHeight; hear().catch(lost); } });
  }
  // A snapshot may come in several events: what none of them holds is gone.
  let unseen = new Set();
  const take = (event) => {
    const { now, set, removed, fetch: long, last } = JSON.parse(event.data);
    skew = Date.parse(now) - Date.now();
    if (event.type === 'snapshot') unseen = new Set([...document.querySelectorAll('[data-into]:not([data-beyond])')].map((one) => one.id));
    for (const [id, markup] of Object.entries(set)) { put(id, markup); unseen.delete(id); }
    for (const id of long) unseen.delete(id);
    for (const id of removed) document.getElementById(id)?.remove();
    if (last) { for (const id of unseen) document.getElementById(id)?.remove(); unseen = new Set(); }
    show();
    if (live.textContent !== 'live') live.textContent = 'live';
    live.dataset.state = 'on';
    if (long.length > 0) load(long).catch(lost);
    if (wordsIn().length > 0) due ??= readSoon(5000);
    hear().catch(lost);
  };
  if (find) {
    const search = () => {
      const to = new URL(location.href);
      if (find.value.trim() === '') to.searchParams.delete('q'); else to.searchParams.set('q', find.value.trim());
      history.replaceState(null, '', to);
      show();
      clearTimeout(due);
      due = readSoon(300);
    };
    find.parentElement.hidden = false;
    find.value = new URL(location.href).searchParams.get('q') ?? '';
    if (find.value !== '') search();
    find.addEventListener('input', search);
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape' && (event.target === find || find.value !== '')) { if (find.value === '') find.blur(); find.value = ''; search(); }
      if (event.target.matches('input')) return;
      if (event.key === '/') { event.preventDefault(); find.focus(); }
      if (event.key !== 'j' && event.key !== 'k') return;
      const links = [...document.querySelectorAll('a.own')].filter((one) => one.offsetParent !== null);
      const now = links.findIndex((one) => one.closest('tr').contains(document.activeElement));
      links[event.key === 'j' ? Math.min(now + 1, links.length - 1) : Math.max(now - 1, 0)]?.focus();
    });
  }
  if (document.body.dataset.live) {
    let source;
    let again;
    const open = () => {
      source = new EventSource(document.body.dataset.live);
      source.addEventListener('snapshot', take);
      source.addEventListener('change', take);
      source.addEventListener('error', () => { lost(); if (source.readyState === 2) again = setTimeout(reopen, 5000); });
    };
    // After an answer that is no stream the browser does not try again by itself.
    const reopen = async () => {
      const { status } = await fetch(location.href, { method: 'HEAD' }).catch(() => ({ status: 0 }));
      if (status === 401) location.reload();
      else if (source.readyState === 2 && !document.hidden) open();
    };
    // A browser keeps few connections to a host: only the page that is looked at has one.
    document.addEventListener('visibilitychange', () => {
      clearTimeout(again);
      if (document.hidden) { source?.close(); lost(); } else if (!source || source.readyState === 2) open();
    });
    if (!document.hidden) open();
  }
  tick();
  const say = (words, ms) => { const said = document.getElementById('said'); said.textContent = words; setTimeout(() => { if (said.textContent === words) said.textContent = ''; }, ms); };
  document.getElementById('refresh')?.addEventListener('click', async () => { const answer = await fetch('/api/v1/refresh', { method: 'POST' }); say(answer.ok ? 'polling now' : 'refused (' + answer.status + ')', 2000); });
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('button[data-steer]');
    if (!button) return;
    const { steer, at, name } = button.dataset;
    const answer = await fetch('/api/v1' + at + '/' + steer, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    if (answer.ok) say(steer + ' ' + name + ': done', 5000); else say((await answer.json()).error.message, 10000);
  });
})();
`;
