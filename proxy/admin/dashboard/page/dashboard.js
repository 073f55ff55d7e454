// The page reads itself again every few seconds, and puts what has changed in place. What the operator fills in, has opened
// or has focused stays as it is.
(() => {
  const every = 3000;
  let heard = Date.now(), pending = 0;

  // touched says whether a form is not as the page came.
  const touched = form => [...form.elements].some(e =>
    e.tagName === 'SELECT' ? [...e.options].some(o => o.selected !== o.defaultSelected) : 'defaultValue' in e && e.value !== e.defaultValue);

  const put = (now, then) => {
    if (now.contains(document.activeElement)) return;
    const opened = [...now.querySelectorAll('details')].map(d => d.open);
    then.querySelectorAll('details').forEach((d, i) => { d.open = opened[i] ?? false; });
    if (now.innerHTML !== then.innerHTML) now.innerHTML = then.innerHTML;
  };

  const rooms = of => [...of.querySelectorAll('section[id]')].map(s => s.id).join('\n');

  const update = page => {
    const forms = [...document.querySelectorAll('[data-form]')];
    if (rooms(document) !== rooms(page) && !forms.some(touched)) return location.reload();
    for (const now of document.querySelectorAll('[data-live], [data-form]')) {
      const then = page.getElementById(now.id);
      if (then && !('form' in now.dataset && touched(now))) put(now, then);
    }
    const at = document.getElementById('at'), next = page.getElementById('at');
    at.dateTime = next.dateTime;
    at.textContent = next.textContent;
  };

  const silent = document.getElementById('silent');
  const tell = () => {
    const seconds = Math.round((Date.now() - heard) / 1000);
    silent.hidden = seconds < 2 * every / 1000 + 2;
    if (!silent.hidden) silent.textContent = `The gate has not answered for ${seconds} seconds: these numbers are old.`;
  };

  const ask = async () => {
    clearTimeout(pending);
    if (document.hidden) return;
    try {
      const answer = await fetch(location.href, {signal: AbortSignal.timeout(10000), cache: 'no-store'});
      if (answer.status === 401) return location.reload();
      if (answer.ok) {
        update(new DOMParser().parseFromString(await answer.text(), 'text/html'));
        heard = Date.now();
      }
    } catch { /* told below */ }
    tell();
    pending = setTimeout(ask, every);
  };

  document.addEventListener('visibilitychange', ask);
  pending = setTimeout(ask, every);
})();
